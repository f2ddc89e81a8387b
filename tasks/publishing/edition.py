"""The edition page: categories, key statistics, an example and the list of assignments."""

from collections.abc import Iterator, Sequence

import polars as pl

from tasks.metrics.ratios import mean
from tasks.publishing.assignments import make_report_links
from tasks.publishing.material import SiteAssignment, SiteMaterial
from tasks.site.content import AssignmentLink, FigureCell, ReportLink, SiteInfo, SiteTable
from tasks.site.environment import render_page
from tasks.site.folder import SiteFolder
from tasks.site.wording import format_day, format_figure, format_number

SOURCES = {
    "wlc": "imported in the layout of the Wiki Live Challenge",
    "wikipedia": "collected from a wiki",
    "livedrbench": "imported from LiveDRBench (questions)",
    "drgym": "imported from DeepResearchGym (queries)",
    "drb2": "imported from DeepResearch Bench II",
    "rigorous": "imported from Rigorous Bench",
}
SPREADS = ("Words", "Facts", "Page views", "Bytes", "External links")
LENGTHS = """
SELECT a.assignment, len(string_split_regex(trim(r.text), '\\s+')) AS words
FROM assignments AS a JOIN articles AS r USING (edition, article) WHERE a.edition = $1
"""
COLLECTED = """
SELECT created_since, created_until, begun_at, frozen_at, n_members, manifest_sha, api_url
FROM collections WHERE edition = $1
"""
TEASER = 1_200
"""Characters of the example's prompt that are visible before expanding it."""


def write_edition_page(material: SiteMaterial, site: SiteInfo, folder: SiteFolder) -> None:
    links = make_report_links(material)
    articles = [_make_article_link(material, assigned, links.get(name, []))
                for name, assigned in material.assignments.items()]  # fmt: skip
    example = _choose_example(material, links)
    folder.add(
        "edition.html",
        render_page(
            "edition.html",
            site=site,
            here="edition.html",
            about=_describe_edition(material),
            statistics=_make_statistics_table(material),
            categories=_make_category_table(material, articles),
            articles=sorted(articles, key=lambda link: link.title),
            main=material.metric(*material.main) if material.main else None,
            example=example,
            example_reports=links.get(example.assignment, []) if example else [],
            teaser=TEASER,
        ),
    )


def _describe_edition(material: SiteMaterial) -> list[tuple[str, str]]:
    """Return the edition's source and dates as (name, text) pairs."""
    created = sorted(a.created_at for a in material.assignments.values() if a.created_at)
    rows = [
        ("Source", SOURCES.get(material.origin, material.origin)),
        ("Assignments", format_number(len(material.assignments))),
    ]
    if created:
        rows.append(("Articles created", f"{format_day(created[0])} to {format_day(created[-1])}"))
    frame = material.source.frame(COLLECTED, [material.edition])
    for row in frame.iter_rows(named=True):
        rows += [
            ("Window", f"{format_day(row['created_since'])} to {format_day(row['created_until'])}"),
            ("Wiki", row["api_url"]),
            ("Frozen", format_day(row["frozen_at"])),
            ("SHA-256 of the manifest", row["manifest_sha"] or "–"),
        ]
    return rows


def _make_statistics_table(material: SiteMaterial) -> SiteTable:
    """Make a table of quantiles of the articles' lengths, views and links."""
    words = dict(material.source.frame(LENGTHS, [material.edition]).iter_rows())
    of = material.assignments.values()
    columns: Sequence[list[int]] = (
        [n for n in words.values() if n is not None],
        [a.n_facts for a in of if a.n_facts],
        [a.views for a in of if a.views is not None],
        [a.bytes for a in of if a.bytes is not None],
        [a.links for a in of if a.links is not None],
    )
    rows = []
    for name, values in zip(SPREADS, columns, strict=True):
        if values:
            rows.append((name, *_format_quantiles(values), format_number(len(values))))
    heads = ("Per article", "Minimum", "25 %", "Median", "75 %", "Maximum", "Articles")
    return SiteTable(
        caption="Key statistics of the reference articles",
        columns=tuple((head, place > 0) for place, head in enumerate(heads)),
        rows=tuple(rows),
        sortable=False,
    )


def _format_quantiles(values: Sequence[int]) -> Iterator[str]:
    """Yield minimum, quartiles and maximum, rounded."""
    series = pl.Series(values, dtype=pl.Float64)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield format_number(round(series.quantile(share, "linear") or 0.0))


def _make_article_link(
    material: SiteMaterial, assigned: SiteAssignment, links: Sequence[ReportLink]
) -> AssignmentLink:
    values = [link.cell.value for link in links if link.cell.value is not None]
    unit = material.metric(*material.main).unit if material.main else "share"
    return AssignmentLink(
        href=assigned.href,
        title=assigned.title,
        category=assigned.category,
        created_at=assigned.created_at,
        views=assigned.views,
        n_facts=assigned.n_facts,
        n_reports=len(links),
        cell=FigureCell(mean(values), n_reports=len(values), n_items=len(values), unit=unit),
    )


def _make_category_table(material: SiteMaterial, articles: Sequence[AssignmentLink]) -> SiteTable:
    entry = material.metric(*material.main) if material.main else None
    by_category: dict[str, list[AssignmentLink]] = {}
    for link in articles:
        by_category.setdefault(link.category or "no category", []).append(link)
    rows = []
    for name, links in sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0])):
        value = mean(link.cell.value for link in links)
        facts = sum(link.n_facts for link in links)
        rows.append((name, format_number(len(links)), format_number(facts),
                     format_figure(value, entry.unit if entry else "share")))  # fmt: skip
    title = entry.title if entry else "Figure"
    return SiteTable(
        caption=f"Categories. {title}: mean over articles of the means over agents",
        columns=(("Category", False), ("Articles", True), ("Facts", True), (title, True)),
        rows=tuple(rows),
    )


def _choose_example(
    material: SiteMaterial, links: dict[str, list[ReportLink]]
) -> SiteAssignment | None:
    """Choose the assignment with the median mean figure: neither the easiest nor the hardest."""
    means: list[tuple[float, str]] = []
    for name in material.assignments:
        value = mean(link.cell.value for link in links.get(name, []))
        if value is not None:
            means.append((value, name))
    if not means:
        return next(iter(material.assignments.values()), None)
    return material.assignments[sorted(means)[len(means) // 2][1]]

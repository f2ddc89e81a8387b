"""The edition's page: categories, key statistics, one assignment as an example, all of them."""

from collections.abc import Iterator, Sequence

import polars as pl

from tasks.metrics.shares import mean
from tasks.publishing.assignments import report_links
from tasks.publishing.material import Assigned, Material
from tasks.site.content import ArticleLink, Cell, ReportLink, Site, Table
from tasks.site.environment import page
from tasks.site.folder import SiteFolder
from tasks.site.wording import day, figure, number

SOURCES = {
    "wlc": "imported in the layout of the Wiki Live Challenge",
    "wikipedia": "collected from a wiki",
    "livedrbench": "imported: LiveDRBench's questions",
    "drgym": "imported: DeepResearchGym's queries",
    "drb2": "imported: DeepResearch Bench II",
    "rigorous": "imported: Rigorous Bench",
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
"""Characters of the example's prompt that are shown at once."""


def edition_page(material: Material, site: Site, folder: SiteFolder) -> None:
    links = report_links(material)
    articles = [_article(material, assigned, links.get(name, []))
                for name, assigned in material.assignments.items()]  # fmt: skip
    example = _example(material, links)
    folder.add(
        "edition.html",
        page(
            "edition.html",
            site=site,
            here="edition.html",
            about=_about(material),
            statistics=_statistics(material),
            categories=_categories(material, articles),
            articles=sorted(articles, key=lambda link: link.title),
            main=material.metric(*material.main) if material.main else None,
            example=example,
            example_reports=links.get(example.assignment, []) if example else [],
            teaser=TEASER,
        ),
    )


def _about(material: Material) -> list[tuple[str, str]]:
    """Where it comes from and when, in words."""
    created = sorted(a.created_at for a in material.assignments.values() if a.created_at)
    rows = [
        ("Source", SOURCES.get(material.origin, material.origin)),
        ("Assignments", number(len(material.assignments))),
    ]
    if created:
        rows.append(("Articles created", f"{day(created[0])} to {day(created[-1])}"))
    frame = material.source.frame(COLLECTED, [material.edition])
    for row in frame.iter_rows(named=True):
        rows += [
            ("Window", f"{day(row['created_since'])} to {day(row['created_until'])}"),
            ("Wiki", row["api_url"]),
            ("Frozen", day(row["frozen_at"])),
            ("Manifest's sha-256", row["manifest_sha"] or "–"),
        ]
    return rows


def _statistics(material: Material) -> Table:
    """How long, how often read: the middle and the ends of what is known."""
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
            rows.append((name, *_spread(values), number(len(values))))
    heads = ("Of an article", "Least", "Quarter", "Median", "Three quarters", "Most", "Articles")
    return Table(
        caption="Key statistics of the reference articles",
        columns=tuple((head, place > 0) for place, head in enumerate(heads)),
        rows=tuple(rows),
        sortable=False,
    )


def _spread(values: Sequence[int]) -> Iterator[str]:
    """Least, quarter, median, three quarters and most, rounded."""
    series = pl.Series(values, dtype=pl.Float64)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield number(round(series.quantile(share, "linear") or 0.0))


def _article(material: Material, assigned: Assigned, links: Sequence[ReportLink]) -> ArticleLink:
    values = [link.cell.value for link in links if link.cell.value is not None]
    unit = material.metric(*material.main).unit if material.main else "share"
    return ArticleLink(
        href=assigned.href,
        title=assigned.title,
        category=assigned.category,
        created_at=assigned.created_at,
        views=assigned.views,
        n_facts=assigned.n_facts,
        n_reports=len(links),
        cell=Cell(mean(values), n_reports=len(values), n_items=len(values), unit=unit),
    )


def _categories(material: Material, articles: Sequence[ArticleLink]) -> Table:
    entry = material.metric(*material.main) if material.main else None
    by_category: dict[str, list[ArticleLink]] = {}
    for link in articles:
        by_category.setdefault(link.category or "none given", []).append(link)
    rows = []
    for name, links in sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0])):
        value = mean(link.cell.value for link in links)
        facts = sum(link.n_facts for link in links)
        rows.append((name, number(len(links)), number(facts),
                     figure(value, entry.unit if entry else "share")))  # fmt: skip
    title = entry.title if entry else "Figure"
    return Table(
        caption=f"Categories; {title.lower()} is the mean over articles of the means over agents",
        columns=(("Category", False), ("Articles", True), ("Facts", True), (title, True)),
        rows=tuple(rows),
    )


def _example(material: Material, links: dict[str, list[ReportLink]]) -> Assigned | None:
    """The assignment whose mean figure is the median one: neither the easiest nor the hardest."""
    means: list[tuple[float, str]] = []
    for name in material.assignments:
        value = mean(link.cell.value for link in links.get(name, []))
        if value is not None:
            means.append((value, name))
    if not means:
        return next(iter(material.assignments.values()), None)
    return material.assignments[sorted(means)[len(means) // 2][1]]

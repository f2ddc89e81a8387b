"""The edition page: categories, key statistics, an example and the list of assignments."""

from collections.abc import Iterator, Sequence

import polars as pl

from tasks.metrics.ratios import mean
from tasks.publishing.material import SiteAssignment, SiteMaterial
from tasks.site.content import FigureCell, SiteTable
from tasks.site.environment import SitePages
from tasks.site.wording import format_day, format_figure, format_number

SOURCES = {
    "wlc": "imported in the layout of the Wiki Live Challenge",
    "wikipedia": "collected from a wiki",
    "livedrbench": "imported from LiveDRBench (questions)",
    "drgym": "imported from DeepResearchGym (queries)",
    "drb2": "imported from DeepResearch Bench II",
    "rigorous": "imported from Rigorous Bench",
}
LENGTHS = """
SELECT a.assignment, len(string_split_regex(trim(r.text), '\\s+')) AS words
FROM assignments AS a JOIN articles AS r USING (edition, article) WHERE a.edition = $1
"""
COLLECTED = """
SELECT created_since, created_until, frozen_at, manifest_sha, api_url,
    (SELECT count(*) FROM candidate_ranking AS r
        WHERE r.edition = $1 AND r.decision = 'chosen' AND r.is_leftover) AS leftovers
FROM collections WHERE edition = $1
"""
SHARED = """
SELECT other, count(*) FROM shared_articles WHERE edition = $1 GROUP BY ALL ORDER BY ALL
"""
TEASER = 1_200
"""Characters of the example's prompt that are visible before expanding it."""
ListedAssignment = tuple[SiteAssignment, int, FigureCell]
"""An assignment, its number of reports, and the mean of the main metric over them."""


def write_edition_page(material: SiteMaterial, pages: SitePages) -> None:
    listed = [_summarize_reports(material, each) for each in material.assignments.values()]
    example = _choose_example(listed)
    pages.add(
        "edition.html",
        about=_describe_edition(material),
        statistics=_make_statistics_table(material),
        categories=_make_category_table(material, listed),
        articles=sorted(listed, key=lambda one: one[0].title),
        main=material.main_metric if material.main else None,
        example=example,
        example_reports=material.report_links[example.assignment] if example else [],
        teaser=TEASER,
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
            ("Articles older than the last edition", format_number(row["leftovers"])),
        ]
    shared = material.source.frame(SHARED, [material.edition]).rows()
    if shared:
        named = ", ".join(f"{other} ({format_number(n)})" for other, n in shared)
        rows.append(("Articles that other editions have, too", named))
    return rows


def _make_statistics_table(material: SiteMaterial) -> SiteTable:
    """Make a table of quantiles of the articles' lengths, views and links."""
    words = dict(material.source.frame(LENGTHS, [material.edition]).iter_rows())
    of = material.assignments.values()
    spreads = {
        "Words": words.values(),
        "Facts": [a.n_facts or None for a in of],
        "Page views": [a.views for a in of],
        "Bytes": [a.bytes for a in of],
        "External links": [a.links for a in of],
    }
    rows = []
    for name, values in spreads.items():
        if known := [value for value in values if value is not None]:
            rows.append((name, *_format_quantiles(known), format_number(len(known))))
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


def _summarize_reports(material: SiteMaterial, assigned: SiteAssignment) -> ListedAssignment:
    links = material.report_links[assigned.assignment]
    value = mean(link.cell.value for link in links)
    return assigned, len(links), FigureCell(value, unit=material.main_metric.unit)


def _make_category_table(material: SiteMaterial, listed: Sequence[ListedAssignment]) -> SiteTable:
    entry = material.main_metric
    by_category: dict[str, list[ListedAssignment]] = {}
    for one in listed:
        by_category.setdefault(one[0].category or "no category", []).append(one)
    rows = []
    for name, group in sorted(by_category.items(), key=lambda item: (-len(item[1]), item[0])):
        value = mean(cell.value for _, _, cell in group)
        facts = sum(assigned.n_facts for assigned, _, _ in group)
        rows.append(
            (
                name,
                format_number(len(group)),
                format_number(facts),
                format_figure(value, entry.unit),
            )
        )
    return SiteTable(
        caption=f"Categories. {entry.title}: mean over articles of the means over agents",
        columns=(("Category", False), ("Articles", True), ("Facts", True), (entry.title, True)),
        rows=tuple(rows),
    )


def _choose_example(listed: Sequence[ListedAssignment]) -> SiteAssignment | None:
    """Choose the assignment with the median mean figure: neither the easiest nor the hardest."""
    valued = sorted(
        (cell.value, assigned.assignment, assigned)
        for assigned, _, cell in listed
        if cell.value is not None
    )
    if valued:
        return valued[len(valued) // 2][-1]
    return listed[0][0] if listed else None

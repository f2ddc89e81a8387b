"""The assignment pages: the article's facts by agent, and the reports."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from tasks.publishing.material import SiteAssignment, SiteMaterial, sort_key
from tasks.publishing.reports import CrossReferences
from tasks.site.charts import draw_heatmap
from tasks.site.environment import SitePages
from tasks.site.report_parts import ReportParts
from tasks.site.wording import OutcomeMark, format_day, format_number
from tasks.warehouse.explanations import report_id

FACTS = """
SELECT article, number, text, coalesce(nullif(section, ''), 'Lead') FROM facts
WHERE edition = $1 ORDER BY article, number
"""
PAGE_BYTES = 330_000
"""Approximate bytes of the fact tables on one page; the heatmap comes on top."""
MARK_BYTES = 90
"""Approximate bytes of the mark of one fact in one report."""
HEAT_WORD = {"good": "found", "poor": "not found", "bad": "contradicted"}
SHORT = {"good": "yes", "poor": "no", "bad": "contra"}
ArticleFact = tuple[int, str, str]
"""Number, text, section."""


def write_article_pages(
    material: SiteMaterial,
    pages: SitePages,
    gathered: CrossReferences,
    on_progress: Callable[[str, int, int], None],
) -> None:
    facts = material.source.frame(FACTS, [material.edition]).rows_by_key("article")
    for done, assigned in enumerate(material.assignments.values(), start=1):
        of = facts[assigned.article]
        _write_pages(pages, assigned, _describe_assignment(material, assigned, of, gathered))
        on_progress("assignments", done, len(material.assignments))


def _write_pages(pages: SitePages, assigned: SiteAssignment, about: Mapping[str, Any]) -> None:
    """Write the assignment's page; long lists of facts continue on further pages."""
    spread = _paginate(about["sections"])
    stem = assigned.href.removesuffix(".html")
    names = [assigned.href, *(f"{stem}-facts-{n}.html" for n in range(2, len(spread) + 1))]
    listed = [
        (name, f"facts {held[0]['facts'][0]['number']} to {held[-1]['facts'][-1]['number']}")
        for name, held in zip(names, spread, strict=True)
        if held
    ]
    for name, held in zip(names, spread, strict=True):
        template = "article.html" if name == assigned.href else "article_facts.html"
        pages.add(name, template, a=about, sections=held, pages=listed, this=name)


def _paginate(sections: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Split the sections into pages of limited size; a long section continues on the next page."""
    pages: list[list[dict[str, Any]]] = [[]]
    room = PAGE_BYTES
    for section in sections:
        pages[-1].append(section | {"facts": []})
        for fact in section["facts"]:
            room -= (
                110 + len(fact["text"].encode("utf-8", "replace")) + MARK_BYTES * len(fact["marks"])
            )
            if room < 0 and pages[-1][0]["facts"]:
                if not pages[-1][-1]["facts"]:
                    pages[-1].pop()
                pages.append([section | {"facts": []}])
                room = PAGE_BYTES
            pages[-1][-1]["facts"].append(fact)
    return pages


def _describe_assignment(
    material: SiteMaterial,
    assigned: SiteAssignment,
    facts: Sequence[ArticleFact],
    gathered: CrossReferences,
) -> dict[str, Any]:
    marks = gathered.facts.get(assigned.assignment, {})
    judged = {agent: of for agent, of in marks.items() if of}
    ids = {agent: report_id(material.edition, agent, assigned.assignment) for agent in judged}
    parts = {agent: gathered.parts[report] for agent, report in ids.items()}
    entry = material.main_metric
    links = material.report_links[assigned.assignment]
    return {
        "title": assigned.title,
        "about": _list_properties(assigned),
        "metric_title": entry.title,
        "reports": sorted(links, key=lambda link: sort_key(link.cell, entry.better)),
        "judge_title": material.judge_title(material.judge),
        "chart": _draw_heatmap(material, assigned, facts, judged) if facts and judged else None,
        "agents": [material.agent_name(agent) for agent in judged],
        "sections": _make_sections(facts, judged, parts) if judged else [],
        "prompt": assigned.prompt,
    }


def _list_properties(assigned: SiteAssignment) -> list[tuple[str, str, str | None]]:
    """List the known properties of the article: name, text and link."""
    page = (assigned.permalink or assigned.url) if assigned.url else None
    known = {
        "Article": page,
        "Query": assigned.query,
        "Kind": assigned.kind.replace("_", " "),
        "Category": assigned.category,
        "Created": format_day(assigned.created_at) if assigned.created_at else None,
        "Page views": _format_known(assigned.views),
        "Bytes": _format_known(assigned.bytes),
        "External links": _format_known(assigned.links),
        "Facts": _format_known(assigned.n_facts or None),
        "Licence": assigned.licence,
        "Attribution": assigned.attribution,
    }
    links = {"Article": page}
    return [(name, words, links.get(name)) for name, words in known.items() if words]


def _format_known(number: int | None) -> str | None:
    return None if number is None else format_number(number)


def _draw_heatmap(
    material: SiteMaterial,
    assigned: SiteAssignment,
    facts: Sequence[ArticleFact],
    judged: Mapping[str, Mapping[int, OutcomeMark]],
) -> Markup:
    tops = (section.split(" > ")[0] for _, _, section in facts)  # the bands of the axis
    sections = [(name, len([*rows])) for name, rows in groupby(tops)]
    found = {
        material.agent_name(agent): [
            HEAT_WORD.get(marks[place].tone, "no verdict") if place in marks else "no verdict"
            for place, _, _ in facts
        ]
        for agent, marks in judged.items()
    }
    return draw_heatmap(found, sections, f"Facts of {assigned.title}")


def _make_sections(
    facts: Sequence[ArticleFact],
    judged: Mapping[str, Mapping[int, OutcomeMark]],
    parts: Mapping[str, ReportParts],
) -> list[dict[str, Any]]:
    """Return the facts in the article's order, by section, with each report's mark."""
    sections = []
    for name, rows in groupby(facts, key=lambda fact: fact[2]):
        shown = [_make_fact(fact, judged, parts) for fact in rows]
        n = sum(fact["judged"] for fact in shown)
        covered = sum(fact["covered"] for fact in shown)
        sections.append({"name": name, "facts": shown, "n": n, "share": covered / n if n else None})
    return sections


def _make_fact(
    fact: ArticleFact,
    judged: Mapping[str, Mapping[int, OutcomeMark]],
    parts: Mapping[str, ReportParts],
) -> dict[str, Any]:
    place, text, _ = fact
    found = [(of.get(place), parts[agent].fact_href(place)) for agent, of in judged.items()]
    tones = [mark.tone for mark, _ in found if mark]
    return {
        "number": place,
        "text": text,
        "covered": tones.count("good"),
        "judged": sum(tone in HEAT_WORD for tone in tones),
        "marks": [(m.tone, SHORT.get(m.tone, "–"), href) if m else None for m, href in found],
    }

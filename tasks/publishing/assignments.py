"""The assignment pages: the article's facts by agent, and the reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl
from markupsafe import Markup

from tasks.publishing.material import SiteAssignment, SiteMaterial, make_cell, sort_key
from tasks.publishing.reports import CrossReferences
from tasks.site.charts import draw_heatmap
from tasks.site.content import FigureCell, ReportLink, SiteInfo
from tasks.site.environment import render_page
from tasks.site.folder import SiteFolder
from tasks.site.report_parts import ReportParts
from tasks.site.wording import OutcomeMark, format_day, format_number
from tasks.warehouse.explanations import report_id

FACTS = """
SELECT article, number, text, section FROM facts WHERE edition = $1 ORDER BY article, number
"""
LEAD = "Lead"
PAGE_BYTES = 330_000
"""Approximate bytes of the fact tables on one page; the heatmap comes on top."""
MARK_BYTES = 90
"""Approximate bytes of the mark of one fact in one report."""
HEAT_WORD = {"good": "found", "poor": "not found", "bad": "contradicted"}
SHORT = {"good": "yes", "poor": "no", "bad": "contra"}
ArticleFact = tuple[int, str, str]
"""Number, text, section."""


@dataclass(frozen=True)
class LinkedText:
    """Text with an optional link."""

    words: str
    href: str | None = None


def write_article_pages(
    material: SiteMaterial,
    site: SiteInfo,
    folder: SiteFolder,
    gathered: CrossReferences,
    on_progress: Callable[[str, int, int], None],
) -> None:
    facts = _load_facts(material)
    links = make_report_links(material)
    for done, assigned in enumerate(material.assignments.values(), start=1):
        of = facts.get(assigned.article or "", [])
        about = _describe_assignment(
            material, assigned, of, gathered, links.get(assigned.assignment, [])
        )
        for name, (template, content) in _split_into_pages(assigned, about).items():
            folder.add(name, render_page(template, depth=1, site=site, a=about, **content))
        on_progress("assignments", done, len(material.assignments))


def _split_into_pages(
    assigned: SiteAssignment, about: Mapping[str, Any]
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Map the paths of the assignment's pages to their template and their part of the facts."""
    spread = _paginate(about["sections"])
    names = [assigned.href, *(f"{assigned.href.removesuffix('.html')}-facts-{n}.html"
                              for n in range(2, len(spread) + 1))]  # fmt: skip
    pages = [(name, f"facts {held[0]['facts'][0]['number']} to {held[-1]['facts'][-1]['number']}")
             for name, held in zip(names, spread, strict=True) if held]  # fmt: skip
    return {
        name: ("article_facts.html" if place else "article.html",
               {"sections": held, "pages": pages, "this": name})
        for place, (name, held) in enumerate(zip(names, spread, strict=True))
    }  # fmt: skip


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


def make_report_links(material: SiteMaterial) -> dict[str, list[ReportLink]]:
    """Map each assignment to links to its reports, with the main figure."""
    figures: dict[tuple[str, str], FigureCell] = {}
    if material.main:
        protocol, metric = material.main
        unit = material.metric(*material.main).unit
        rows = material.scores.filter(
            (pl.col("protocol") == protocol)
            & (pl.col("metric") == metric)
            & (pl.col("judge") == material.judge)
        )
        for row in rows.iter_rows(named=True):
            figures[row["agent"], row["assignment"]] = make_cell(row, unit)
    found: dict[str, list[ReportLink]] = {}
    for agent, assignment, status, words in material.reports.iter_rows():
        assigned = material.assignments[assignment]
        found.setdefault(assignment, []).append(
            ReportLink(
                id=report_id(material.edition, agent, assignment),
                agent=agent,
                agent_name=material.agents.get(agent, agent),
                assignment=assignment,
                title=assigned.title,
                status=status,
                words=words,
                cell=figures.get((agent, assignment), FigureCell(None, reason="not judged")),
            )
        )
    return found


def _load_facts(material: SiteMaterial) -> dict[str, list[ArticleFact]]:
    frame = material.source.frame(FACTS, [material.edition])
    found: dict[str, list[ArticleFact]] = {}
    for article, place, text, section in frame.iter_rows():
        found.setdefault(article, []).append((place, text, section or LEAD))
    return found


def _describe_assignment(
    material: SiteMaterial,
    assigned: SiteAssignment,
    facts: Sequence[ArticleFact],
    gathered: CrossReferences,
    links: Sequence[ReportLink],
) -> dict[str, Any]:
    marks = gathered.facts.get(assigned.assignment, {})
    judged = {agent: of for agent, of in marks.items() if of}
    ids = {agent: report_id(material.edition, agent, assigned.assignment) for agent in judged}
    parts = {agent: gathered.parts[report] for agent, report in ids.items()}
    entry = material.metric(*material.main) if material.main else None
    better = entry.better if entry else "higher"
    return {
        "title": assigned.title,
        "about": _list_properties(assigned),
        "metric_title": entry.title if entry else "Figure",
        "reports": sorted(links, key=lambda link: sort_key(link.cell, better)),
        "judge_title": material.judge_title(material.judge),
        "chart": _draw_heatmap(material, assigned, facts, judged) if facts and judged else None,
        "agents": [material.agents.get(agent, agent) for agent in judged],
        "sections": _make_sections(facts, judged, parts) if judged else [],
        "prompt": assigned.prompt,
    }


def _list_properties(assigned: SiteAssignment) -> list[tuple[str, LinkedText]]:
    """List the known properties of the article, as text."""
    rows = [
        ("Article", LinkedText(assigned.permalink or assigned.url,
                               assigned.permalink or assigned.url) if assigned.url else None),
        ("Query", LinkedText(assigned.query) if assigned.query else None),
        ("Kind", LinkedText(assigned.kind.replace("_", " "))),
        ("Category", LinkedText(assigned.category) if assigned.category else None),
        ("Created", LinkedText(format_day(assigned.created_at)) if assigned.created_at else None),
        ("Page views", LinkedText(format_number(assigned.views))
         if assigned.views is not None else None),
        ("Bytes", LinkedText(format_number(assigned.bytes))
         if assigned.bytes is not None else None),
        ("External links", LinkedText(format_number(assigned.links))
         if assigned.links is not None else None),
        ("Facts", LinkedText(format_number(assigned.n_facts)) if assigned.n_facts else None),
        ("Licence", LinkedText(assigned.licence) if assigned.licence else None),
        ("Attribution", LinkedText(assigned.attribution) if assigned.attribution else None),
    ]  # fmt: skip
    return [(name, value) for name, value in rows if value is not None]


def _draw_heatmap(
    material: SiteMaterial,
    assigned: SiteAssignment,
    facts: Sequence[ArticleFact],
    judged: Mapping[str, Mapping[int, OutcomeMark]],
) -> Markup:
    sections = [(name, len([*rows])) for name, rows in groupby(facts, key=_top_section)]
    found = {
        material.agents.get(agent, agent): [
            HEAT_WORD.get(marks[place].tone, "no verdict") if place in marks else "no verdict"
            for place, _, _ in facts
        ]
        for agent, marks in judged.items()
    }
    return draw_heatmap(found, sections, f"Facts of {assigned.title}")


def _top_section(fact: ArticleFact) -> str:
    """Return the top-level section, for the bands of the heatmap's axis."""
    return fact[2].split(" > ")[0]


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

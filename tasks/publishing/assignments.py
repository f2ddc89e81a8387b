"""The page of every assignment: its article's facts by agents, and the reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl
from markupsafe import Markup

from tasks.publishing.material import Assigned, Material, best_first, cell_of
from tasks.publishing.reports import Gathered
from tasks.site.charts import heatmap
from tasks.site.content import Cell, ReportLink, Site
from tasks.site.environment import page
from tasks.site.folder import SiteFolder
from tasks.site.report_parts import Parts
from tasks.site.wording import Mark, day, number
from tasks.warehouse.explained import report_id

FACTS = """
SELECT article, number, text, section FROM facts WHERE edition = $1 ORDER BY article, number
"""
LEAD = "Lead"
MOST = 330_000
"""Bytes of an assignment's facts by agents on one page, nearly; its picture stands beside them."""
CELL = 90
"""Bytes of one fact in one report."""
HEAT_WORD = {"good": "found", "poor": "not found", "bad": "contradicted"}
SHORT = {"good": "yes", "poor": "no", "bad": "contra"}
Fact = tuple[int, str, str]
"""Number, words, section."""


@dataclass(frozen=True)
class Linked:
    """Words that may lead somewhere."""

    words: str
    href: str | None = None


def article_pages(
    material: Material,
    site: Site,
    folder: SiteFolder,
    gathered: Gathered,
    on_progress: Callable[[str, int, int], None],
) -> None:
    facts = _facts(material)
    links = report_links(material)
    for done, assigned in enumerate(material.assignments.values(), start=1):
        of = facts.get(assigned.article or "", [])
        about = _article(material, assigned, of, gathered, links.get(assigned.assignment, []))
        for name, (template, content) in _files(assigned, about).items():
            folder.add(name, page(template, depth=1, site=site, a=about, **content))
        on_progress("assignments", done, len(material.assignments))


def _files(assigned: Assigned, about: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """By their paths the assignment's pages, each as its template and its share of the facts."""
    spread = _spread(about["sections"])
    names = [assigned.href, *(f"{assigned.href.removesuffix('.html')}-facts-{n}.html"
                              for n in range(2, len(spread) + 1))]  # fmt: skip
    pages = [(name, f"facts {held[0]['facts'][0]['number']} to {held[-1]['facts'][-1]['number']}")
             for name, held in zip(names, spread, strict=True) if held]  # fmt: skip
    return {
        name: ("article_facts.html" if place else "article.html",
               {"sections": held, "pages": pages, "this": name})
        for place, (name, held) in enumerate(zip(names, spread, strict=True))
    }  # fmt: skip


def _spread(sections: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The sections by pages, each a table that loads at once; a long section goes on."""
    pages: list[list[dict[str, Any]]] = [[]]
    room = MOST
    for section in sections:
        pages[-1].append(section | {"facts": []})
        for fact in section["facts"]:
            room -= 110 + len(fact["text"].encode("utf-8", "replace")) + CELL * len(fact["marks"])
            if room < 0 and pages[-1][0]["facts"]:
                if not pages[-1][-1]["facts"]:
                    pages[-1].pop()
                pages.append([section | {"facts": []}])
                room = MOST
            pages[-1][-1]["facts"].append(fact)
    return pages


def report_links(material: Material) -> dict[str, list[ReportLink]]:
    """By assignment its reports, with the site's main figure."""
    figures: dict[tuple[str, str], Cell] = {}
    if material.main:
        protocol, metric = material.main
        unit = material.metric(*material.main).unit
        rows = material.scores.filter(
            (pl.col("protocol") == protocol)
            & (pl.col("metric") == metric)
            & (pl.col("judge") == material.judge)
        )
        for row in rows.iter_rows(named=True):
            figures[row["agent"], row["assignment"]] = cell_of(row, unit)
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
                cell=figures.get((agent, assignment), Cell(None, reason="not judged")),
            )
        )
    return found


def _facts(material: Material) -> dict[str, list[Fact]]:
    frame = material.source.frame(FACTS, [material.edition])
    found: dict[str, list[Fact]] = {}
    for article, place, text, section in frame.iter_rows():
        found.setdefault(article, []).append((place, text, section or LEAD))
    return found


def _article(
    material: Material,
    assigned: Assigned,
    facts: Sequence[Fact],
    gathered: Gathered,
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
        "about": _about(assigned),
        "metric_title": entry.title if entry else "Figure",
        "reports": sorted(links, key=lambda link: best_first(link.cell, better)),
        "judge_title": material.judge_title(material.judge),
        "chart": _heatmap(material, assigned, facts, judged) if facts and judged else None,
        "agents": [material.agents.get(agent, agent) for agent in judged],
        "sections": _sections(facts, judged, parts) if judged else [],
        "prompt": assigned.prompt,
    }


def _about(assigned: Assigned) -> list[tuple[str, Linked]]:
    """What is known of the article, in words; only what is."""
    rows = [
        ("Article", Linked(assigned.permalink or assigned.url, assigned.permalink or assigned.url)
         if assigned.url else None),
        ("Query", Linked(assigned.query) if assigned.query else None),
        ("Kind", Linked(assigned.kind.replace("_", " "))),
        ("Category", Linked(assigned.category) if assigned.category else None),
        ("Created", Linked(day(assigned.created_at)) if assigned.created_at else None),
        ("Page views", Linked(number(assigned.views)) if assigned.views is not None else None),
        ("Bytes", Linked(number(assigned.bytes)) if assigned.bytes is not None else None),
        ("External links", Linked(number(assigned.links)) if assigned.links is not None else None),
        ("Facts", Linked(number(assigned.n_facts)) if assigned.n_facts else None),
        ("Licence", Linked(assigned.licence) if assigned.licence else None),
        ("Attribution", Linked(assigned.attribution) if assigned.attribution else None),
    ]  # fmt: skip
    return [(name, value) for name, value in rows if value is not None]


def _heatmap(
    material: Material,
    assigned: Assigned,
    facts: Sequence[Fact],
    judged: Mapping[str, Mapping[int, Mark]],
) -> Markup:
    sections = [(name, len([*rows])) for name, rows in groupby(facts, key=_outermost)]
    found = {
        material.agents.get(agent, agent): [
            HEAT_WORD.get(marks[place].tone, "no verdict") if place in marks else "no verdict"
            for place, _, _ in facts
        ]
        for agent, marks in judged.items()
    }
    return heatmap(found, sections, f"Facts of {assigned.title}")


def _outermost(fact: Fact) -> str:
    """The section that the picture's axis is banded by; the table has the whole path."""
    return fact[2].split(" > ")[0]


def _sections(
    facts: Sequence[Fact],
    judged: Mapping[str, Mapping[int, Mark]],
    parts: Mapping[str, Parts],
) -> list[dict[str, Any]]:
    """The facts in the order of the article, by section, with what each report holds of them."""
    sections = []
    for name, rows in groupby(facts, key=lambda fact: fact[2]):
        shown = [_fact(fact, judged, parts) for fact in rows]
        n = sum(fact["judged"] for fact in shown)
        covered = sum(fact["covered"] for fact in shown)
        sections.append({"name": name, "facts": shown, "n": n, "share": covered / n if n else None})
    return sections


def _fact(
    fact: Fact, judged: Mapping[str, Mapping[int, Mark]], parts: Mapping[str, Parts]
) -> dict[str, Any]:
    place, text, _ = fact
    found = [(of.get(place), parts[agent].fact(place)) for agent, of in judged.items()]
    tones = [mark.tone for mark, _ in found if mark]
    return {
        "number": place,
        "text": text,
        "covered": tones.count("good"),
        "judged": sum(tone in HEAT_WORD for tone in tones),
        "marks": [(m.tone, SHORT.get(m.tone, "–"), href) if m else None for m, href in found],
    }

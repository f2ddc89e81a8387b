"""Render the pages of one report: its text with marked claims, and the verdicts behind them."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from tasks.extraction.reading import read_citations
from tasks.extraction.sentences import split_block
from tasks.site.content import SiteInfo
from tasks.site.environment import render_page
from tasks.site.prose import MarkedPassage, render_report
from tasks.site.report_parts import ReportParts
from tasks.site.wording import MARKS, Tone
from tasks.warehouse.explanations import (
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ExplainedVerdict,
)
from tasks.warehouse.rows import content_sha

NumberedItem = TypeVar("NumberedItem", ExplainedClaim, ExplainedFact)
ItemWords = dict[tuple[str, str, str], str]
"""(protocol, step, item) → the item's text."""
ATTENTION: tuple[Tone, ...] = ("bad", "poor", "open", "good", "none")
"""A passage with several claims gets the first of these tones that any of them has."""
_TRAILING = " \t\r\n*_`|"
_SOURCES = re.compile(r"(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\](?!\()\s*)+")


@dataclass(frozen=True)
class ReportFrame:
    """The content that the pages of all reports share."""

    site: SiteInfo
    judge: str
    """The judge whose verdicts determine the marks."""
    judge_titles: dict[str, str]
    protocol_titles: dict[str, str]
    metrics: dict[tuple[str, str], tuple[str, str]]
    """(protocol, metric) → title, unit."""


def render_report_pages(
    frame: ReportFrame,
    report: ExplainedReport,
    parts: ReportParts,
    words: ItemWords,
    agent_href: str,
    article_href: str,
) -> dict[str, str]:
    """Return file name → HTML of a report's pages."""
    outcomes = [claim.outcomes.get(frame.judge, "unjudged") for claim in report.claims]
    claims = list(zip(report.claims, outcomes, strict=True))
    positions = [(claim.number, claim.position, outcome) for claim, outcome in claims]
    placed = find_passages(report.title, report.text, positions)
    html = render_report(
        report.text, placed, lambda number: parts.claim_href(number).removeprefix(parts.home)
    )
    claim_pages = [*_split_items(parts.claims, parts.claims_file, "claims", report.claims)]
    fact_pages = [*_split_items(parts.facts, parts.facts_file, "facts", report.facts)]
    marks = [MARKS[outcome] for outcome in outcomes]
    shown = _build_context(frame, report) | {
        "home": parts.home,
        "agent_href": agent_href,
        "article_href": article_href,
        "item_words": words,
        "html": Markup(html),
        "legend": [(mark, marks.count(mark)) for mark in MARKS.values() if mark in marks],
        "n_unplaced": len(claims) - html.count('<a class="claim '),
        "mark_of_claim": {claim.number: MARKS[outcome] for claim, outcome in claims},
        "claim_pages": claim_pages,
        "fact_pages": fact_pages,
    }
    files = {parts.home: render_page("report.html", depth=1, claims=report.claims, **shown)}
    for href, _, some in claim_pages:
        files[href] = render_page(
            "report_claims.html", depth=1, claims=some, pages=claim_pages, this=href, **shown
        )
    for href, _, found in fact_pages:
        files[href] = render_page(
            "report_facts.html", depth=1, facts=found, pages=fact_pages, this=href, **shown
        )
    return files


def _build_context(frame: ReportFrame, report: ExplainedReport) -> dict[str, Any]:
    """Return what the templates need to know of a report beside its marked text."""
    decided = [
        decision
        for fact in report.facts
        for decision in fact.decisions
        if decision.judge == frame.judge and decision.status == "ok"
    ]
    titles = frame.judge_titles
    return {
        "site": frame.site,
        "report": report,
        "n_words": len(report.text.split()),
        "scores": [
            (
                score,
                frame.protocol_titles.get(score.protocol, score.protocol),
                *frame.metrics.get((score.protocol, score.metric), (score.metric, "share")),
            )
            for score in report.scores
        ],
        "judge_titles": titles,
        "main_title": titles.get(frame.judge, frame.judge) if len(titles) > 1 else "",
        "snapshot_of": _map_snapshots(report),
        "n_judged": len(decided),
        "n_leaked": sum(claim.leaked is True for claim in report.claims),
        "n_covered": sum(decision.label == "consistent" for decision in decided),
        "others": _group_by_step(frame, report.others),
    }


def _split_items(
    starts: Sequence[int], name: Callable[[int], str], what: str, items: Sequence[NumberedItem]
) -> Iterator[tuple[str, str, Sequence[NumberedItem]]]:
    """Yield the pages of items that begin with these numbers: href, description and items."""
    if starts:
        lasts = [*(start - 1 for start in starts[1:]), items[-1].number]
        for place, (first, last) in enumerate(zip(starts, lasts, strict=True)):
            found = [item for item in items if first <= item.number <= last]
            yield name(place), f"{what} {first} to {last}", found


def snapshot_href(url: str) -> str:
    """Return the path of a cited page's snapshot within the site."""
    return f"pages/{content_sha(url)[:12]}.html"


def _map_snapshots(report: ExplainedReport) -> dict[str, str]:
    return {
        citation.url: snapshot_href(citation.url)
        for claim in report.claims
        for citation in claim.citations
        if citation.page is not None
    }


def _group_by_step(
    frame: ReportFrame, decisions: Sequence[ExplainedVerdict]
) -> list[tuple[tuple[str, str], list[ExplainedVerdict]]]:
    """Group decisions by protocol and step."""
    grouped: dict[tuple[str, str], list[ExplainedVerdict]] = defaultdict(list)
    for decision in decisions:
        title = frame.protocol_titles.get(decision.protocol, decision.protocol)
        grouped[title, decision.step.replace("_", " ")].append(decision)
    return list(grouped.items())


def find_passages(
    title: str, text: str, claims: Sequence[tuple[int, int | None, str]]
) -> list[MarkedPassage]:
    """Return the sentences that contain claims.

    Args:
        claims: number, offset in the text (None: unknown) and outcome of each claim.
    """
    starts, spans = _find_sentences(title, text)
    within: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, position, outcome in claims:
        place = bisect_right(starts, position) - 1 if position is not None else -1
        if place >= 0 and position is not None and position < spans[place][1]:
            within[place].append((number, outcome))
    return [_build_passage(*spans[place], group) for place, group in sorted(within.items())]


def _build_passage(start: int, end: int, claims: Sequence[tuple[int, str]]) -> MarkedPassage:
    marks = [(number, MARKS[outcome]) for number, outcome in claims]
    tones = {mark.tone for _, mark in marks}
    tone = next(each for each in ATTENTION if each in tones)
    return MarkedPassage(start, end, tuple((n, mark.tone, mark.word) for n, mark in marks), tone)


def _find_sentences(title: str, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return all sentences' starts, in order, and the span to mark of each: up to the next sentence
    or the block's end, including source marks before the next sentence's words."""
    found = []
    cited = read_citations(text, title)
    for block, markers in cited.blocks:
        starts = [sentence.start for sentence in split_block(cited.text, block, markers)]
        words = [*starts[:1], *(_skip_sources(text, at, block.end) for at in starts[1:])]
        for begin, start, end in zip(starts, words, [*words[1:], block.end], strict=False):
            trimmed = start + len(text[start:end].rstrip(_TRAILING))
            if trimmed > start:
                found.append((begin, start, trimmed))
    found.sort()
    return [begin for begin, _, _ in found], [(start, end) for _, start, end in found]


def _skip_sources(text: str, start: int, end: int) -> int:
    """Return where a sentence's words begin: `[1]` after a full stop belongs to the one before."""
    sources = _SOURCES.match(text, start, end)
    return sources.end() if sources else start

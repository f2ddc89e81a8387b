"""The pages of one report: its text with each claim marked, and what each mark rests on."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from markupsafe import Markup

from tasks.site.content import Site
from tasks.site.environment import page
from tasks.site.marking import passages
from tasks.site.prose import rendered
from tasks.site.report_parts import Parts
from tasks.site.wording import MARKS, Mark
from tasks.warehouse.explained import (
    Decision,
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ReportScore,
)
from tasks.warehouse.rows import content_sha

Words = dict[tuple[str, str, str], str]
"""(protocol, step, item) → what the item says, in words."""


@dataclass(frozen=True)
class ReportFrame:
    """What the pages of all reports have in common."""

    site: Site
    judge: str
    """The one that pages mark by."""
    judge_titles: dict[str, str]
    protocol_titles: dict[str, str]
    metrics: dict[tuple[str, str], tuple[str, str]]
    """(protocol, metric) → title, unit."""


def report_files(
    frame: ReportFrame,
    report: ExplainedReport,
    parts: Parts,
    words: Words,
    agent_href: str,
    article_href: str,
) -> dict[str, str]:
    """Its pages as HTML, by their names in the folder of reports."""
    outcomes = [_outcome(claim, frame.judge) for claim in report.claims]
    claims = list(zip(report.claims, outcomes, strict=True))
    placed = passages(report.title, report.text, [(c.number, c.position, o) for c, o in claims])
    html = rendered(report.text, placed, _href(parts))
    decided = [d for f in report.facts for d in f.decisions
               if d.judge == frame.judge and d.status == "ok"]  # fmt: skip
    titles = frame.judge_titles
    more_claims = _pages(parts.claims, parts.claims_page, "claims", report.claims)
    fact_pages = _pages(parts.facts, parts.facts_page, "facts", report.facts)
    shown: dict[str, Any] = {
        "site": frame.site,
        "report": report,
        "home": parts.home,
        "agent_href": agent_href,
        "article_href": article_href,
        "n_words": len(report.text.split()),
        "scores": [_score(frame, score) for score in report.scores],
        "judge_titles": titles,
        "main_title": titles.get(frame.judge, frame.judge) if len(titles) > 1 else "",
        "legend": _legend([MARKS[outcome] for outcome in outcomes]),
        "n_unplaced": len(claims) - html.count('<a class="claim '),
        "html": Markup(html),
        "snapshot_of": _snapshots(report),
        "n_judged": len(decided),
        "n_leaked": sum(claim.leaked is True for claim in report.claims),
        "n_covered": sum(d.label == "consistent" for d in decided),
        "others": _others(frame, report.others),
        "item_words": words,
        "more_claims": more_claims,
        "fact_pages": fact_pages,
    }
    marked = [(claim, MARKS[outcome]) for claim, outcome in claims]
    files = {parts.home: page("report.html", depth=1, claims=marked, **shown)}
    for (href, _), first, end in _spans(more_claims, parts.claims):
        here = [(claim, mark) for claim, mark in marked if first <= claim.number < end]
        files[href] = page(
            "report_claims.html", depth=1, claims=here, pages=more_claims, this=href, **shown
        )
    for (href, _), first, end in _spans(fact_pages, parts.facts):
        found = [fact for fact in report.facts if first <= fact.number < end]
        files[href] = page(
            "report_facts.html", depth=1, facts=found, pages=fact_pages, this=href, **shown
        )
    return files


def _href(parts: Parts) -> Callable[[int], str]:
    """Where a claim's details stand, seen from the text."""
    return lambda number: parts.claim(number).removeprefix(parts.home)


def _pages(
    starts: Sequence[int],
    name: Callable[[int], str],
    what: str,
    items: Sequence[ExplainedClaim | ExplainedFact],
) -> list[tuple[str, str]]:
    """Of the pages that items begin on: href, and which they are in words."""
    lasts = [*(start - 1 for start in starts[1:]), items[-1].number if items else 0]
    return [
        (name(place), f"{what} {first} to {last}")
        for place, (first, last) in enumerate(zip(starts, lasts, strict=True))
    ] if starts else []  # fmt: skip


def _spans(
    pages: Sequence[tuple[str, str]], starts: Sequence[int]
) -> Iterator[tuple[tuple[str, str], int, float]]:
    """Each page with the number its items begin at and the one they end before."""
    yield from zip(pages, starts, [*starts[1:], inf], strict=True) if starts else ()


def snapshot_href(url: str) -> str:
    """The page of a cited page's snapshot within the site."""
    return f"pages/{content_sha(url)[:12]}.html"


def _outcome(claim: ExplainedClaim, judge: str) -> str:
    return claim.outcomes.get(judge, "unjudged")


def _legend(marks: Sequence[Mark]) -> list[tuple[Mark, int]]:
    """Each outcome that occurs with how many claims have it, in the order of MARKS."""
    return [(mark, marks.count(mark)) for mark in MARKS.values() if mark in marks]


def _score(frame: ReportFrame, score: ReportScore) -> dict[str, Any]:
    title, unit = frame.metrics.get((score.protocol, score.metric), (score.metric, "share"))
    return {
        "protocol": frame.protocol_titles.get(score.protocol, score.protocol),
        "metric": title,
        "unit": unit,
        "judge": score.judge,
        "value": score.value,
        "n_items": score.n_items,
        "n_open": score.n_open,
        "reason": score.reason,
    }


def _snapshots(report: ExplainedReport) -> dict[str, str]:
    return {
        citation.url: snapshot_href(citation.url)
        for claim in report.claims
        for citation in claim.citations
        if citation.page is not None
    }


def _others(
    frame: ReportFrame, decisions: Sequence[Decision]
) -> list[tuple[tuple[str, str], list[Decision]]]:
    """By protocol and step."""
    grouped: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for decision in decisions:
        title = frame.protocol_titles.get(decision.protocol, decision.protocol)
        grouped[title, decision.step.replace("_", " ")].append(decision)
    return list(grouped.items())

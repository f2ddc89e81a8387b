"""Split a report's claims and facts over pages of limited size.

The first page has the report's text and, if they fit, its claims; another has the facts of the
reference article. Longer lists continue on further pages.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import escape

from tasks.foreign_text import make_visible
from tasks.warehouse.explanations import (
    ExplainedClaim,
    ExplainedFact,
    ExplainedReport,
    ExplainedVerdict,
)

MAX_BYTES = 450_000
"""Estimated bytes of claims or facts on one page; the rest of the page takes less than 50,000."""
_DECISION, _CITATION, _CLAIM, _FACT, _FOUND, _MARK = 360, 300, 250, 160, 190, 330
"""Bytes of the markup around each; `_FOUND`: a decision beside its fact, `_MARK`: a mark in the
text with its link."""


@dataclass(frozen=True, slots=True)
class ReportParts:
    """Which page of a report has which claims and facts."""

    report: str
    """The report's id."""
    claims: tuple[int, ...]
    """The first claim's number on each page; empty if all are on the text's page."""
    facts: tuple[int, ...]
    """The first fact's number on each page; empty if there are none."""

    @property
    def home(self) -> str:
        """The file of the text's page; all files are in the folder of reports."""
        return f"{self.report}.html"

    def claims_file(self, place: int) -> str:
        return self._page("claims", place)

    def facts_file(self, place: int) -> str:
        return self._page("facts", place)

    def claim_href(self, number: int) -> str:
        """Return the link to a claim's details."""
        place = max(0, bisect_right(self.claims, number) - 1)
        page = self.claims_file(place) if self.claims else self.home
        return f"{page}#claim-{number}"

    def fact_href(self, number: int) -> str:
        """Return the link to a fact and its verdicts."""
        place = max(0, bisect_right(self.facts, number) - 1)
        return f"{self.facts_file(place)}#fact-{number}"

    def _page(self, what: str, place: int) -> str:
        return f"{self.report}-{what}{f'-{place + 1}' if place else ''}.html"


def split_report(report: ExplainedReport, most: int = MAX_BYTES) -> ReportParts:
    """Split a report into the fewest pages of `most` bytes each; a longer item has its own page."""
    claims = [(claim.number, _measure_claim(claim)) for claim in report.claims]
    text = _count_bytes(report.text) + _MARK * len(claims)
    together = text + sum(size for _, size in claims) <= most
    return ReportParts(
        report=report.id,
        claims=() if together else _find_starts(claims, most),
        facts=_find_starts([(fact.number, _measure_fact(fact)) for fact in report.facts], most),
    )


def _find_starts(sizes: Sequence[tuple[int, int]], most: int) -> tuple[int, ...]:
    starts: list[int] = []
    used = 0
    for number, size in sizes:
        if not starts or used + size > most:
            starts.append(number)
            used = 0
        used += size
    return tuple(starts)


def _measure_claim(claim: ExplainedClaim) -> int:
    of_pages = (
        _CITATION + _count_bytes(c.url, c.raw_url, c.marker) + _measure_decisions(c.decisions)
        + (_count_bytes(c.page.error) if c.page else 0)
        for c in claim.citations
    )  # fmt: skip
    own = (
        _count_bytes(claim.text)
        + _measure_decisions(claim.conflicts)
        + _measure_decisions(claim.decisions)
    )
    return _CLAIM + 120 * len(claim.outcomes) + own + sum(of_pages)


def _measure_fact(fact: ExplainedFact) -> int:
    return (
        _FACT
        + _count_bytes(fact.text, fact.section)
        + _measure_decisions(fact.decisions + fact.by_all_claims, _FOUND)
    )


def _measure_decisions(decisions: Iterable[ExplainedVerdict], around: int = _DECISION) -> int:
    return sum(
        around + _count_bytes(d.reason, d.evidence, d.call_id, d.model_version) for d in decisions
    )


def _count_bytes(*texts: str | None) -> int:
    """Count the bytes of texts as escaped on a page."""
    return sum(len(escape(make_visible(text)).encode("utf-8", "replace")) for text in texts if text)

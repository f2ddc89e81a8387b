"""How the claims and facts of a report are spread over pages, so that each loads at once.

A report's text stands on its own page, with its claims where there is room; the facts of the
reference article stand on the next one. What is longer goes on on further pages.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import escape

from tasks.site.harmless import visible
from tasks.warehouse.explained import Decision, ExplainedClaim, ExplainedFact, ExplainedReport

MOST = 450_000
"""Bytes of claims or of facts on one page, as nearly as can be said before they are written; what
stands around them takes less than 50,000 more."""
_DECISION, _CITATION, _CLAIM, _FACT, _FOUND, _MARK = 360, 300, 250, 160, 190, 330
"""Bytes of the elements around the words of each; `_FOUND`: of a decision beside its fact, `_MARK`:
of a mark in the text with its link."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Which of a report's pages holds which claim and which fact."""

    report: str
    """Its id."""
    claims: tuple[int, ...]
    """The first claim's number of each page; empty where all stand with the text."""
    facts: tuple[int, ...]
    """The first fact's number of each page; empty where there are none."""

    @property
    def home(self) -> str:
        """The page of the text; like all of them beside each other in the folder of reports."""
        return f"{self.report}.html"

    def claims_page(self, place: int) -> str:
        return self._page("claims", place)

    def facts_page(self, place: int) -> str:
        return self._page("facts", place)

    def claim(self, number: int) -> str:
        """Where a claim's details stand."""
        place = max(0, bisect_right(self.claims, number) - 1)
        page = self.claims_page(place) if self.claims else self.home
        return f"{page}#claim-{number}"

    def fact(self, number: int) -> str:
        """Where a fact stands with what was found of it."""
        place = max(0, bisect_right(self.facts, number) - 1)
        return f"{self.facts_page(place)}#fact-{number}"

    def _page(self, what: str, place: int) -> str:
        return f"{self.report}-{what}{f'-{place + 1}' if place else ''}.html"


def parts_of(report: ExplainedReport, most: int = MOST) -> Parts:
    """The fewest pages, in order, that hold `most` bytes each; a longer item has its own."""
    claims = [(claim.number, _claim(claim)) for claim in report.claims]
    text = _bytes(report.text) + _MARK * len(claims)
    together = text + sum(size for _, size in claims) <= most
    return Parts(
        report=report.id,
        claims=() if together else _starts(claims, most),
        facts=_starts([(fact.number, _fact(fact)) for fact in report.facts], most),
    )


def _starts(sizes: Sequence[tuple[int, int]], most: int) -> tuple[int, ...]:
    starts: list[int] = []
    held = 0
    for number, size in sizes:
        if not starts or held + size > most:
            starts.append(number)
            held = 0
        held += size
    return tuple(starts)


def _claim(claim: ExplainedClaim) -> int:
    of_pages = (
        _CITATION + _bytes(c.url, c.raw_url, c.marker) + _decided(c.decisions)
        + (_bytes(c.page.error) if c.page else 0)
        for c in claim.citations
    )  # fmt: skip
    said = _bytes(claim.text) + _decided(claim.conflicts) + _decided(claim.decisions)
    return _CLAIM + 120 * len(claim.outcomes) + said + sum(of_pages)


def _fact(fact: ExplainedFact) -> int:
    return _FACT + _bytes(fact.text, fact.section) + _decided(fact.decisions, _FOUND)


def _decided(decisions: Iterable[Decision], around: int = _DECISION) -> int:
    return sum(around + _bytes(d.reason, d.evidence, d.call_id, d.model_version) for d in decisions)


def _bytes(*words: str | None) -> int:
    """As they stand in a page."""
    return sum(len(escape(visible(said)).encode("utf-8", "replace")) for said in words if said)

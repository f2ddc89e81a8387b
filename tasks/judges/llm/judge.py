"""The LLM judge: every decision of the seam by prompt and schema, through any model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tasks.base import Frozen
from tasks.judges.decisions import (
    Answer,
    CompareArticles,
    Decision,
    ExtractClaims,
    Extracted,
    ExtractFacts,
    GradeValues,
    MatchClaims,
    Statement,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.forms.replies import StatedClaims, StatedFacts
from tasks.judges.llm.articles import compared_articles
from tasks.judges.llm.claims import graded_values, matched_claims
from tasks.judges.llm.deepresearch import checked_citations, scored_pair
from tasks.judges.llm.keywords import rated_keywords
from tasks.judges.llm.page import answers_against_page, page_reading
from tasks.judges.llm.points import checked_points, found_points, merged_points
from tasks.judges.llm.rating import rated_report
from tasks.judges.llm.requests import AsksModel
from tasks.judges.llm.rubrics import graded_items
from tasks.judges.llm.statements import verified_claims
from tasks.judges.llm.support import verified_support
from tasks.judges.research import (
    CheckCitations,
    CheckPoints,
    ExtractKeyPoints,
    GradeItems,
    MergeKeyPoints,
    PointsSaid,
    RateKeywords,
    RateReport,
    ScorePair,
    VerifySupport,
)
from tasks.judges.text import one_line
from tasks.models.gateway import Outcome

Deciding = Callable[..., Awaitable[Sequence[Answer]]]

DECIDING: dict[type[Decision], Deciding] = {
    VerifyClaims: verified_claims,
    VerifyAgainstPage: answers_against_page,
    CompareArticles: compared_articles,
    MatchClaims: matched_claims,
    GradeValues: graded_values,
    GradeItems: graded_items,
    RateKeywords: rated_keywords,
    CheckPoints: checked_points,
    VerifySupport: verified_support,
    RateReport: rated_report,
    CheckCitations: checked_citations,
    ScorePair: scored_pair,
}
"""How each decision is put to a model: a function of (Asking, the decision)."""


class LlmJudge(AsksModel):
    """A model of `configs/judges.yaml`, asked through `asker`."""

    sees_conflict = True
    cpu_bound = False
    decides: frozenset[type[Frozen]] = frozenset(
        {*DECIDING, ExtractFacts, ExtractClaims, ExtractKeyPoints, MergeKeyPoints}
    )

    def page_reading(self, longest_bytes: int, most_claims: int) -> tuple[str, ...]:
        return page_reading(self._asking, longest_bytes, most_claims)

    async def decide(self, request: Decision) -> Sequence[Answer]:
        return await DECIDING[type(request)](self._asking, request)

    async def extract_facts(self, request: ExtractFacts) -> Extracted:
        values = {"title": request.title, "text": request.text}
        outcome = await self._asking.stated(request.prompt, values, StatedFacts)
        stated = outcome.value.facts if outcome.value else []
        return _extracted(outcome, [Statement(text=one_line(fact.statement)) for fact in stated])

    async def extract_claims(self, request: ExtractClaims) -> Extracted:
        values = {"title": request.title, "text": request.text}
        outcome = await self._asking.stated(request.prompt, values, StatedClaims)
        stated = outcome.value.claims if outcome.value else []
        statements = [Statement(text=one_line(c.statement), markers=tuple(c.markers))
                      for c in stated]  # fmt: skip
        return _extracted(outcome, statements)

    async def extract_key_points(self, request: ExtractKeyPoints) -> PointsSaid:
        return await found_points(self._asking, request)

    async def merge_key_points(self, request: MergeKeyPoints) -> PointsSaid:
        return await merged_points(self._asking, request)


def _extracted(outcome: Outcome[Any], statements: Sequence[Statement]) -> Extracted:
    return Extracted(
        status=outcome.status,
        statements=tuple(s for s in statements if s.text),
        reason=outcome.reason,
        call_id=outcome.call.call_id if outcome.call else None,
    )

"""The LLM judge: each decision has a prompt and a reply form."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tasks.base import Frozen
from tasks.judges.decisions import (
    CompareArticles,
    DecisionRequest,
    ExtractClaims,
    ExtractedStatement,
    ExtractFacts,
    ExtractionAnswer,
    GradeValues,
    JudgeAnswer,
    MatchClaims,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.forms.extraction import ReplyClaims, ReplyFacts
from tasks.judges.llm.articles import check_citations, compare_articles, score_pair
from tasks.judges.llm.claims import grade_values, match_claims
from tasks.judges.llm.page import page_key_parts, verify_against_page
from tasks.judges.llm.points import (
    check_points,
    extract_points,
    merge_points,
    rate_report,
    verify_support,
)
from tasks.judges.llm.requests import LlmBase
from tasks.judges.llm.rubrics import grade_items, rate_keywords
from tasks.judges.llm.statements import verify_claims
from tasks.judges.research import (
    CheckCitations,
    CheckPoints,
    ExtractKeyPoints,
    GradeItems,
    KeyPointsAnswer,
    MergeKeyPoints,
    RateKeywords,
    RateReport,
    ScorePair,
    VerifySupport,
)
from tasks.judges.text import collapse_whitespace
from tasks.models.gateway import Outcome

DecisionFunction = Callable[..., Awaitable[Sequence[JudgeAnswer]]]

DECISION_FUNCTIONS: dict[type[DecisionRequest], DecisionFunction] = {
    VerifyClaims: verify_claims,
    VerifyAgainstPage: verify_against_page,
    CompareArticles: compare_articles,
    MatchClaims: match_claims,
    GradeValues: grade_values,
    GradeItems: grade_items,
    RateKeywords: rate_keywords,
    CheckPoints: check_points,
    VerifySupport: verify_support,
    RateReport: rate_report,
    CheckCitations: check_citations,
    ScorePair: score_pair,
}
"""The function for each decision; its arguments are a `PromptedModel` and the request."""


class LlmJudge(LlmBase):
    """A `Judge` and `Extractor` that uses a model of `configs/judges.yaml`."""

    sees_conflict = True
    cpu_bound = False
    decides: frozenset[type[Frozen]] = frozenset(
        {*DECISION_FUNCTIONS, ExtractFacts, ExtractClaims, ExtractKeyPoints, MergeKeyPoints}
    )

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        return page_key_parts(self._model, longest_bytes, max_claims)

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        return await DECISION_FUNCTIONS[type(request)](self._model, request)

    async def extract_facts(self, request: ExtractFacts) -> ExtractionAnswer:
        values = {"title": request.title, "text": request.text}
        outcome = await self._model.ask_form(request.prompt, values, ReplyFacts)
        stated = outcome.value.facts if outcome.value else []
        return _make_extraction(
            outcome,
            [ExtractedStatement(text=collapse_whitespace(fact.statement)) for fact in stated],
        )

    async def extract_claims(self, request: ExtractClaims) -> ExtractionAnswer:
        values = {"title": request.title, "text": request.text}
        outcome = await self._model.ask_form(request.prompt, values, ReplyClaims)
        stated = outcome.value.claims if outcome.value else []
        statements = [
            ExtractedStatement(text=collapse_whitespace(c.statement), markers=tuple(c.markers))
            for c in stated
        ]
        return _make_extraction(outcome, statements)

    async def extract_key_points(self, request: ExtractKeyPoints) -> KeyPointsAnswer:
        return await extract_points(self._model, request)

    async def merge_key_points(self, request: MergeKeyPoints) -> KeyPointsAnswer:
        return await merge_points(self._model, request)


def _make_extraction(
    outcome: Outcome[Any], statements: Sequence[ExtractedStatement]
) -> ExtractionAnswer:
    return ExtractionAnswer(
        status=outcome.status,
        statements=tuple(s for s in statements if s.text),
        reason=outcome.reason,
        call_id=outcome.call.call_id if outcome.call else None,
    )

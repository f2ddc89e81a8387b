"""The LLM judge: each decision has a prompt and a reply form."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from tasks.base import Frozen
from tasks.judges.decisions import (
    CompareArticles,
    DecisionRequest,
    ExtractClaims,
    ExtractedStatement,
    ExtractFacts,
    GradeValues,
    Judge,
    JudgeAnswer,
    MatchClaims,
    StepAnswer,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.fallback import ask_fallback
from tasks.judges.forms.steps import ReplyClaims, ReplyFacts
from tasks.judges.forms.verdicts import CitationVerdicts, PageVerdicts, SupportVerdicts
from tasks.judges.llm.articles import compare_articles, score_pair
from tasks.judges.llm.points import (
    check_points,
    extract_points,
    grade_items,
    merge_points,
    rate_keywords,
    rate_report,
)
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.llm.statements import (
    grade_values,
    match_claims,
    page_key_parts,
    verify_claims,
    verify_statements,
)
from tasks.judges.research import (
    CheckCitations,
    CheckPoints,
    ExtractKeyPoints,
    FoundKeyPoint,
    GradeItems,
    MergedKeyPoint,
    MergeKeyPoints,
    RateKeywords,
    RateReport,
    ScorePair,
    VerifySupport,
)
from tasks.judges.text import collapse_whitespace, has_words

DecisionFunction = Callable[..., Awaitable[Sequence[JudgeAnswer]]]

DECISION_FUNCTIONS: dict[type[DecisionRequest], DecisionFunction] = {
    VerifyClaims: verify_claims,
    VerifyAgainstPage: partial(verify_statements, PageVerdicts),
    CompareArticles: compare_articles,
    MatchClaims: match_claims,
    GradeValues: grade_values,
    GradeItems: grade_items,
    RateKeywords: rate_keywords,
    CheckPoints: check_points,
    VerifySupport: partial(verify_statements, SupportVerdicts),
    RateReport: rate_report,
    CheckCitations: partial(verify_statements, CitationVerdicts),
    ScorePair: score_pair,
}
"""The function for each decision; its arguments are a `PromptedModel` and the request."""


class LlmJudge(PromptedModel):
    """A judge and extractor that uses a model of `configs/judges.yaml`."""

    sees_conflict = True
    lexical = False
    cpu_bound = False
    fallback: Judge | None = None
    """Asked about the items that it refuses, if its session has opened it."""
    decides: frozenset[type[Frozen]] = frozenset(
        {*DECISION_FUNCTIONS, ExtractFacts, ExtractClaims, ExtractKeyPoints, MergeKeyPoints}
    )

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        return page_key_parts(self, longest_bytes, max_claims)

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        answers = await DECISION_FUNCTIONS[type(request)](self, request)
        return await ask_fallback(self.fallback, request, answers) if self.fallback else answers

    async def extract(
        self, request: ExtractFacts | ExtractClaims, *, again: bool = False
    ) -> StepAnswer[tuple[ExtractedStatement, ...]]:
        """Extract the statements of a text. again: ask about the empty list that it answered."""
        if isinstance(request, ExtractClaims):
            return await self.extract_claims(request, again=again)
        return await self.extract_facts(request, again=again)

    async def extract_facts(
        self, request: ExtractFacts, *, again: bool = False
    ) -> StepAnswer[tuple[ExtractedStatement, ...]]:
        """Extract the statements of a reference article."""
        return await self.answer_step(
            request,
            ReplyFacts,
            lambda reply: _list_statements(
                ExtractedStatement(text=collapse_whitespace(fact.statement)) for fact in reply.facts
            ),
            doubted=ReplyFacts(facts=[]) if again else None,
        )

    async def extract_claims(
        self, request: ExtractClaims, *, again: bool = False
    ) -> StepAnswer[tuple[ExtractedStatement, ...]]:
        """Extract the statements of a report with the markers they cite."""
        return await self.answer_step(
            request,
            ReplyClaims,
            lambda reply: _list_statements(
                ExtractedStatement(
                    text=collapse_whitespace(claim.statement), markers=tuple(claim.markers)
                )
                for claim in reply.claims
            ),
            doubted=ReplyClaims(claims=[]) if again else None,
        )

    async def extract_key_points(
        self, request: ExtractKeyPoints
    ) -> StepAnswer[tuple[FoundKeyPoint, ...]]:
        """Extract the points of one document; unless empty, some have a span that stands in it."""
        return await extract_points(self, request)

    async def merge_key_points(
        self, request: MergeKeyPoints
    ) -> StepAnswer[tuple[MergedKeyPoint, ...]]:
        """Merge the points of all documents."""
        return await merge_points(self, request)


def _list_statements(found: Iterable[ExtractedStatement]) -> tuple[ExtractedStatement, ...]:
    """Return the statements with a text; none if no letter or digit stands in any of them."""
    stated = tuple(statement for statement in found if statement.text)
    return stated if any(has_words(statement.text) for statement in stated) else ()

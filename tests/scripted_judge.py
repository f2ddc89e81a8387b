"""A judge that answers by script: every decision of the seam, no model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tasks.base import Frozen
from tasks.judges.decisions import (
    CONFLICT,
    CONSISTENT,
    CONTRADICTED,
    FULL,
    INCONSISTENT,
    NONE,
    NOT_SUPPORT,
    OMITTED,
    PARTIAL,
    SUPPORT,
    SUPPORTED,
    DecisionRequest,
    JudgeAnswer,
)
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.compare_articles import CompareArticles
from tasks.judges.questions.grade_values import GradeValues
from tasks.judges.questions.match_claims import MatchClaims
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.questions.verify_support import VerifySupport
from tasks.warehouse.rows import Status


class ScriptedJudge:
    """Supports what stands word for word in the evidence; contradicts `not X` where X stands."""

    name = "scripted"
    model_version = "scripted-1"
    reads: frozenset[str] = frozenset()
    sees_conflict = True
    lexical = False
    cpu_bound = False
    decides: frozenset[type[Frozen]] = frozenset(
        {
            VerifyClaims,
            VerifyAgainstPage,
            CompareArticles,
            MatchClaims,
            GradeValues,
            CheckPoints,
            VerifySupport,
            RateReport,
        }
    )

    def __init__(self, failing: frozenset[str] = frozenset()) -> None:
        self.failing = failing
        self.asked: list[Frozen] = []

    def prompt_sha(self, protocol: str) -> str:
        return f"sha-of-{protocol}"

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        return ()

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        deciding: dict[type[DecisionRequest], Callable[[Any], Awaitable[Sequence[JudgeAnswer]]]] = {
            VerifyClaims: self.verify_claims,
            VerifyAgainstPage: self.verify_against_page,
            CompareArticles: self.compare_articles,
            MatchClaims: self.match_claims,
            GradeValues: self.grade_values,
            CheckPoints: self.check_points,
            VerifySupport: self.verify_support,
            RateReport: self.rate_report,
        }
        return await deciding[type(request)](request)

    async def verify_claims(self, request: VerifyClaims) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        evidence = [" ".join(request.pool[index] for index in found) for found in request.retrieved]
        return [
            self._answer(claim, found, CONSISTENT, INCONSISTENT)
            for claim, found in zip(request.claims, evidence, strict=True)
        ]

    async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        return [self._answer(c, request.page, SUPPORT, CONFLICT) for c in request.claims]

    async def compare_articles(self, request: CompareArticles) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        better = "second" if len(request.second) > len(request.first) else "first"
        return [JudgeAnswer(status=Status.OK, label=better)] * len(request.criteria)

    async def match_claims(self, request: MatchClaims) -> Sequence[JudgeAnswer]:
        """`~X` states the truth whose text begins with X; failing claims are errors."""
        self.asked.append(request)
        return [self._matched(claim, request.truths) for claim in request.answered]

    def _matched(self, claim: str, truths: Sequence[str]) -> JudgeAnswer:
        if claim in self.failing:
            return JudgeAnswer(status=Status.JUDGE_ERROR, reason="scripted failure")
        said = claim.replace("~", "")
        for index, truth in enumerate(truths):
            if claim != said and truth.startswith(said):
                return JudgeAnswer(status=Status.OK, label=f"truth:{index}")
        return JudgeAnswer(status=Status.OK, label="none")

    async def grade_values(self, request: GradeValues) -> Sequence[JudgeAnswer]:
        """As many points as the answered value has `~` before the true one; 0 if it is another."""
        self.asked.append(request)
        return [
            JudgeAnswer(status=Status.JUDGE_ERROR, reason="scripted failure")
            if value.answered in self.failing
            else JudgeAnswer(status=Status.OK, label=_grade(value.answered, value.truth))
            for value in request.values
        ]

    async def check_points(self, request: CheckPoints) -> Sequence[JudgeAnswer]:
        self.asked.append(request)
        return [
            self._answer(point, request.report, SUPPORTED, CONTRADICTED, OMITTED)
            for point in request.points
        ]

    async def verify_support(self, request: VerifySupport) -> Sequence[JudgeAnswer]:
        """`half X` is supported in part where X stands."""
        self.asked.append(request)
        return [
            JudgeAnswer(status=Status.OK, label=PARTIAL)
            if claim.startswith("half ") and claim.removeprefix("half ") in request.page
            else self._answer(claim, request.page, FULL, NONE, NONE)
            for claim in request.claims
        ]

    async def rate_report(self, request: RateReport) -> Sequence[JudgeAnswer]:
        """One point of ten a word."""
        self.asked.append(request)
        score = str(min(10, len(request.report.split())))
        return [
            JudgeAnswer(status=Status.JUDGE_ERROR, reason="scripted failure")
            if criterion.id in self.failing
            else JudgeAnswer(status=Status.OK, label=score)
            for criterion in request.criteria
        ]

    def _answer(
        self,
        claim: str,
        evidence: str,
        positive: str,
        negative: str,
        neither: str = NOT_SUPPORT,
    ) -> JudgeAnswer:
        if claim in self.failing:
            return JudgeAnswer(status=Status.JUDGE_ERROR, reason="scripted failure")
        if claim in evidence:
            return JudgeAnswer(status=Status.OK, label=positive, score=1.0)
        contradicted = claim.startswith("not ") and claim.removeprefix("not ") in evidence
        return JudgeAnswer(status=Status.OK, label=negative if contradicted else neither, score=0.0)


def _grade(answered: str, truth: str) -> str:
    same = answered.lstrip("~") == truth
    return str(answered.count("~")) if same else "0"

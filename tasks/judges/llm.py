"""The LLM judge: every decision of the seam by prompt and schema, through any model."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tasks.frozen import Frozen
from tasks.judges.asking import AsksModel, ok, still_open
from tasks.judges.attached import why_not_shown
from tasks.judges.decisions import (
    FIRST,
    NOT_SUPPORT,
    SECOND,
    TIE,
    Answer,
    CompareArticles,
    ExtractClaims,
    Extracted,
    ExtractFacts,
    GradeValues,
    MatchClaims,
    Statement,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.llm_claims import graded_values, matched_claims
from tasks.judges.llm_page import answers_against_page, page_reading
from tasks.judges.replies import (
    ClaimVerdict,
    ClaimVerdicts,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    StatedClaims,
    StatedFacts,
)
from tasks.judges.text import one_line
from tasks.models.gateway import Outcome
from tasks.warehouse.rows import Status

AT_ONCE = 8
"""Prompts made in one go; then what has been answered meanwhile has its turn, so that making
prompts does not leave the model idle."""
WINNERS = {"article_1": FIRST, "article_2": SECOND, "tie": TIE}
NO_EVIDENCE = "no sentence of the other text shares a word with it; no model was asked"


class LlmJudge(AsksModel):
    """A model of `configs/judges.yaml`, asked through `asker`."""

    sees_conflict = True
    cpu_bound = False
    decides: frozenset[type[Frozen]] = frozenset(
        {
            VerifyClaims,
            VerifyAgainstPage,
            CompareArticles,
            MatchClaims,
            GradeValues,
            ExtractFacts,
            ExtractClaims,
        }
    )

    async def verify_claims(self, request: VerifyClaims) -> Sequence[Answer]:
        """One answer per claim; a claim for which nothing was retrieved needs no call."""
        pool = [one_line(sentence) for sentence in request.pool]
        evidence = [tuple(pool[index] for index in found) for found in request.retrieved]
        asked = [index for index, found in enumerate(evidence) if found]
        size = self.entry.claims_per_call
        groups = [asked[start : start + size] for start in range(0, len(asked), size)]
        asked_for = []
        for number, group in enumerate(groups, start=1):
            items = [(request.claims[index], evidence[index]) for index in group]
            asked_for.append(asyncio.create_task(self._verified(request.prompt, items)))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        decided = await asyncio.gather(*asked_for)
        answers = [
            Answer(status=Status.OK, label=NOT_SUPPORT, reason=NO_EVIDENCE) for _ in request.claims
        ]
        for group, found_answers in zip(groups, decided, strict=True):
            for index, answer in zip(group, found_answers, strict=True):
                answers[index] = answer
        return answers

    def page_reading(self, longest_bytes: int, most_claims: int) -> tuple[str, ...]:
        return page_reading(self._asking, longest_bytes, most_claims)

    async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[Answer]:
        return await answers_against_page(self._asking, request)

    async def compare_articles(self, request: CompareArticles) -> Sequence[Answer]:
        n = len(request.criteria)
        ids = [criterion.id for criterion in request.criteria]
        form: Any = CriterionVerdictsOrTies if request.allow_tie else CriterionVerdicts
        values = {
            "first": request.first,
            "second": request.second,
            "criteria": [criterion.model_dump() for criterion in request.criteria],
            "allow_tie": request.allow_tie,
        }
        attached = None
        if request.attached:
            if reason := why_not_shown(self.name, self.reads, request.attachments):
                said = f"not_assessed: the article is no text; {reason}"
                return [Answer(status=Status.NOT_ASSESSED, reason=said)] * n
            attached = self._asking.attached(request.attachments)
            values[request.attached] = attached.article
        outcome: Outcome[list[Any]] = await self._asking.decided(
            request.prompt, values, form, "criterion", ids, beside=attached
        )
        if outcome.value is None:
            return [still_open(outcome, n)] * n
        return [
            ok(outcome, n, WINNERS[verdict.winner], verdict.reason) for verdict in outcome.value
        ]

    async def match_claims(self, request: MatchClaims) -> Sequence[Answer]:
        return await matched_claims(self._asking, request)

    async def grade_values(self, request: GradeValues) -> Sequence[Answer]:
        return await graded_values(self._asking, request)

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

    async def _verified(
        self, prompt: str, items: Sequence[tuple[str, tuple[str, ...]]]
    ) -> list[Answer]:
        n = len(items)
        values = {
            "items": [
                {
                    "number": number,
                    "claim": one_line(claim),
                    "evidence": "\n".join(f"[{i}] {text}" for i, text in enumerate(evidence, 1)),
                }
                for number, (claim, evidence) in enumerate(items, start=1)
            ]
        }
        outcome: Outcome[list[ClaimVerdict]] = await self._asking.decided(
            prompt, values, ClaimVerdicts, "item", range(1, n + 1)
        )
        if outcome.value is None:
            return [still_open(outcome, n)] * n
        return [
            ok(outcome, n, verdict.verdict, verdict.reason, _pointed_at(verdict, evidence))
            for verdict, (_, evidence) in zip(outcome.value, items, strict=True)
        ]


def _extracted(outcome: Outcome[Any], statements: Sequence[Statement]) -> Extracted:
    return Extracted(
        status=outcome.status,
        statements=tuple(s for s in statements if s.text),
        reason=outcome.reason,
        call_id=outcome.call.call_id if outcome.call else None,
    )


def _pointed_at(verdict: ClaimVerdict, evidence: Sequence[str]) -> str | None:
    """The pieces of evidence a verdict names, those that exist."""
    named = [evidence[n - 1] for n in verdict.evidence if 1 <= n <= len(evidence)]
    return "\n".join(dict.fromkeys(named)) or None

"""Drafting by an LLM: each step has a prompt and a reply form."""

from collections.abc import Sequence

from tasks.judges.decisions import StepAnswer
from tasks.judges.drafting import (
    CheckRubrics,
    DraftedKeywords,
    DraftedRubric,
    DraftKeywords,
    DraftRubrics,
    RubricCheck,
    WriteClosedBook,
)
from tasks.judges.forms.steps import ReplyReport, ReplyRubrics
from tasks.judges.forms.verdicts import RubricVerdicts
from tasks.judges.llm.requests import PromptedModel, make_step_answer
from tasks.judges.text import collapse_whitespace

MAX_REPORT_CHARS = 60_000
"""Longer reports are cut: a report from memory has a few pages."""


class LlmDrafter(PromptedModel):
    """A drafter of rubrics that uses a model of `configs/judges.yaml`."""

    async def draft_rubrics(self, request: DraftRubrics) -> StepAnswer[tuple[DraftedRubric, ...]]:
        """Draft rubrics, the most important first."""
        return await self.answer_step(
            request,
            ReplyRubrics,
            lambda reply: tuple(
                DraftedRubric(
                    text=stated.rubric,
                    facts=tuple(sorted({*stated.facts})),
                    points=stated.points,
                    ternary=stated.kind == "ternary",
                )
                for stated in reply.rubrics[: 2 * request.n_rubrics]
            ),
            facts=_number_facts(request.facts),
        )

    async def check_rubrics(self, request: CheckRubrics) -> StepAnswer[tuple[RubricCheck, ...]]:
        """Check each rubric, in order, all in one call."""
        values = {
            "title": request.title,
            "rubrics": [
                {
                    "text": text,
                    "grounds": "\n".join(f"- {collapse_whitespace(fact)}" for fact in grounds),
                }
                for text, grounds in zip(request.rubrics, request.grounds, strict=True)
            ],
        }
        outcome = await self.ask_items(
            request.prompt, values, RubricVerdicts, "rubric", range(1, len(request.rubrics) + 1)
        )
        return make_step_answer(
            outcome,
            lambda results: tuple(
                RubricCheck(keep=one.verdict == "keep", reason=one.reason) for one in results
            ),
        )

    async def draft_keywords(self, request: DraftKeywords) -> StepAnswer[DraftedKeywords]:
        """Draft keywords, the best of each kind first."""
        return await self.answer_step(
            request, DraftedKeywords, lambda reply: reply, facts=_number_facts(request.facts)
        )

    async def write_closed_book(self, request: WriteClosedBook) -> StepAnswer[str]:
        """Write the report; empty if the model knows nothing of the subject."""
        return await self.answer_step(
            request, ReplyReport, lambda reply: reply.report.strip()[:MAX_REPORT_CHARS]
        )


def _number_facts(facts: Sequence[str]) -> str:
    return "\n".join(f"[{n}] {collapse_whitespace(fact)}" for n, fact in enumerate(facts, start=1))

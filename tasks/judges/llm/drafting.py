"""Drafting by an LLM: every step by prompt and schema, through any model."""

from collections.abc import Sequence

from tasks.judges.drafting import (
    CheckRubrics,
    DraftedKeywords,
    DraftedRubric,
    DraftKeywords,
    DraftRubrics,
    RubricCheck,
    WriteClosedBook,
)
from tasks.judges.forms.drafting import (
    LookedAtRubric,
    LookedAtRubrics,
    StatedKeywords,
    StatedRubrics,
    WrittenReport,
)
from tasks.judges.inversion import Said
from tasks.judges.llm.inversion import line_of, lines_of, said_of
from tasks.judges.llm.requests import AsksModel
from tasks.judges.text import one_line
from tasks.models.gateway import Outcome

MAX_REPORT_CHARS = 60_000
"""What is longer is read no further: a report from memory is a few pages."""


class LlmDrafter(AsksModel):
    """A model of `configs/judges.yaml`, asked through `asker`."""

    async def draft_rubrics(self, request: DraftRubrics) -> Said[tuple[DraftedRubric, ...]]:
        values = request.model_dump(exclude={"prompt"}) | {"facts": _numbered(request.facts)}
        outcome = await self._asking.stated(request.prompt, values, StatedRubrics)
        return said_of(
            outcome,
            lambda reply: tuple(
                DraftedRubric(
                    text=line_of(stated.rubric),
                    facts=tuple(sorted({*stated.facts})),
                    points=stated.points,
                    ternary=stated.kind == "ternary",
                )
                for stated in reply.rubrics[: 2 * request.n_rubrics]
            ),
        )

    async def check_rubrics(self, request: CheckRubrics) -> Said[tuple[RubricCheck, ...]]:
        """All in one call."""
        values = {
            "title": request.title,
            "rubrics": [
                {"text": text, "grounds": "\n".join(f"- {one_line(fact)}" for fact in grounds)}
                for text, grounds in zip(request.rubrics, request.grounds, strict=True)
            ],
        }
        outcome: Outcome[list[LookedAtRubric]] = await self._asking.decided(
            request.prompt, values, LookedAtRubrics, "rubric", range(1, len(request.rubrics) + 1)
        )
        return said_of(
            outcome,
            lambda results: tuple(
                RubricCheck(keep=one.verdict == "keep", reason=line_of(one.reason))
                for one in results
            ),
        )

    async def draft_keywords(self, request: DraftKeywords) -> Said[DraftedKeywords]:
        values = request.model_dump(exclude={"prompt"}) | {"facts": _numbered(request.facts)}
        outcome = await self._asking.stated(request.prompt, values, StatedKeywords)
        return said_of(
            outcome,
            lambda reply: DraftedKeywords(
                focus=lines_of(reply.focus), deviation=lines_of(reply.deviation)
            ),
        )

    async def write_closed_book(self, request: WriteClosedBook) -> Said[str]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._asking.stated(request.prompt, values, WrittenReport)
        return said_of(outcome, lambda reply: reply.report.strip()[:MAX_REPORT_CHARS])


def _numbered(facts: Sequence[str]) -> str:
    return "\n".join(f"[{n}] {one_line(fact)}" for n, fact in enumerate(facts, start=1))

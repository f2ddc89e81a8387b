"""What should a report on a subject say?

No answer is trusted, as of all questions of drafting: whatever can be checked without a model is,
and a person reviews the rest.
"""

from collections.abc import Sequence
from typing import Literal

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Line, ReplyModel
from tasks.judges.text import collapse_whitespace


class ReplyRubric(ReplyModel):
    facts: list[int]
    """1-based numbers of the facts."""
    kind: Literal["binary", "ternary"]
    points: Literal[1, 2, 3]
    rubric: Line


class ReplyRubrics(ReplyModel):
    rubrics: list[ReplyRubric]


class DraftedRubric(Frozen):
    """A drafted requirement on reports about the article's subject."""

    text: str
    """A question about the report, answered with yes or no (or partly)."""
    facts: tuple[int, ...]
    """1-based numbers of the facts behind it."""
    points: int
    ternary: bool = False
    """Whether it can be fulfilled by half."""


class DraftRubrics(StepRequest[tuple[DraftedRubric, ...]]):
    """What should a report on this subject say, by these facts?"""

    forms = (ReplyRubrics,)

    title: str
    facts: tuple[str, ...]
    n_rubrics: int
    known: tuple[str, ...] = ()
    """Rubrics that exist already."""
    problems: tuple[str, ...] = ()
    """Problems of rejected ones."""
    prompt: str = "drafting/draft_rubrics"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[DraftedRubric, ...]]:
        """Draft rubrics, the most important first."""
        return await model.answer_step(
            self,
            ReplyRubrics,
            lambda reply: tuple(
                DraftedRubric(
                    text=stated.rubric,
                    facts=tuple(sorted({*stated.facts})),
                    points=stated.points,
                    ternary=stated.kind == "ternary",
                )
                for stated in reply.rubrics[: 2 * self.n_rubrics]
            ),
            facts=number_facts(self.facts),
        )


def number_facts(facts: Sequence[str]) -> str:
    """Return the facts for a prompt, a line each."""
    return "\n".join(f"[{n}] {collapse_whitespace(fact)}" for n, fact in enumerate(facts, start=1))

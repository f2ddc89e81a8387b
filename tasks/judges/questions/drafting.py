"""Questions of drafting: what should a report on a subject say?

No answer is trusted: whatever can be checked without a model is, and a person reviews the rest.
"""

from collections.abc import Sequence
from typing import Literal

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel, make_step_answer
from tasks.judges.replies import ItemResults, Line, Lines, ReplyModel
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


class RubricVerdict(ReplyModel):
    reason: Line
    rubric: int
    """The rubric's number, 1-based."""
    verdict: Literal["keep", "drop"]


class RubricCheck(Frozen):
    """The result of checking a rubric."""

    keep: bool
    reason: str


class CheckRubrics(StepRequest[tuple[RubricCheck, ...]]):
    """Is each rubric one thing that can be checked, does it follow from its facts, and does it
    need research?"""

    forms = (ItemResults[RubricVerdict],)

    title: str
    rubrics: tuple[str, ...]
    grounds: tuple[tuple[str, ...], ...]
    """For each rubric, the facts behind it."""
    prompt: str = "drafting/check_rubrics"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[RubricCheck, ...]]:
        """Check each rubric, in order, all in one call."""
        values = {
            "title": self.title,
            "rubrics": [
                {
                    "text": text,
                    "grounds": "\n".join(f"- {collapse_whitespace(fact)}" for fact in grounds),
                }
                for text, grounds in zip(self.rubrics, self.grounds, strict=True)
            ],
        }
        numbers = range(1, len(self.rubrics) + 1)
        outcome = await model.ask_items(
            self.prompt, values, ItemResults[RubricVerdict], "rubric", numbers
        )
        return make_step_answer(
            outcome,
            lambda results: tuple(
                RubricCheck(keep=one.verdict == "keep", reason=one.reason) for one in results
            ),
        )


class DraftedKeywords(ReplyModel):
    """Keywords that a report should cover, and those of drifted reports."""

    deviation: Lines
    focus: Lines


class DraftKeywords(StepRequest[DraftedKeywords]):
    """Which words must a report on this subject cover, and which show that it has drifted?"""

    forms = (DraftedKeywords,)

    title: str
    facts: tuple[str, ...]
    n_keywords: int
    problems: tuple[str, ...] = ()
    prompt: str = "drafting/draft_keywords"

    async def ask(self, model: PromptedModel) -> StepAnswer[DraftedKeywords]:
        """Draft keywords, the best of each kind first."""
        return await model.answer_step(
            self, DraftedKeywords, lambda reply: reply, facts=number_facts(self.facts)
        )


MAX_REPORT_CHARS = 60_000
"""Longer reports are cut: a report from memory has a few pages."""


class ReplyReport(ReplyModel):
    report: str


class WriteClosedBook(StepRequest[str]):
    """Write a report on the subject from memory alone."""

    forms = (ReplyReport,)

    title: str
    prompt: str = "drafting/write_closed_book"

    async def ask(self, model: PromptedModel) -> StepAnswer[str]:
        """Write the report; empty if the model knows nothing of the subject."""
        return await model.answer_step(
            self, ReplyReport, lambda reply: reply.report.strip()[:MAX_REPORT_CHARS]
        )

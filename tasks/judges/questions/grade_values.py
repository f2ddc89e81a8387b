"""How well does each answered value state the true one?"""

from typing import ClassVar, Literal

from tasks.base import Frozen
from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel


class NamedValue(Frozen):
    """A property of a claim: the true value and the answered one."""

    name: str
    truth: str
    answered: str


class ValueGrade(ReplyModel):
    item: int
    reason: str
    score: Literal["0", "1", "2", "3"]


class GradeValues(DecisionRequest):
    """How well does each answered value state the true one? Labels: `0` (wrong or missing) to
    `3` (the same). Source: LiveDRBench, whose code counts 2 and 3 as right."""

    action: ClassVar[str] = "grade values"
    decided: ClassVar[str] = "values"
    forms = (ItemResults[ValueGrade],)

    question: str
    values: tuple[NamedValue, ...]
    note: str = ""
    prompt: str = "claim_discovery/grade_values"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each value, all in one call."""
        n, values = self.n_items, self.template_values()
        form = ItemResults[ValueGrade]
        outcome = await model.ask_items(self.prompt, values, form, "item", range(1, n + 1))
        return make_answers(outcome, n, lambda grade: ItemReading(grade.score, grade.reason))

"""Is each drafted rubric of use?"""

from typing import Literal

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel, make_step_answer
from tasks.judges.replies import ItemResults, Line, ReplyModel
from tasks.judges.text import collapse_whitespace


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

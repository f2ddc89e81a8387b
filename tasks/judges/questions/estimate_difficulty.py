"""How much searching and reading does a question need?"""

from math import isfinite

from pydantic import field_validator

from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Lines, ReplyModel


class Effort(ReplyModel):
    """The judge's estimate of what an expert needs for a question."""

    queries: Lines
    """The searches to be made."""
    units: Lines
    """The pieces of information to be found and combined."""
    minutes: float

    @field_validator("minutes")
    @classmethod
    def _check_minutes(cls, minutes: float) -> float:
        # Not in the schema: some endpoints take no bounds.
        if not isfinite(minutes) or minutes <= 0:
            raise ValueError("expected a number of minutes above 0")
        return minutes


class EstimateDifficulty(StepRequest[Effort]):
    """How much searching and reading does an expert need for the question?"""

    forms = (Effort,)

    question: str
    answer: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/estimate_difficulty"

    async def ask(self, model: PromptedModel) -> StepAnswer[Effort]:
        return await model.answer_step(self, Effort, lambda effort: effort)

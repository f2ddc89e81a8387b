"""How good is a report by each criterion?"""

from typing import ClassVar, Literal

from tasks.judges.decisions import Criterion, DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel


class Rating(ReplyModel):
    criterion: str
    reason: str
    score: Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]


class RateReport(DecisionRequest):
    """How good is the report by each criterion? Labels: whole numbers `0` to `10`. Source:
    DeepResearchGym, clarity and insight."""

    action: ClassVar[str] = "rate reports"
    decided: ClassVar[str] = "criteria"
    forms = (ItemResults[Rating],)

    question: str
    report: str
    criteria: tuple[Criterion, ...]
    prompt: str = "research_gym/rate_report"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each criterion."""
        ids, values = [criterion.id for criterion in self.criteria], self.template_values()
        outcome = await model.ask_items(self.prompt, values, ItemResults[Rating], "criterion", ids)
        return make_answers(
            outcome, len(ids), lambda rating: ItemReading(rating.score, rating.reason)
        )

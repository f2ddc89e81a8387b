"""How much is a report about each keyword?"""

from typing import ClassVar, Literal

from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.judges.text import collapse_whitespace


class KeywordRating(ReplyModel):
    keyword: int
    """The keyword's number, 1-based."""
    reason: str
    score: Literal["1", "2", "3", "4", "5"]


class RateKeywords(DecisionRequest):
    """How much is the report about each keyword? Labels: `1` (absent or unrelated) to `5` (its
    central theme). Source: Rigorous Bench, semantic drift."""

    action: ClassVar[str] = "rate keywords"
    decided: ClassVar[str] = "keywords"
    forms = (ItemResults[KeywordRating],)

    report: str
    """Its text without annotations."""
    keywords: tuple[str, ...]
    prompt: str = "rigorous/rate_keywords"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each keyword, all in one call."""
        n = self.n_items
        outcome = await model.ask_items(
            self.prompt,
            {
                "report": self.report,
                "keywords": [collapse_whitespace(keyword) for keyword in self.keywords],
            },
            ItemResults[KeywordRating],
            "keyword",
            range(1, n + 1),
            shared_text="report",
        )
        return make_answers(outcome, n, lambda rating: ItemReading(rating.score, rating.reason))

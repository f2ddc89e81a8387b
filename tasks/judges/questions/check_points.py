"""Does a report support each key point?"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import (
    ItemReading,
    PromptedModel,
    ask_first_alone,
    make_answers,
    split_batches,
)
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.judges.text import collapse_whitespace, verify_quote


class PointVerdict(ReplyModel):
    passage: str
    """Quoted from the report; empty if the point is omitted."""
    point: int
    reason: str
    verdict: Literal["supported", "omitted", "contradicted"]


class CheckPoints(DecisionRequest):
    """Does the report support each key point? Labels: `supported` (it affirms or explains it),
    `omitted`, `contradicted`. Source: DeepResearchGym, which judges one point per call."""

    action: ClassVar[str] = "check key points"
    decided: ClassVar[str] = "points"
    forms = (ItemResults[PointVerdict],)

    question: str
    report: str
    points: tuple[str, ...]
    prompt: str = "research_gym/check_points"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each point. The first call is sent alone, so that the report is in the
        provider's cache for the others."""

        def read(said: PointVerdict) -> ItemReading:
            quoted = verify_quote(said.passage, self.report)
            return ItemReading(said.verdict, said.reason, quoted)

        async def check(points: Sequence[str]) -> list[JudgeAnswer]:
            n = len(points)
            values = {
                "question": self.question,
                "report": self.report,
                "points": [collapse_whitespace(point) for point in points],
            }
            outcome = await model.ask_items(
                self.prompt,
                values,
                ItemResults[PointVerdict],
                "point",
                range(1, n + 1),
                shared_text="report",
            )
            return make_answers(outcome, n, read)

        return await ask_first_alone(check, split_batches(self.points, model.entry.claims_per_call))

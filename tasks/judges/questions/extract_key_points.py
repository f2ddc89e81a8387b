"""Which points of a document help to answer a query?"""

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import ReplyModel
from tasks.judges.text import collapse_whitespace, occurs_in
from tasks.models.gateway import InvalidReply


class ReplyPoint(ReplyModel):
    point: str
    spans: list[str]
    """Quotations from the document."""


class ReplyPoints(ReplyModel):
    points: list[ReplyPoint]


class FoundKeyPoint(Frozen):
    """A key point with the judge's quotations for it."""

    text: str
    spans: tuple[str, ...] = ()


class ExtractKeyPoints(StepRequest[tuple[FoundKeyPoint, ...]]):
    """Which points of this document help to answer the query, and where does it state them?"""

    forms = (ReplyPoints,)

    question: str
    document: str
    prompt: str = "key_points/extract"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[FoundKeyPoint, ...]]:
        """Extract the points. An answer is unusable if no span of its points stands in the
        document; the spans of each single point are not checked here."""

        def read(reply: ReplyPoints) -> tuple[FoundKeyPoint, ...]:
            return tuple(
                FoundKeyPoint(text=text, spans=tuple(stated.spans))
                for stated in reply.points
                if (text := collapse_whitespace(stated.point))
            )

        def check(reply: ReplyPoints) -> None:
            spans = {s for stated in reply.points if stated.point.strip() for s in stated.spans}
            if reply.points and not any(occurs_in(span, self.document) for span in spans):
                raise InvalidReply(
                    f"spans: no span stands in the document, word for word ({len(spans)} given)"
                )

        return await model.answer_step(self, ReplyPoints, read, check)

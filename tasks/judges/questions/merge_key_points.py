"""Which points say the same?"""

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import ReplyModel
from tasks.judges.text import collapse_whitespace
from tasks.models.gateway import InvalidReply


class ReplyMergedPoint(ReplyModel):
    merged_from: list[int]
    """1-based numbers of the points merged in it."""
    point: str


class ReplyMergedPoints(ReplyModel):
    points: list[ReplyMergedPoint]


class MergedKeyPoint(Frozen):
    """A key point merged from one or more points."""

    text: str
    merged_from: tuple[int, ...]
    """1-based indices of the request's points; each is in one merged point, or in several if it
    held several ideas."""


class MergeKeyPoints(StepRequest[tuple[MergedKeyPoint, ...]]):
    """Merge duplicate points: one atomic idea each; contradicting points become one that states
    both. All information is kept."""

    forms = (ReplyMergedPoints,)

    question: str
    points: tuple[str, ...]
    prompt: str = "key_points/merge"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[MergedKeyPoint, ...]]:
        """Merge the points of all documents; an answer that loses a point, or names an unknown
        one, is unusable."""

        def read(reply: ReplyMergedPoints) -> tuple[MergedKeyPoint, ...]:
            return tuple(
                MergedKeyPoint(
                    text=collapse_whitespace(stated.point),
                    merged_from=tuple(sorted({*stated.merged_from})),
                )
                for stated in reply.points
            )

        points = [collapse_whitespace(point) for point in self.points]
        return await model.answer_step(self, ReplyMergedPoints, read, self._check, points=points)

    def _check(self, reply: ReplyMergedPoints) -> None:
        n_points = len(self.points)
        named = {number for point in reply.points for number in point.merged_from}
        asked = set(range(1, n_points + 1))
        if wrong := sorted(named - asked):
            raise InvalidReply(f"merged_from: {wrong[0]} is none of 1 to {n_points}")
        if lost := sorted(asked - named):
            raise InvalidReply(f"merged_from: {lost[0]} is in no point ({len(lost)} of {n_points})")
        if any(not point.merged_from or not point.point.strip() for point in reply.points):
            raise InvalidReply("points: one has no text, or is merged from nothing")

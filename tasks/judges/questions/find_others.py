"""What else has all the properties that a question asks for?"""

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Limited, Line, ReplyModel


class ReplyAlternative(ReplyModel):
    # Named `value`, not `answer`: keys are sent in alphabetical order, the reason comes first.
    reason: Line
    value: Line


class ReplyAlternatives(ReplyModel):
    others: Limited[ReplyAlternative]


class OtherAnswer(Frozen):
    """Another answer that, according to the judge, has every property asked for."""

    value: str
    reason: str


class FindOthers(StepRequest[tuple[OtherAnswer, ...]]):
    """What else has all the properties that the question asks for?"""

    forms = (ReplyAlternatives,)

    question: str
    answer: str
    prompt: str = "inversion/find_others"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[OtherAnswer, ...]]:
        """Find other answers; empty if there are none."""
        return await model.answer_step(
            self,
            ReplyAlternatives,
            lambda reply: tuple(
                OtherAnswer(value=other.value, reason=other.reason)
                for other in reply.others
                if other.value
            ),
        )

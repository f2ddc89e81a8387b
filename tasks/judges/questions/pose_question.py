"""How can one ask for an answer by its properties?"""

from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Line, ReplyModel


class ReplyQuestion(ReplyModel):
    question: Line


class PoseQuestion(StepRequest[str]):
    """Ask for the answer by these properties, without naming it or the article."""

    forms = (ReplyQuestion,)

    kind: str
    properties: tuple[str, ...]
    asked_of_it: tuple[str, ...]
    """Names of the sub-claims that the question also asks for."""
    unnamed: tuple[str, ...]
    """Names the question must avoid: the answer, its other names, the article's title."""
    previous: str | None = None
    """The rejected question before this one."""
    problem: str | None = None
    """Why it was rejected."""
    prompt: str = "inversion/pose_question"

    async def ask(self, model: PromptedModel) -> StepAnswer[str]:
        return await model.answer_step(self, ReplyQuestion, lambda reply: reply.question)

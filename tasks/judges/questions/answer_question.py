"""What does a judge answer to a posed question, from memory or from a page?"""

from tasks.base import Frozen
from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Limited, Line, ReplyModel


class ReplySubAnswer(ReplyModel):
    name: Line
    value: Line


class ReplyAnswer(ReplyModel):
    answer: Line
    sub_claims: Limited[ReplySubAnswer]


class ReplyAnswers(ReplyModel):
    answers: Limited[ReplyAnswer]


class FoundAnswer(Frozen):
    """A judge's answer to a posed question."""

    value: str
    sub_claims: tuple[tuple[str, str], ...] = ()
    """Pairs of name and value."""


class AnswerClosedBook(StepRequest[tuple[FoundAnswer, ...]]):
    """Answer the question from memory alone."""

    forms = (ReplyAnswers,)

    question: str
    asked_of_it: tuple[str, ...]
    prompt: str = "inversion/answer_closed_book"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[FoundAnswer, ...]]:
        """Answer; empty if the judge does not know, or the page does not tell."""
        return await model.answer_step(
            self,
            ReplyAnswers,
            lambda reply: tuple(
                FoundAnswer(
                    value=answer.answer,
                    sub_claims=tuple(
                        (sub.name, sub.value) for sub in answer.sub_claims if sub.value
                    ),
                )
                for answer in reply.answers
                if answer.answer
            ),
        )


class AnswerFromPage(AnswerClosedBook):
    """Answer the question from one page alone."""

    page: str
    prompt: str = "inversion/answer_from_page"

"""Problem inversion by an LLM: each step has a prompt and a reply form."""

from tasks.judges.decisions import StepAnswer
from tasks.judges.forms.steps import (
    ReplyAlternatives,
    ReplyAnswers,
    ReplyQuestion,
    ReplyTargets,
)
from tasks.judges.inversion import (
    AnswerClosedBook,
    AnswerFromPage,
    Effort,
    EstimateDifficulty,
    FindOthers,
    FindTargets,
    FoundAnswer,
    OtherAnswer,
    PoseQuestion,
    QuestionTarget,
)
from tasks.judges.llm.requests import PromptedModel


class LlmInverter(PromptedModel):
    """An `Inverter` that uses a model of `configs/judges.yaml`."""

    async def find_targets(self, request: FindTargets) -> StepAnswer[tuple[QuestionTarget, ...]]:
        return await self.answer_step(
            request, ReplyTargets, lambda reply: tuple(reply.targets[: request.n_targets])
        )

    async def pose_question(self, request: PoseQuestion) -> StepAnswer[str]:
        return await self.answer_step(request, ReplyQuestion, lambda reply: reply.question)

    async def find_others(self, request: FindOthers) -> StepAnswer[tuple[OtherAnswer, ...]]:
        return await self.answer_step(
            request,
            ReplyAlternatives,
            lambda reply: tuple(
                OtherAnswer(value=other.value, reason=other.reason)
                for other in reply.others
                if other.value
            ),
        )

    async def answer_closed_book(
        self, request: AnswerClosedBook
    ) -> StepAnswer[tuple[FoundAnswer, ...]]:
        return await self.answer_step(request, ReplyAnswers, _make_answers)

    async def answer_from_page(
        self, request: AnswerFromPage
    ) -> StepAnswer[tuple[FoundAnswer, ...]]:
        return await self.answer_step(request, ReplyAnswers, _make_answers)

    async def estimate_difficulty(self, request: EstimateDifficulty) -> StepAnswer[Effort]:
        return await self.answer_step(request, Effort, lambda effort: effort)


def _make_answers(reply: ReplyAnswers) -> tuple[FoundAnswer, ...]:
    return tuple(
        FoundAnswer(
            value=answer.answer,
            sub_claims=tuple((sub.name, sub.value) for sub in answer.sub_claims if sub.value),
        )
        for answer in reply.answers
        if answer.answer
    )

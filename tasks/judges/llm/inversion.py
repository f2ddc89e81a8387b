"""Problem inversion by an LLM: each step has a prompt and a reply form."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tasks.judges.forms.inversion import (
    ReplyAlternatives,
    ReplyAnswers,
    ReplyEffort,
    ReplyQuestion,
    ReplyTarget,
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
    StepAnswer,
    SubClaim,
    TargetProperty,
)
from tasks.judges.llm.requests import LlmBase
from tasks.judges.text import collapse_whitespace
from tasks.models.gateway import Outcome

AnsweredT = TypeVar("AnsweredT")
ValueT = TypeVar("ValueT")
MAX_CHARS = 2_000
"""Longer texts are no name, value or question: they are cut, and then fail the checks."""
MAX_ITEMS = 50
"""Items of a list in an answer; further ones are ignored."""


class LlmInverter(LlmBase):
    """An `Inverter` that uses a model of `configs/judges.yaml`."""

    async def find_targets(self, request: FindTargets) -> StepAnswer[tuple[QuestionTarget, ...]]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._model.ask_form(request.prompt, values, ReplyTargets)
        return make_step_answer(
            outcome,
            lambda reply: tuple(_make_target(t) for t in reply.targets[: request.n_targets]),
        )

    async def pose_question(self, request: PoseQuestion) -> StepAnswer[str]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._model.ask_form(request.prompt, values, ReplyQuestion)
        return make_step_answer(outcome, lambda reply: clean_line(reply.question))

    async def find_others(self, request: FindOthers) -> StepAnswer[tuple[OtherAnswer, ...]]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._model.ask_form(request.prompt, values, ReplyAlternatives)
        return make_step_answer(
            outcome,
            lambda reply: tuple(
                OtherAnswer(value=clean_line(other.value), reason=clean_line(other.reason))
                for other in reply.others[:MAX_ITEMS]
                if collapse_whitespace(other.value)
            ),
        )

    async def answer_closed_book(
        self, request: AnswerClosedBook
    ) -> StepAnswer[tuple[FoundAnswer, ...]]:
        values = request.model_dump(exclude={"prompt"})
        return make_step_answer(
            await self._model.ask_form(request.prompt, values, ReplyAnswers), _make_answers
        )

    async def answer_from_page(
        self, request: AnswerFromPage
    ) -> StepAnswer[tuple[FoundAnswer, ...]]:
        values = request.model_dump(exclude={"prompt"})
        return make_step_answer(
            await self._model.ask_form(request.prompt, values, ReplyAnswers), _make_answers
        )

    async def estimate_difficulty(self, request: EstimateDifficulty) -> StepAnswer[Effort]:
        values = request.model_dump(exclude={"prompt"})
        return make_step_answer(
            await self._model.ask_form(request.prompt, values, ReplyEffort), _make_effort
        )


def make_step_answer(
    outcome: Outcome[AnsweredT], read: Callable[[AnsweredT], ValueT]
) -> StepAnswer[ValueT]:
    """Convert an outcome; `read` converts its value."""
    call = outcome.call
    return StepAnswer(
        status=outcome.status,
        value=None if outcome.value is None else read(outcome.value),
        reason=outcome.reason,
        model_version=call.model_version if call else None,
        call_id=call.call_id if call else None,
    )


def clean_line(text: str) -> str:
    """Return a model's text on one line, cut to MAX_CHARS."""
    return collapse_whitespace(text)[:MAX_CHARS]


def clean_lines(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the cleaned lines without empty and duplicate ones."""
    lines = (clean_line(text) for text in texts[:MAX_ITEMS])
    return tuple(dict.fromkeys(line for line in lines if line))


def _make_target(stated: ReplyTarget) -> QuestionTarget:
    return QuestionTarget(
        answer=clean_line(stated.answer),
        also=clean_lines(stated.also),
        sentence=clean_line(stated.sentence),
        kind=clean_line(stated.kind),
        category=stated.category,
        properties=tuple(
            TargetProperty(text=clean_line(p.text), sentence=clean_line(p.sentence))
            for p in stated.properties[:MAX_ITEMS]
        ),
        sub_claims=tuple(
            SubClaim(
                name=clean_line(c.name), value=clean_line(c.value), sentence=clean_line(c.sentence)
            )
            for c in stated.sub_claims[:MAX_ITEMS]
        ),
    )


def _make_answers(reply: ReplyAnswers) -> tuple[FoundAnswer, ...]:
    return tuple(
        FoundAnswer(
            value=clean_line(answer.answer),
            sub_claims=tuple(
                (clean_line(sub.name), clean_line(sub.value))
                for sub in answer.sub_claims[:MAX_ITEMS]
                if collapse_whitespace(sub.value)
            ),
        )
        for answer in reply.answers[:MAX_ITEMS]
        if collapse_whitespace(answer.answer)
    )


def _make_effort(reply: ReplyEffort) -> Effort:
    return Effort(
        queries=clean_lines(reply.queries), units=clean_lines(reply.units), minutes=reply.minutes
    )

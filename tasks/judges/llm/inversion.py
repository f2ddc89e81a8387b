"""Problem inversion by an LLM: every step by prompt and schema, through any model."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tasks.judges.forms.inversion import (
    PosedQuestion,
    StatedAnswers,
    StatedEffort,
    StatedOthers,
    StatedTarget,
    StatedTargets,
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
    Property,
    Said,
    SubClaim,
    Target,
)
from tasks.judges.llm.requests import AsksModel
from tasks.judges.text import one_line
from tasks.models.gateway import Outcome

AnsweredT = TypeVar("AnsweredT")
ValueT = TypeVar("ValueT")
MAX_CHARS = 2_000
"""What is longer is no name, value or question: it is cut, and then fails what is checked."""
MAX_ITEMS = 50
"""What an answer lists beyond it is not read."""


class LlmInverter(AsksModel):
    """A model of `configs/judges.yaml`, asked through `asker`."""

    async def find_targets(self, request: FindTargets) -> Said[tuple[Target, ...]]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._asking.stated(request.prompt, values, StatedTargets)
        return said_of(
            outcome, lambda reply: tuple(_target(t) for t in reply.targets[: request.n_targets])
        )

    async def pose_question(self, request: PoseQuestion) -> Said[str]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._asking.stated(request.prompt, values, PosedQuestion)
        return said_of(outcome, lambda reply: line_of(reply.question))

    async def find_others(self, request: FindOthers) -> Said[tuple[OtherAnswer, ...]]:
        values = request.model_dump(exclude={"prompt"})
        outcome = await self._asking.stated(request.prompt, values, StatedOthers)
        return said_of(
            outcome,
            lambda reply: tuple(
                OtherAnswer(value=line_of(other.value), reason=line_of(other.reason))
                for other in reply.others[:MAX_ITEMS]
                if one_line(other.value)
            ),
        )

    async def answer_closed_book(self, request: AnswerClosedBook) -> Said[tuple[FoundAnswer, ...]]:
        values = request.model_dump(exclude={"prompt"})
        return said_of(await self._asking.stated(request.prompt, values, StatedAnswers), _answers)

    async def answer_from_page(self, request: AnswerFromPage) -> Said[tuple[FoundAnswer, ...]]:
        values = request.model_dump(exclude={"prompt"})
        return said_of(await self._asking.stated(request.prompt, values, StatedAnswers), _answers)

    async def estimate_difficulty(self, request: EstimateDifficulty) -> Said[Effort]:
        values = request.model_dump(exclude={"prompt"})
        return said_of(await self._asking.stated(request.prompt, values, StatedEffort), _effort)


def said_of(outcome: Outcome[AnsweredT], read: Callable[[AnsweredT], ValueT]) -> Said[ValueT]:
    """An answer as a step gets it, or why there is none."""
    call = outcome.call
    return Said(
        status=outcome.status,
        value=None if outcome.value is None else read(outcome.value),
        reason=outcome.reason,
        model_version=call.model_version if call else None,
        call_id=call.call_id if call else None,
    )


def line_of(text: str) -> str:
    """A text of a model on one line, cut where it is too long."""
    return one_line(text)[:MAX_CHARS]


def lines_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Those that say something, each once."""
    lines = (line_of(text) for text in texts[:MAX_ITEMS])
    return tuple(dict.fromkeys(line for line in lines if line))


def _target(stated: StatedTarget) -> Target:
    return Target(
        answer=line_of(stated.answer),
        also=lines_of(stated.also),
        sentence=line_of(stated.sentence),
        kind=line_of(stated.kind),
        category=stated.category,
        properties=tuple(
            Property(text=line_of(p.text), sentence=line_of(p.sentence))
            for p in stated.properties[:MAX_ITEMS]
        ),
        sub_claims=tuple(
            SubClaim(name=line_of(c.name), value=line_of(c.value), sentence=line_of(c.sentence))
            for c in stated.sub_claims[:MAX_ITEMS]
        ),
    )


def _answers(reply: StatedAnswers) -> tuple[FoundAnswer, ...]:
    return tuple(
        FoundAnswer(
            value=line_of(answer.answer),
            sub_claims=tuple(
                (line_of(sub.name), line_of(sub.value))
                for sub in answer.sub_claims[:MAX_ITEMS]
                if one_line(sub.value)
            ),
        )
        for answer in reply.answers[:MAX_ITEMS]
        if one_line(answer.answer)
    )


def _effort(reply: StatedEffort) -> Effort:
    return Effort(
        queries=lines_of(reply.queries), units=lines_of(reply.units), minutes=reply.minutes
    )

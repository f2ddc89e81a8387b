"""A ledger in memory, a sender by script, and questions for them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from tasks.models.errors import StopStage
from tasks.models.exchange import (
    Finish,
    Message,
    ModelRequest,
    Parameters,
    Purpose,
    Reply,
    TokenUsage,
)
from tasks.models.gateway import Gateway, InvalidReply
from tasks.models.prices import Budget, ModelPrice
from tasks.warehouse.calls import Call
from tests.tasks.models.virtual_time import now

VERSION = "some-model-001"
USED = TokenUsage(prompt=40, cached=0, output=4, thinking=0)


class MemoryLedger:
    """Keeps calls as the warehouse does, and notes in `events` what came when."""

    def __init__(self, events: list[str] | None = None) -> None:
        self.calls: dict[str, Call] = {}
        self.events = [] if events is None else events

    def lock_request(self, request_id: str) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_attempts(self, request_id: str) -> Sequence[Call]:
        known = [call for call in self.calls.values() if call.request_id == request_id]
        return sorted(known, key=lambda call: call.attempt)

    async def save(self, call: Call, *, replace: bool) -> None:
        await asyncio.sleep(0)  # a commit takes a while
        assert (call.call_id in self.calls) == replace
        self.calls[call.call_id] = call
        self.events.append(f"kept {call.attempt}")

    @property
    def statuses(self) -> list[str]:
        return [call.status for call in sorted(self.calls.values(), key=lambda c: c.attempt)]


class ScriptedSender:
    """Gives its answers in turn, the last one for ever; waits for `gate` where one is set.

    `lost_first` tries of each question are lost on their way, and perhaps billed.
    """

    def __init__(self, *answers: Reply | Exception) -> None:
        self._answers = list(answers)
        self.sent: list[ModelRequest] = []
        self.gate: asyncio.Event | None = None
        self.lost_first = 0
        self.stopped: StopStage | None = None
        self.closed = False

    async def send(
        self, request: ModelRequest, lost: Callable[[], Awaitable[None]] | None = None
    ) -> Reply:
        if self.stopped:
            raise self.stopped
        for _ in range(self.lost_first):
            if lost:
                await lost()
        self.sent.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        await asyncio.sleep(0)
        if self.gate:
            await self.gate.wait()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def wait_for_capacity(self) -> None:
        """There always is."""

    def stop(self, error: StopStage) -> None:
        self.stopped = error

    async def close(self) -> None:
        self.closed = True


class ScriptedClient:
    """A client in virtual time."""

    def __init__(self, answer: Callable[[int], Awaitable[Reply]]) -> None:
        self._answer = answer
        self.asked_at: list[float] = []

    async def ask(self, request: ModelRequest) -> Reply:
        self.asked_at.append(now())
        return await self._answer(len(self.asked_at))

    async def close(self) -> None:
        """It holds nothing."""


def question(text: str = "Is it so?", limit: int = 100) -> ModelRequest:
    return ModelRequest(
        provider="any",
        model="some-model",
        parameters=Parameters(max_output_tokens=limit),
        reply_name="answer",
        reply_schema="{}",
        system="Say yes or no.",
        messages=(Message(role="user", text=text),),
        purpose=Purpose(judge="j", protocol="p", step="s", prompt_sha="sha"),
        typical_output_tokens=5,
    )


def said(
    text: str = "yes",
    finish: Finish = "ok",
    version: str | None = VERSION,
    usage: TokenUsage = USED,
) -> Reply:
    return Reply(finish=finish, text=text, model_version=version, usage=usage)


def read_word(answer: str) -> str:
    """What a judge would do with an answer."""
    if answer not in ("yes", "no"):
        raise InvalidReply(f"{answer!r} is neither yes nor no")
    return answer


def gateway(
    sender: ScriptedSender,
    ledger: MemoryLedger,
    *,
    answers_as: str | None = VERSION,
    price: ModelPrice | None = None,
    usd: float | None = None,
) -> Gateway:
    return Gateway(sender, ledger, answers_as=answers_as, price=price, budget=Budget(usd))

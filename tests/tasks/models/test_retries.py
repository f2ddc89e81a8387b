"""What may heal is tried again, at the right moment and not for ever; against real servers."""

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tasks.configuration.models import Limits, Retries
from tasks.models.client import parse_retry_after
from tasks.models.errors import RequestRejected, RunInterrupted, TransientError, Unreachable
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.limits import START_CONCURRENCY
from tasks.models.live_sender import LiveSender
from tests.servers.base import ModelServer
from tests.servers.faults import ENVELOPES
from tests.servers.gemini import GeminiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.test_servers import EVERY
from tests.tasks.models.scripted import ScriptedClient, question, said
from tests.tasks.models.senders import LATER, QUICK, later, n_asked, sending, struck
from tests.tasks.models.virtual_time import now
from tests.tasks.models.virtual_time import run as run_virtually

HEALING = (
    "rate_limit", "server_500", "html_502", "unavailable_503", "timeout_408", "reset_before",
    "reset_mid_body", "half_body", "bad_gzip", "cut_gzip", "unknown_encoding", "empty_200",
    "html_200", "no_candidate",
)  # fmt: skip


@EVERY
@pytest.mark.parametrize("fault", HEALING)
def test_what_passes_heals(kind: type[ModelServer], fault: str) -> None:
    server = struck(kind, fault, times=2)
    found = sending(server, later)
    assert isinstance(found, Reply), found
    assert (found.finish, found.tries) == ("ok", 3)
    assert n_asked(server) == 3


@EVERY
@pytest.mark.parametrize("fault", ENVELOPES)
def test_what_is_odd_only_around_an_answer_costs_no_try_of_this_or_the_next_one(
    kind: type[ModelServer], fault: str
) -> None:
    async def twice(sender: LiveSender) -> list[Reply | Exception]:
        return [await later(sender), await later(sender)]

    server = struck(kind, fault)
    plain = sending(kind(), later)
    assert isinstance(plain, Reply)
    for found in sending(server, twice):
        assert isinstance(found, Reply), found
        assert (found.text, found.tries) == (plain.text, 1)


@EVERY
@pytest.mark.parametrize("fault", ["rate_limit_retry_after", "rate_limit_retry_info"])
def test_a_hint_is_never_undercut(
    kind: type[ModelServer], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def noted(sender: LiveSender, seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(LiveSender, "_sleep", noted)
    found = sending(struck(kind, fault, times=3, hint_seconds=7.5), later)
    assert isinstance(found, Reply)
    waits = [seconds for seconds in slept if seconds > 1]
    assert len(waits) == 3
    assert all(7.5 <= seconds <= 7.5 * 1.1 for seconds in waits)
    assert len(set(waits)) == 3, "without jitter all askers would come back at once"


class Refusing:
    """A model that a server cannot ask: a status of 400."""

    def __init__(self) -> None:
        self.n_asked = 0

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        if user == LATER.prompt:
            self.n_asked += 1
            raise ValueError("the prompt is too long")
        return "{}"


@EVERY
def test_what_is_wrong_with_the_request_is_not_tried_again(kind: type[ModelServer]) -> None:
    model = Refusing()
    error = sending(kind(model=model), later)
    assert isinstance(error, RequestRejected)
    assert error.code == 400
    assert model.n_asked == 1


@EVERY
@pytest.mark.parametrize(("fault", "tries"), [("unavailable_503", 4), ("rate_limit", 6)])
def test_tries_are_limited_and_counted(kind: type[ModelServer], fault: str, tries: int) -> None:
    server = struck(kind, fault, times=None)
    error = sending(server, later)
    assert isinstance(error, TransientError)
    assert error.tries == n_asked(server) == tries


@EVERY
@pytest.mark.parametrize("fault", ["slow", "stall_mid_body"])
def test_a_time_out_is_tried_again_and_may_have_been_billed(
    kind: type[ModelServer], fault: str
) -> None:
    two = QUICK.model_copy(update={"tries": 2})
    error = sending(struck(kind, fault, times=None, slow_seconds=1), later, two, timeout=0.2)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed, error.tries) == ("timeout", True, 2)


def test_waiting_to_try_again_holds_no_place() -> None:
    async def overtaking(sender: LiveSender) -> list[str]:
        order: list[str] = []

        async def ask(request: ModelRequest, name: str) -> None:
            await sender.send(request)
            order.append(name)

        other = verify_claims(note=" Thirdly.")
        await asyncio.gather(ask(LATER, "struck"), ask(other, "other"))
        return order

    server = struck(GeminiServer, "rate_limit_retry_after", hint_seconds=0.3)
    assert sending(server, overtaking, limits=Limits(concurrency=1)) == ["other", "struck"]


def test_a_429_halves_the_calls_at_once() -> None:
    async def limit(sender: LiveSender) -> float:
        await sender.send(LATER)
        return sender.concurrency.limit

    grown = START_CONCURRENCY + 1
    struck_once = struck(GeminiServer, "rate_limit")
    assert grown / 2 < sending(struck_once, limit) < grown / 2 + 0.5
    assert sending(struck(GeminiServer, "unavailable_503"), limit) == grown + 1


def test_waits_double_up_to_the_longest_and_vary() -> None:
    async def never(n: int) -> Reply:
        raise TransientError("HTTP 503", "server", code=503)

    client = ScriptedClient(never)
    retries = Retries(tries=9, first_wait_seconds=1, longest_wait_seconds=20)

    async def ask() -> None:
        with pytest.raises(TransientError):
            await LiveSender(client, Limits(), None, retries).send(question())

    run_virtually(ask())
    waits = [b - a for a, b in itertools.pairwise(client.asked_at)]
    for wait, backoff in zip(waits, (1, 2, 4, 8, 16, 20, 20, 20), strict=True):
        assert backoff / 2 <= wait <= backoff


PATIENT = Retries(tries=8, first_wait_seconds=1, longest_wait_seconds=60)


def refusing(but: int | None = None) -> ScriptedClient:
    """No connection, but for the `but`th request."""

    async def answer(n: int) -> Reply:
        if n == but:
            return said()
        raise TransientError("refused", "connection")

    return ScriptedClient(answer)


def test_an_endpoint_that_was_never_reached_stops_the_stage_soon() -> None:
    client = refusing()

    async def ask() -> float:
        sender = LiveSender(client, Limits(concurrency=2), None, PATIENT)
        with pytest.raises(Unreachable, match=r"cannot be reached \(refused\). Start its server"):
            await sender.send(question())
        with pytest.raises(Unreachable):
            await sender.send(question("Another?"))
        return client.asked_at[-1] - client.asked_at[0]

    assert run_virtually(ask()) < 10
    assert len(client.asked_at) == 4


def test_an_endpoint_that_has_answered_gets_all_its_tries() -> None:
    client = refusing(but=1)

    async def ask() -> None:
        sender = LiveSender(client, Limits(concurrency=2), None, PATIENT)
        await sender.send(question())
        with pytest.raises(TransientError):
            await sender.send(question("Another?"))

    run_virtually(ask())
    assert len(client.asked_at) == 1 + PATIENT.tries


def test_a_stop_does_not_wait_for_the_next_try() -> None:
    client = refusing(but=1)

    async def ask() -> float:
        sender = LiveSender(client, Limits(concurrency=2), None, PATIENT)
        await sender.send(question())
        waiting = asyncio.create_task(sender.send(question("Another?")))
        await asyncio.sleep(20)
        started = now()
        sender.stop(RunInterrupted("the run was interrupted"))
        with pytest.raises(RunInterrupted):
            await waiting
        return now() - started

    assert run_virtually(ask()) < 0.1


def test_a_hint_may_be_seconds_a_date_or_nonsense() -> None:
    then = datetime.now(UTC) + timedelta(seconds=90)

    def hint(value: str) -> float | None:
        return parse_retry_after({"retry-after": value})

    assert hint("120") == 120
    assert 80 < (hint(format_datetime(then)) or 0) <= 90
    assert hint(format_datetime(then - timedelta(days=1))) == 0
    assert hint("soon") is None
    assert hint("Fri, 31 Dec 99999999 23:59:59 GMT") is None
    assert parse_retry_after({}) is None

"""What the clients of the four job interfaces have in common: money, patience, keys."""

import socket
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from tasks.agents.agent import AgentClient, Gone, JobStatus
from tasks.agents.kinds import read_answer
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tests.servers.jobs import BREAKS, FAULTS, MADE, JobScript, JobServer
from tests.tasks.agents.conversations import KEY, PROMPT, QUICK, question, using
from tests.tasks.agents.job_clients import (
    GEMINI,
    KINDS,
    OPENAI,
    PERPLEXITY_ASYNC,
    Kind,
    finished,
    reply_to,
    with_client,
)

EVERY = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
LATER = ("rate_limit", "rate_limit_retry_after", "rate_limit_retry_info", "unavailable_503",
         "timeout_408")  # fmt: skip
UNCERTAIN = (
    *sorted(set(MADE) - {"lost_stall"}),
    *("server_500", "key_echoed", "html_502", "html_200", "empty_200", "list_200", *BREAKS),
)
SLOW = 0.4
"""Seconds that a client waits for an answer that never comes."""


def errors_of_start(
    kind: Kind, faults: Sequence[str], seconds: float = 5.0
) -> tuple[list[ModelError], JobServer]:
    """What `start` says to one fault after the other, and the server."""
    server = kind.server(JobScript(posts=tuple(faults)))

    async def use(client: AgentClient) -> list[ModelError]:
        return [await error_of(client.start(question())) for _ in faults]

    return with_client(kind, server, use, limits=QUICK | {"timeout_seconds": seconds}), server


async def error_of(call: Awaitable[Any]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await call
    return caught.value


@EVERY
def test_a_start_that_was_surely_refused_may_be_tried_again(kind: Kind) -> None:
    errors, server = errors_of_start(kind, LATER)
    for fault, error in zip(LATER, errors, strict=True):
        assert isinstance(error, TransientError), (fault, error)
        assert not error.maybe_billed, fault
        hinted = fault in ("rate_limit_retry_after", "rate_limit_retry_info")
        assert error.hint_seconds == (1.0 if hinted else None), fault
    assert (server.n_made, len(server.requests)) == (0, len(LATER))


@EVERY
def test_a_start_of_which_nobody_knows_is_sent_once_and_said_to_be_maybe_billed(
    kind: Kind,
) -> None:
    errors, server = errors_of_start(kind, UNCERTAIN)
    stalled, _ = errors_of_start(kind, ["lost_stall"], SLOW)
    for fault, error in zip([*UNCERTAIN, "lost_stall"], errors + stalled, strict=True):
        assert isinstance(error, TransientError), (fault, error)
        assert error.maybe_billed, fault
        assert KEY not in str(error)
    assert len(server.requests) == len(UNCERTAIN)
    # The older interface of Perplexity knows a repeated key: all these made one job.
    n_made = 1 if kind is PERPLEXITY_ASYNC else len(MADE) - 1
    assert server.n_made == n_made


@EVERY
def test_what_is_refused_for_good_is_told_apart_from_what_stops_the_stage(kind: Kind) -> None:
    faults = ("rejected_400", "rejected_422", "forbidden_403", "not_found_404", "redirect_307")
    errors, server = errors_of_start(kind, faults)
    for fault, error in zip(faults, errors, strict=True):
        if fault.startswith("rejected"):
            assert isinstance(error, RequestRejected), (fault, error)
            assert str(error.code) in fault
        else:
            assert isinstance(error, Misconfigured), (fault, error)
            assert "configs/agents.yaml" in str(error)
    assert server.n_made == 0


@pytest.mark.parametrize(
    ("kind", "fault"), [(GEMINI, "quota_per_day"), (OPENAI, "spend_cap")], ids=str
)
def test_a_quota_that_is_used_up_stops_the_stage(kind: Kind, fault: str) -> None:
    (error,), _ = errors_of_start(kind, [fault])
    assert isinstance(error, QuotaExhausted)


@EVERY
def test_a_wrong_key_an_unknown_model_and_a_closed_port_buy_nothing(kind: Kind) -> None:
    async def use(client: AgentClient) -> ModelError:
        return await error_of(client.start(question()))

    wrong = with_client(kind, kind.server(key="another"), use)
    assert isinstance(wrong, Misconfigured), wrong
    assert KEY not in str(wrong)
    unknown = with_client(kind, kind.server(models=["another"]), use)
    assert isinstance(unknown, Misconfigured), unknown

    refused = using(kind.name, f"http://127.0.0.1:{free_port()}{kind.under}", use)
    assert isinstance(refused, TransientError)
    assert not refused.maybe_billed


@EVERY
def test_a_job_is_looked_at_until_its_end_whatever_it_is_called_on_the_way(kind: Kind) -> None:
    script = JobScript(polls=3, on_the_way=("requires_continuation", "", "dreaming"))

    async def use(client: AgentClient) -> list[JobStatus]:
        seen = [await client.start(question())]
        while not seen[-1].ended:
            seen.append(await client.poll(seen[0].remote_id or ""))
        return seen

    seen = with_client(kind, kind.server(script), use)
    assert [s.remote_state for s in seen[:3]] == ["requires_continuation", "", "dreaming"]
    assert [s.raw is None for s in seen] == [True, True, True, False]
    assert {s.remote_id for s in seen} == {seen[0].remote_id}


@EVERY
def test_a_job_may_have_ended_in_the_answer_that_names_it(kind: Kind) -> None:
    server = kind.server(JobScript(polls=0))
    seen = with_client(kind, server, lambda client: client.start(question()))
    assert seen.ended
    assert read_answer(kind.name, seen.raw or "").outcome == "report"
    assert server.n_looks == 0


@EVERY
def test_a_look_that_fails_is_no_end_of_the_job(kind: Kind) -> None:
    # aiohttp itself asks twice after a reset: then the fault after it is seen first.
    faults = [*sorted(FAULTS - set(MADE) - {"reset"}), "reset", "reset"]

    async def use(client: AgentClient) -> tuple[list[ModelError], JobStatus]:
        name = (await client.start(question())).remote_id or ""
        errors: list[ModelError] = []
        while True:
            try:
                return errors, await client.poll(name)
            except ModelError as error:
                errors.append(error)

    script = JobScript(looks=tuple(faults))
    errors, seen = with_client(kind, kind.server(script), use)
    assert seen.ended
    assert len(errors) in (len(faults), len(faults) - 1)
    for fault, error in zip(faults, errors, strict=False):
        if fault == "not_found_404":
            assert isinstance(error, Gone)
        elif fault in ("forbidden_403", "redirect_307"):
            assert isinstance(error, Misconfigured)
        elif fault not in ("quota_per_day", "spend_cap"):
            assert isinstance(error, TransientError), (fault, error)
            assert KEY not in str(error)


@EVERY
def test_a_job_that_has_expired_is_gone(kind: Kind) -> None:
    async def use(client: AgentClient) -> None:
        name = (await client.start(question())).remote_id or ""
        await client.poll(name)
        with pytest.raises(Gone):
            await client.poll(name)
        with pytest.raises(Gone):
            await client.poll("../../v1/models/x?y#z")

    with_client(kind, kind.server(JobScript(gone_after=1)), use)


@EVERY
def test_a_second_turn_goes_on_with_the_first(kind: Kind) -> None:
    server = kind.server(JobScript(asks_first="Which island do you mean?"))

    async def use(client: AgentClient) -> list[JobStatus]:
        first = await finished(client)
        return [first, await finished(client, reply_to(first, "Which island do you mean?"))]

    first, second = with_client(kind, server, use)
    assert read_answer(kind.name, first.raw or "").text == "Which island do you mean?"
    assert "36 listed houses" in read_answer(kind.name, second.raw or "").text
    assert [job.conversation for job in server.jobs.values()] == [
        (PROMPT,),
        (PROMPT, "Decide yourself."),
    ]
    assert server.n_bought_again == 0


@EVERY
def test_a_check_buys_nothing_and_says_what_it_found(kind: Kind) -> None:
    server = kind.server()
    said = with_client(kind, server, lambda client: client.check())
    assert said.startswith("http://127.0.0.1:")
    assert "key" in said
    assert (server.n_made, len(server.requests)) == (0, 1)
    assert server.requests[0].method == "GET"


@EVERY
def test_a_check_says_what_is_wrong_in_words_a_person_can_act_on(kind: Kind) -> None:
    async def use(client: AgentClient) -> str:
        with pytest.raises(Misconfigured) as caught:
            await client.check()
        return str(caught.value)

    said = with_client(kind, kind.server(key="another"), use)
    assert "key is not accepted" in said
    assert KEY not in said

    address = f"http://127.0.0.1:{free_port()}"
    said = using(kind.name, f"{address}{kind.under}", use)
    assert f"{address}{kind.under} cannot be reached" in said
    assert f"Check `{'url' if kind.name == 'http' else 'base_url'}` in configs/agents.yaml" in said


def test_a_check_of_openai_tells_an_unknown_model() -> None:
    async def use(client: AgentClient) -> None:
        with pytest.raises(Misconfigured, match=r"knows no model 'gpt-5\.5'"):
            await client.check()

    with_client(OPENAI, OPENAI.server(models=["gpt-0"]), use)


@EVERY
def test_the_key_is_in_nothing_that_is_kept_or_said(kind: Kind) -> None:
    server = kind.server(report=f"Your key is {KEY}.")

    async def use(client: AgentClient) -> str:
        return repr(client) + repr(await finished(client))

    assert KEY not in with_client(kind, server, use)


@EVERY
def test_an_address_may_come_from_the_variable_that_the_entry_names(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEWHERE", f"http://127.0.0.1:{free_port()}{kind.under}")
    server = kind.server()

    async def use(client: AgentClient) -> None:
        with pytest.raises(TransientError):
            await client.start(question())

    with_client(kind, server, use, base_url_env="SOMEWHERE")
    assert server.requests == []


@EVERY
def test_parameters_go_over_what_is_sent_by_itself(kind: Kind) -> None:
    server = kind.server()
    extra = {"model": "m2", "agent": "deep-research-2", "max_tool_calls": 3}
    with_client(kind, server, finished, parameters=extra)
    (job,) = server.jobs.values()
    sent = job.body["request"] if kind is PERPLEXITY_ASYNC else job.body
    assert extra.items() <= sent.items()


@EVERY
def test_an_interface_without_a_key_is_sent_none(kind: Kind) -> None:
    server = kind.server(key=None)
    assert with_client(kind, server, finished, key=None).ended
    assert "authorization" not in server.requests[0].headers


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

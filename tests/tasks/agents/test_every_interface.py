"""What goes wrong when a report is bought, and what it means, whichever interface is asked."""

import re
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from tasks.agents.agent import AgentClient, Gone, JobStatus
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tests.servers.agent_anthropic import AnthropicServer, text
from tests.servers.agent_base import HINT_SECONDS, AgentServer
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.agent_service import ServiceServer
from tests.servers.agent_xai import XaiServer
from tests.servers.jobs import BREAKS, MADE, JobScript
from tests.servers.serving import serving
from tests.tasks.agents.conversations import KEY, QUICK, question, using
from tests.tasks.agents.job_clients import (
    GEMINI,
    KINDS,
    OPENAI,
    Kind,
    finished,
    with_client,
)

AT_ONCE = (
    Kind("xai", XaiServer, "a-model", "/v1"), Kind("chat", ChatAgentServer, "a-model", "/v1"),
    Kind("anthropic", AnthropicServer, "a-model"),
    Kind("dashscope", DashScopeServer, "a-model", "/api/v1"),
    Kind("http", ServiceServer, "", "/reports"),
)  # fmt: skip
"""Interfaces that deliver a report in the answer to the request that buys it."""
EVERY = pytest.mark.parametrize("kind", [*AT_ONCE, *KINDS], ids=lambda kind: kind.name)
OF_JOBS = {
    "429": "rate_limit", "429_hint": "rate_limit_retry_after", "503": "unavailable_503",
    "408": "timeout_408", "400": "rejected_400", "422": "rejected_422", "403": "forbidden_403",
    "404": "not_found_404", "redirect": "redirect_307", "stall_mid_body": "lost_stall",
}  # fmt: skip
"""What a server of jobs calls a fault."""
LATER = ("429", "429_hint", "503", "408")
LOST = (
    "reset", "reset_mid_body", "half_body", "bad_gzip", "cut_gzip", "unknown_encoding", "500",
    "502_html", "504", "empty_200", "html_200", "list_200", "deep_200",
)  # fmt: skip
LOST_JOBS = (
    *sorted(set(MADE) - {"lost_stall"}),
    *("server_500", "key_echoed", "html_502", "html_200", "empty_200", "list_200", *BREAKS),
)
REFUSED: dict[str, type[ModelError]] = {
    "400": RequestRejected, "422": RequestRejected, "403": Misconfigured, "404": Misconfigured,
    "redirect": Misconfigured,
}  # fmt: skip
OF_SOME: dict[str, dict[str, type[ModelError]]] = {
    GEMINI.name: {"quota_per_day": QuotaExhausted}, OPENAI.name: {"spend_cap": QuotaExhausted},
    **{kind.name: {"401": Misconfigured, "402": QuotaExhausted, "quota": QuotaExhausted}
       for kind in AT_ONCE},
}  # fmt: skip
"""Further refusals of some kinds."""


def planned(kind: Kind, *faults: str, **options: Any) -> Any:
    """A server whose first requests fail so."""
    if kind in AT_ONCE:
        return kind.server(faults=faults, **options)
    return kind.server(JobScript(posts=tuple(OF_JOBS.get(f, f) for f in faults)), **options)


def counted(server: Any) -> tuple[int, int]:
    """How often it was asked for a report, and how many it made."""
    if isinstance(server, AgentServer):
        return len(server.asked), server.bought
    return len(server.requests), server.n_made


async def start(client: AgentClient) -> JobStatus:
    return await client.start(question())


async def check(client: AgentClient) -> str:
    return await client.check()


async def error_of(call: Awaitable[Any]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await call
    return caught.value


def errors_of_start(
    kind: Kind, faults: Sequence[str], **more: Any
) -> tuple[list[tuple[str, ModelError]], Any]:
    """What `start` says to one fault after the other, and the server."""
    server = planned(kind, *faults)

    async def use(client: AgentClient) -> list[tuple[str, ModelError]]:
        return [(fault, await error_of(start(client))) for fault in faults]

    return with_client(kind, server, use, **more), server


@EVERY
def test_later_means_that_nothing_was_bought(kind: Kind) -> None:
    faults = LATER if kind in AT_ONCE else (*LATER, "rate_limit_retry_info")
    errors, server = errors_of_start(kind, faults)
    hint = HINT_SECONDS if kind in AT_ONCE else 1.0
    for fault, error in errors:
        assert isinstance(error, TransientError), (fault, error)
        assert not error.maybe_billed, fault
        hinted = fault in ("429_hint", "rate_limit_retry_info")
        assert error.hint_seconds == (hint if hinted else None), fault
    assert counted(server) == (len(faults), 0)


@EVERY
def test_a_start_of_which_nobody_knows_is_sent_once_and_said_to_be_maybe_billed(
    kind: Kind,
) -> None:
    faults = LOST if kind in AT_ONCE else LOST_JOBS
    errors, server = errors_of_start(kind, faults)
    limits = QUICK | {"timeout_seconds": 0.3}
    stalled, _ = errors_of_start(kind, ["stall_mid_body"], limits=limits)
    for fault, error in errors + stalled:
        assert isinstance(error, TransientError), (fault, error)
        assert error.maybe_billed, fault
        assert fault != "stall_mid_body" or error.kind == "timeout"
        assert KEY not in str(error)
    n_sent, n_made = counted(server)
    assert n_sent == len(faults)
    assert kind in AT_ONCE or n_made == len(MADE) - 1


@EVERY
def test_what_is_refused_for_good_is_told_apart_from_what_stops_the_stage(kind: Kind) -> None:
    refused = REFUSED | OF_SOME.get(kind.name, {})
    errors, server = errors_of_start(kind, list(refused))
    for fault, error in errors:
        assert type(error) is refused[fault], (fault, error)
        if isinstance(error, RequestRejected):
            assert str(error.code) == fault
        if isinstance(error, Misconfigured):
            assert "configs/agents.yaml" in str(error)
    assert counted(server) == (len(refused), 0)


@EVERY
def test_without_a_connection_nothing_was_sent(kind: Kind) -> None:
    with serving(planned(kind)) as address:
        pass
    place = address + kind.under
    with pytest.raises(TransientError) as caught:
        using(kind.name, place, start)
    assert not caught.value.maybe_billed
    key = "url" if kind.name == "http" else "base_url"
    said = rf"{re.escape(place)}\S* cannot be reached.*Check `{key}` in configs/agents\.yaml"
    with pytest.raises(Misconfigured, match=said):
        using(kind.name, place, check)


@EVERY
def test_a_wrong_key_is_named_by_its_variable_and_never_shown(kind: Kind) -> None:
    server, key = planned(kind), "sk-this-is-secret"
    for use in (start, check):
        with pytest.raises(Misconfigured, match="key is not accepted") as caught:
            with_client(kind, server, use, key=key)  # the server repeats it
        assert key not in repr(caught.value)
    assert counted(server)[1] == 0


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_job_of_an_unknown_model_is_not_bought(kind: Kind) -> None:
    with pytest.raises(Misconfigured):
        with_client(kind, planned(kind, models=["another"]), start)


@pytest.mark.parametrize("kind", [*AT_ONCE[:3], OPENAI], ids=lambda kind: kind.name)
def test_a_check_says_that_a_model_does_not_exist(kind: Kind) -> None:
    said = rf"knows no model '{re.escape(kind.model)}'.*Check `model`"
    with pytest.raises(Misconfigured, match=said):
        with_client(kind, planned(kind, models=["another"]), check)


@EVERY
def test_a_check_says_what_it_found_and_buys_nothing(kind: Kind) -> None:
    server = planned(kind)
    said = with_client(kind, server, check)
    assert said.startswith("http://127.0.0.1:")
    assert re.search(r"a-model|reports" if kind in AT_ONCE else "key", said)
    assert counted(server) == (int(kind in KINDS), 0)


@pytest.mark.parametrize("kind", AT_ONCE[:4], ids=lambda kind: kind.name)
def test_what_came_in_one_answer_cannot_be_looked_for_again(kind: Kind) -> None:
    with pytest.raises(Gone):
        with_client(kind, planned(kind), lambda client: client.poll("resp_1"))


@EVERY
def test_a_key_that_the_answer_repeats_is_not_kept(kind: Kind) -> None:
    said = f"Your key is {KEY}."
    options = {"at_once": True} if kind.name == "http" else {}
    server = planned(kind, report=said, **options)
    if isinstance(server, AnthropicServer):
        server.parts = ([text(said)],)
    if isinstance(server, DashScopeServer):
        server.question = said

    async def use(client: AgentClient) -> str:
        return repr(client) + repr(await finished(client))

    kept = with_client(kind, server, use)
    assert "Your key is [key]" in kept
    assert KEY not in kept


@EVERY
def test_an_address_may_come_from_the_variable_that_the_entry_names(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEWHERE", f"http://127.0.0.1:9{kind.under}")
    server = planned(kind)
    variable = "url_env" if kind.name == "http" else "base_url_env"
    with pytest.raises(TransientError):
        with_client(kind, server, start, **{variable: "SOMEWHERE"})
    assert counted(server) == (0, 0)


@EVERY
def test_an_interface_without_a_key_is_sent_none(kind: Kind) -> None:
    server = planned(kind, key=None)
    with_client(kind, server, start, key=None)
    sent = server.headers[0] if isinstance(server, AgentServer) else server.requests[0].headers
    assert "authorization" not in sent
    assert "test-key" not in sent.values()

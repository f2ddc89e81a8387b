"""What may go wrong when a report is bought and delivered by one request, and what it means."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tasks.agents.agent import Gone
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tests.servers.agent_anthropic import AnthropicServer
from tests.servers.agent_base import HINT_SECONDS, AgentServer
from tests.servers.agent_chat import ChatAgentServer
from tests.servers.agent_dashscope import DashScopeServer
from tests.servers.agent_service import ServiceServer
from tests.servers.agent_xai import XaiServer
from tests.servers.serving import serving
from tests.tasks.agents.conversations import KEY, QUICK, check, question, start, using

KINDS: dict[str, tuple[Callable[..., AgentServer], str]] = {
    "xai": (XaiServer, "/v1"),
    "chat": (ChatAgentServer, "/v1"),
    "anthropic": (AnthropicServer, ""),
    "dashscope": (DashScopeServer, "/api/v1"),
    "http": (ServiceServer, "/reports"),
}
LOST = (
    "reset", "reset_mid_body", "half_body", "bad_gzip", "cut_gzip", "unknown_encoding", "500",
    "502_html", "504", "empty_200", "html_200", "list_200", "deep_200",
)  # fmt: skip
kinds = pytest.mark.parametrize("kind", KINDS)


def server(kind: str, **more: Any) -> AgentServer:
    return KINDS[kind][0](**more)


def failure(kind: str, fault: str, **more: Any) -> tuple[ModelError, AgentServer]:
    serves = server(kind, faults=[fault])
    with pytest.raises(ModelError) as caught:
        start(kind, serves, path=KINDS[kind][1], **more)
    assert len(serves.asked) == 1  # never sent again
    return caught.value, serves


@kinds
@pytest.mark.parametrize("fault", LOST)
def test_where_nobody_knows_whether_a_report_was_made_it_is_perhaps_billed(
    kind: str, fault: str
) -> None:
    error, _ = failure(kind, fault)
    assert isinstance(error, TransientError)
    assert error.maybe_billed


@kinds
@pytest.mark.parametrize("fault", ["429", "429_hint", "503", "408"])
def test_later_means_that_nothing_was_bought(kind: str, fault: str) -> None:
    error, serves = failure(kind, fault)
    assert isinstance(error, TransientError)
    assert not error.maybe_billed
    assert error.hint_seconds == (HINT_SECONDS if fault == "429_hint" else None)
    assert serves.bought == 0


@kinds
@pytest.mark.parametrize(
    ("fault", "meaning"),
    [("400", RequestRejected), ("422", RequestRejected), ("401", Misconfigured),
     ("403", Misconfigured), ("404", Misconfigured), ("402", QuotaExhausted),
     ("quota", QuotaExhausted), ("redirect", Misconfigured)],
)  # fmt: skip
def test_a_refusal_buys_nothing_and_says_what_it_is(
    kind: str, fault: str, meaning: type[ModelError]
) -> None:
    error, serves = failure(kind, fault)
    assert type(error) is meaning
    assert serves.bought == 0


@kinds
def test_an_answer_that_never_comes_is_perhaps_billed_after_the_time_that_is_set(kind: str) -> None:
    error, _ = failure(kind, "stall_mid_body", limits=QUICK | {"timeout_seconds": 0.2})
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("timeout", True)


@kinds
def test_without_a_connection_nothing_was_sent(kind: str) -> None:
    with serving(server(kind)) as address:
        pass
    with pytest.raises(TransientError) as caught:
        using(kind, address + KINDS[kind][1], lambda c: c.start(question()))
    assert not caught.value.maybe_billed
    with pytest.raises(Misconfigured, match=r"cannot be reached.*Check"):
        using(kind, address + KINDS[kind][1], lambda c: c.check())


@kinds
def test_a_wrong_key_is_named_by_its_variable_and_never_shown(kind: str) -> None:
    serves = server(kind)
    key = "sk-this-is-secret"
    for what in (start, check):
        with pytest.raises(Misconfigured, match="key is not accepted") as caught:
            what(kind, serves, path=KINDS[kind][1], key=key)  # the server repeats it
        assert key not in f"{caught.value!r}"
    assert serves.bought == 0


@kinds
def test_a_check_says_what_it_found_and_buys_nothing(kind: str) -> None:
    serves = server(kind)
    said = check(kind, serves, path=KINDS[kind][1])
    assert said.startswith("http://127.0.0.1:")
    assert re.search(r"a-model|reports", said)
    assert serves.bought == 0


@pytest.mark.parametrize("kind", ["xai", "chat", "anthropic"])
def test_a_check_says_that_a_model_does_not_exist(kind: str) -> None:
    with pytest.raises(Misconfigured, match=r"knows no model 'a-model'.*Check `model`"):
        check(kind, server(kind, models=["another"]), path=KINDS[kind][1])


@pytest.mark.parametrize("kind", ["xai", "chat", "anthropic", "dashscope"])
def test_what_came_in_one_answer_cannot_be_looked_for_again(kind: str) -> None:
    with serving(server(kind)) as address, pytest.raises(Gone):
        using(kind, address, lambda c: c.poll("resp_1"))


@kinds
def test_a_key_that_the_answer_repeats_is_not_kept(kind: str) -> None:
    said = f"Your key is {KEY}."
    serves = server(kind, report=said, **({"at_once": True} if kind == "http" else {}))
    if isinstance(serves, AnthropicServer):
        serves.parts = ([{"type": "text", "text": said}],)
    if isinstance(serves, DashScopeServer):
        serves.question = said
    raw = start(kind, serves, path=KINDS[kind][1]).raw
    assert raw is not None
    assert "Your key is [key]" in raw
    assert KEY not in raw

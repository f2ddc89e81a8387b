"""Endpoints that take only some ways of asking for JSON."""

import pytest

from tasks.models import openai_chat
from tasks.models.errors import Misconfigured, RequestRejected, TransientError
from tasks.models.exchange import ModelRequest, Reply
from tests.servers.asked import prompt_id
from tests.servers.faults import FaultPlan
from tests.servers.openai import LADDER, OpenAiServer
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.test_servers import VERDICTS, ask, reply, verdicts


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many tries, without the pauses between them."""
    monkeypatch.setattr(openai_chat, "PROBE_PAUSES", (0.0,) * len(openai_chat.PROBE_PAUSES))


@pytest.mark.parametrize("code", [400, 422, 500])
@pytest.mark.parametrize("ladder", [LADDER, LADDER[1:], LADDER[2:]])
def test_the_strictest_way_that_is_taken_is_found_and_kept(
    ladder: tuple[str, ...], code: int
) -> None:
    server = OpenAiServer(ladder=ladder, ladder_code=code)
    first, second = ask(server, verify_claims(), verify_claims(note=" Again."))
    for found in (first, second):
        assert isinstance(found, Reply), found
        assert found.delivery == f"live {ladder[0]}"
    assert server.log.summary()["answered"] == 2


def test_an_endpoint_that_takes_none_of_them_rejects_the_request() -> None:
    (error,) = ask(OpenAiServer(ladder=()), verify_claims())
    assert isinstance(error, RequestRejected)


def test_a_silently_cut_prompt_is_noticed() -> None:
    (error,) = ask(OpenAiServer(context_tokens=16), verify_claims())
    assert isinstance(error, RequestRejected)


def test_a_key_is_needed_only_where_one_is_set() -> None:
    assert isinstance(ask(OpenAiServer(), verify_claims(), key="")[0], Misconfigured)
    assert reply(OpenAiServer(key=None)).finish == "ok"


@pytest.mark.parametrize("fault", ["server_500", "key_echoed"])
def test_a_500_that_passes_is_transient_once_the_way_of_asking_is_known(fault: str) -> None:
    later = verify_claims(note=" Again.")
    struck = frozenset([prompt_id(later.messages[0].text)])
    server = OpenAiServer(faults=FaultPlan((fault,), prompts=struck))
    first, error = ask(server, verify_claims(), later)
    assert isinstance(first, Reply)
    assert isinstance(error, TransientError)
    assert error.code == 500
    assert "test-key" not in str(error)


def first_answer(server: OpenAiServer, request: ModelRequest) -> Reply:
    """What the first request a client makes brings."""
    [found] = ask(server, request)
    assert isinstance(found, Reply)
    return found


def test_a_500_to_the_first_request_buys_nothing_twice() -> None:
    server = OpenAiServer(faults=FaultPlan(("server_500",)))
    assert verdicts(first_answer(server, verify_claims()).text) == VERDICTS
    assert server.log.n_bought_again == 0


def test_two_passing_500_at_the_start_do_not_cost_the_schema() -> None:
    server = OpenAiServer(faults=FaultPlan(("server_500",), times=2))
    assert first_answer(server, verify_claims()).delivery == "live json_schema"

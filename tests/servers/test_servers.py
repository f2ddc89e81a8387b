"""The real SDK and our HTTP client read what the servers send: forms, faults and counts."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tasks.judges.questions.verify_claims import ClaimVerdict
from tasks.judges.replies import ItemResults, order_results, parse_reply
from tasks.models.anthropic import MessagesClient
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, TransientError
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.gateway import InvalidReply
from tasks.models.gemini import GeminiClient
from tasks.models.openai_chat import OpenAiChatClient
from tests.servers.anthropic import MessagesServer
from tests.servers.base import ModelServer
from tests.servers.faults import BROKEN, ENVELOPES, GEMINI_FAULTS, OPENAI_FAULTS, FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.prompts_for_tests import CLAIMS, MODEL, verify_claims, without_sampling
from tests.servers.serving import serving

Client = GeminiClient | OpenAiChatClient | MessagesClient
BOTH = pytest.mark.parametrize("kind", [GeminiServer, OpenAiServer])
EVERY = pytest.mark.parametrize("kind", [GeminiServer, OpenAiServer, MessagesServer])
VERDICTS = ["consistent", "inconsistent", "not_support"]


def client_for(server: ModelServer, address: str, key: str, timeout: float = 5.0) -> Client:
    if isinstance(server, GeminiServer):
        return GeminiClient(key, base_url=address, connections=10, timeout_seconds=timeout)
    if isinstance(server, MessagesServer):
        return MessagesClient(address, key, connections=10, timeout_seconds=timeout)
    return OpenAiChatClient(f"{address}/v1", key, connections=10, timeout_seconds=timeout)


def fit(server: ModelServer, request: ModelRequest) -> ModelRequest:
    """The request, for Anthropic without what its API no longer takes."""
    return without_sampling(request) if isinstance(server, MessagesServer) else request


def ask(server: ModelServer, *requests: ModelRequest, key: str = "test-key",
        timeout: float = 5.0) -> list[Reply | ModelError]:  # fmt: skip
    """Ask one after the other through our client; errors stand among the replies."""

    async def all_of(address: str) -> list[Reply | ModelError]:
        client = client_for(server, address, key, timeout)
        found: list[Reply | ModelError] = []
        for request in requests:
            try:
                found.append(await client.ask(fit(server, request)))
            except ModelError as error:
                found.append(error)
        await client.close()
        return found

    with serving(server) as address:
        return asyncio.run(all_of(address))


def reply(server: ModelServer, request: ModelRequest | None = None) -> Reply:
    (found,) = ask(server, request or verify_claims())
    assert isinstance(found, Reply), found
    return found


def failing(kind: type[ModelServer], fault: str, **plan: Any) -> ModelServer:
    return kind(faults=FaultPlan((fault,), **plan))


def verdicts(text: str) -> list[str]:
    results = order_results(
        parse_reply(ItemResults[ClaimVerdict], text).results, "item", range(1, len(CLAIMS) + 1)
    )
    return [result.verdict for result in results]


@EVERY
def test_a_whole_answer_arrives_with_its_counts_and_its_version(kind: type[ModelServer]) -> None:
    server = kind(thinking_tokens=30, answers_as="some-model-001")
    request = verify_claims()
    found = reply(server, request)
    assert found.finish == "ok"
    assert verdicts(found.text) == VERDICTS
    assert found.usage.prompt
    assert found.usage.prompt * 4 > len(request.system) + len(request.prompt) - 8
    assert found.usage.output == len(found.text) // 4
    assert found.usage.thinking == 30
    assert found.usage.cached == 0
    assert found.model_version == "some-model-001"
    assert found.response_id


@EVERY
def test_a_repair_turn_gets_the_same_answer_and_is_another_question(
    kind: type[ModelServer],
) -> None:
    server = kind()
    request = verify_claims()
    first, again = ask(server, request, request.with_correction("{}", "results: missing"))
    assert isinstance(first, Reply)
    assert isinstance(again, Reply)
    assert first.text == again.text
    assert server.log.summary()["bought_again"] == 0
    assert server.log.summary()["prompts"] == 1


@EVERY
def test_the_log_counts_what_is_bought_twice(kind: type[ModelServer]) -> None:
    server = kind()
    ask(server, verify_claims(), verify_claims(), verify_claims(note=" Again."))
    totals = server.log.summary()
    assert (totals["requests"], totals["answered"], totals["bought_again"]) == (3, 3, 1)
    assert sorted(server.log.answered().values()) == [1, 2]


@EVERY
def test_a_long_beginning_seen_before_is_counted_as_cached(kind: type[ModelServer]) -> None:
    request = verify_claims()
    long = request.model_copy(update={"system": "All of it counts. " * 1500})
    other = verify_claims(note=" Again.").model_copy(update={"system": long.system})
    first, second = ask(kind(), long, other)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert first.usage.cached == 0
    assert 6000 < (second.usage.cached or 0) <= (second.usage.prompt or 0)


@EVERY
def test_an_answer_longer_than_its_limit_is_cut(kind: type[ModelServer]) -> None:
    found = reply(kind(thinking_tokens=10), verify_claims(limit=20))
    assert (found.finish, len(found.text)) == ("truncated", 40)


@EVERY
def test_a_model_that_does_not_exist_stops_the_stage(kind: type[ModelServer]) -> None:
    (error,) = ask(kind(models=["another-model"]), verify_claims())
    assert isinstance(error, Misconfigured)


PASSING: dict[str, Callable[[TransientError], bool]] = {
    "rate_limit": lambda e: e.kind == "rate_limit" and e.hint_seconds is None,
    "rate_limit_retry_after": lambda e: e.kind == "rate_limit" and e.hint_seconds == 1.5,
    "rate_limit_retry_info": lambda e: e.kind == "rate_limit" and e.hint_seconds == 1.5,
    "server_500": lambda e: e.kind == "server" and e.code == 500,
    "html_502": lambda e: e.kind == "server" and e.code == 502,
    "unavailable_503": lambda e: e.kind == "server" and e.code == 503,
    "timeout_408": lambda e: e.kind == "server" and e.code == 408,
    "key_echoed": lambda e: e.kind == "server" and "[key]" in str(e) and "test-key" not in str(e),
    "reset_before": lambda e: e.kind == "connection" and e.maybe_billed,
    "reset_mid_body": lambda e: e.kind == "connection" and e.maybe_billed,
    "half_body": lambda e: e.kind == "connection" and e.maybe_billed,
    "bad_gzip": lambda e: e.kind == "garbled" and e.maybe_billed,
    "cut_gzip": lambda e: e.kind == "garbled" and e.maybe_billed,
    "unknown_encoding": lambda e: e.kind == "garbled" and e.maybe_billed,
    "empty_200": lambda e: e.kind == "garbled" and e.maybe_billed,
    "html_200": lambda e: e.kind == "garbled" and e.maybe_billed,
    "no_candidate": lambda e: e.kind == "garbled" and e.maybe_billed,
}


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (kind, fault)
        for kind in (GeminiServer, OpenAiServer, MessagesServer)
        for fault in sorted(PASSING)
        # A 500 to its first request our client takes for a way of asking: see test_ladder.
        if kind is not OpenAiServer or fault not in ("server_500", "key_echoed")
    ],
)
def test_a_passing_fault_is_transient_and_gone_the_next_time(
    kind: type[ModelServer], fault: str
) -> None:
    server = failing(kind, fault, hint_seconds=1.5)
    first, second = ask(server, verify_claims(), verify_claims())
    assert isinstance(first, TransientError), first
    assert PASSING[fault](first), vars(first)
    assert isinstance(second, Reply)
    assert verdicts(second.text) == VERDICTS
    assert server.log.n_bought_again == 0
    assert (server.log.entries[0].outcome == "lost") == (fault in BROKEN)


ENDED = {
    "max_tokens": "truncated",
    "thoughts_only": "truncated",
    "safety": "blocked",
    "recitation": "blocked",
    "prompt_block": "blocked",
    "continuation": "truncated",
    "refusal": "refused",
}


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (kind, fault)
        for kind in (GeminiServer, OpenAiServer, MessagesServer)
        for fault in sorted(kind.known_faults & ENDED.keys())
    ],
)
def test_an_answer_that_ended_badly_says_how(kind: type[ModelServer], fault: str) -> None:
    server = failing(kind, fault)
    found = reply(server)
    assert found.finish == ENDED[fault]
    assert found.raw
    assert len(server.log.entries) == 1


@pytest.mark.filterwarnings("ignore:FROBNICATED is not a valid FinishReason")
def test_an_unknown_ending_counts_as_cut_at_gemini() -> None:
    found = reply(failing(GeminiServer, "unknown_finish"))
    assert (found.finish, found.stop_reason) == ("truncated", "FROBNICATED")


def test_an_unknown_ending_counts_as_whole_at_openai() -> None:
    found = reply(failing(OpenAiServer, "unknown_finish"))
    assert (found.finish, found.stop_reason) == ("ok", "frobnicated")


@EVERY
@pytest.mark.parametrize(
    "fault",
    ["wrong_enum", "missing_item", "duplicate_item", "extra_item", "truncated_json", "prose"],
)
def test_a_whole_answer_with_a_fault_in_its_text_cannot_be_used(
    kind: type[ModelServer], fault: str
) -> None:
    found = reply(failing(kind, fault))
    assert found.finish == "ok"
    with pytest.raises(InvalidReply):
        verdicts(found.text)


@EVERY
def test_counts_may_be_missing(kind: type[ModelServer]) -> None:
    found = reply(failing(kind, "missing_usage"))
    assert (found.finish, found.usage.prompt) == ("ok", None)


@EVERY
def test_another_version_may_have_answered(kind: type[ModelServer]) -> None:
    assert reply(failing(kind, "other_version")).model_version == f"{MODEL}-drifted"


def test_a_day_s_quota_at_gemini_stops_the_stage_and_a_spending_cap_passes() -> None:
    (day,) = ask(failing(GeminiServer, "quota_per_day"), verify_claims())
    assert isinstance(day, QuotaExhausted)
    (cap,) = ask(failing(GeminiServer, "spend_cap"), verify_claims())
    assert isinstance(cap, TransientError)
    assert cap.kind == "rate_limit"


def test_a_day_s_limit_at_openai_asks_for_hours_and_an_empty_account_stops_the_stage() -> None:
    (day,) = ask(failing(OpenAiServer, "quota_per_day"), verify_claims())
    assert isinstance(day, TransientError)
    assert (day.hint_seconds or 0) > 3600
    (empty,) = ask(failing(OpenAiServer, "spend_cap"), verify_claims())
    assert isinstance(empty, QuotaExhausted)


@EVERY
def test_a_refused_connection_is_told_from_a_broken_one(kind: type[ModelServer]) -> None:
    server = kind()
    with serving(server) as address:
        pass

    async def once() -> None:
        client = client_for(server, address, "test-key")
        with pytest.raises(TransientError) as caught:
            await client.ask(verify_claims())
        await client.close()
        assert (caught.value.kind, caught.value.maybe_billed) == ("connection", False)

    asyncio.run(once())


def test_each_fault_of_each_provider_has_a_test_here_or_in_those_of_retries() -> None:
    elsewhere = {
        "unknown_finish", "wrong_enum", "missing_item", "duplicate_item", "extra_item",
        "truncated_json", "prose", "missing_usage", "other_version", "slow", "stall_mid_body",
        "quota_per_day", "spend_cap",
    }  # fmt: skip
    assert {*PASSING, *ENDED, *ENVELOPES, *elsewhere} == GEMINI_FAULTS | OPENAI_FAULTS
    with pytest.raises(ValueError, match="no form of refusal"):
        failing(GeminiServer, "refusal")

"""What endpoints with chat completions answer, over a real socket: whole, odd, or an error."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tasks.models.exchange import Reply
from tasks.models.openai_chat import OpenAiChatClient
from tests.servers.http import Request, Response, json_response
from tests.servers.prompts_for_tests import verify_claims
from tests.servers.serving import serving

GOOD = '{"results": []}'
USAGE = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
ASKED = TypeAdapter(CompletionCreateParamsNonStreaming)


def completion(
    message: Mapping[str, Any] | None = None,
    finish: str = "stop",
    usage: Mapping[str, Any] = USAGE,
    **more: Any,
) -> dict[str, Any]:
    said = {"role": "assistant", "content": GOOD} | dict(message or {})
    choice = {"index": 0, "message": said, "finish_reason": finish, "logprobs": None}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    return whole | {"choices": [choice]} | more


def answered(body: Any, status: int = 200) -> Reply | ModelError:
    """One request, and what our client makes of the answer."""
    request = verify_claims()

    def handle(asked: Request) -> Response:
        ASKED.validate_python(asked.json(), strict=True)
        return json_response(body, status)

    async def once(address: str) -> Reply | ModelError:
        client = OpenAiChatClient(f"{address}/v1", "a-key", connections=1, timeout_seconds=5)
        try:
            return await client.ask(request)
        except ModelError as error:
            return error
        finally:
            await client.close()

    with serving(handle) as address:
        return asyncio.run(once(address))


def reply(body: Any) -> Reply:
    found = answered(body)
    assert isinstance(found, Reply), found
    return found


def called(*arguments: Any, **more: Any) -> dict[str, Any]:
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "answer", "arguments": given}}
        for n, given in enumerate(arguments)
    ]
    return {"content": None, "tool_calls": calls} | more


def test_a_plain_answer_is_one_by_the_maker_s_own_types() -> None:
    body = completion()
    assert ChatCompletion.model_validate(body, strict=True).choices[0].message.content == GOOD
    found = reply(body)
    assert (found.finish, found.text, found.usage.prompt) == ("ok", GOOD, 900)


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "text", "text": GOOD[:5]}, {"type": "text", "text": GOOD[5:]}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                     {"type": "text", "text": GOOD}]},
        {"content": [{"type": "reasoning", "text": "Hm."}, {"text": GOOD}]},
        called(GOOD),
        called(GOOD, content=""),
        called(GOOD, content="\n"),
        called(json.loads(GOOD)),
        {"content": None, "function_call": {"name": "answer", "arguments": GOOD}},
    ],
)  # fmt: skip
def test_the_answer_is_found_in_parts_and_in_the_only_tool_call(message: dict[str, Any]) -> None:
    for finish in ("stop", "tool_calls"):
        found = reply(completion(message, finish))
        assert (found.finish, found.text) == ("ok", GOOD)


@pytest.mark.parametrize(
    ("message", "finish", "expected"),
    [
        (called(GOOD, GOOD), "tool_calls", "empty"),
        (called(""), "tool_calls", "empty"),
        (called(GOOD), "length", "truncated"),
        ({}, "max_tokens", "truncated"),
        ({}, "MAX_TOKENS", "truncated"),
        ({}, "model_length", "truncated"),
        ({}, "SAFETY", "blocked"),
        ({}, "content_filter", "blocked"),
        ({"content": None}, "stop", "empty"),
        ({"content": None, "refusal": "No."}, "stop", "refused"),
        ({}, "some new word", "ok"),
    ],
)
def test_an_answer_ends_as_its_reason_says(
    message: dict[str, Any], finish: str, expected: str
) -> None:
    assert reply(completion(message, finish)).finish == expected


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_an_answer_in_its_reasoning_alone_is_empty_and_said_so(field: str) -> None:
    found = reply(completion({"content": None, field: GOOD}))
    assert (found.finish, found.text) == ("empty", "")
    assert found.stop_reason == "stop: it answered only in its reasoning, which is not read"


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": "900", "completion_tokens": "40"}, (900, 0, 40)),
        (USAGE | {"prompt_tokens_details": {"cached_tokens": 512}}, (900, 512, 40)),
        (USAGE | {"prompt_cache_hit_tokens": 512}, (900, 512, 40)),
        (USAGE | {"cached_tokens": "512"}, (900, 512, 40)),
        ({"prompt_tokens": 20, "completion_tokens": 40, "cache_read_input_tokens": 880},
         (900, 880, 40)),
        ({"prompt_tokens": 480, "completion_tokens": 40, "total_tokens": 940,
          "cache_read_input_tokens": 400, "cache_creation_input_tokens": 20}, (900, 400, 40)),
        (USAGE | {"cache_read_input_tokens": 400}, (900, 400, 40)),
        (USAGE | {"completion_tokens_details": None, "prompt_tokens_details": None}, (900, 0, 40)),
        (USAGE | {"total_tokens": 970, "completion_tokens_details": {"reasoning_tokens": 30}},
         (900, 0, 40)),
        (USAGE | {"completion_tokens_details": {"reasoning_tokens": 30}}, (900, 0, 10)),
        ({"prompt_tokens": "many", "completion_tokens": 1.5}, (None, 0, None)),
        ({}, (None, 0, None)),
    ],
)  # fmt: skip
def test_tokens_are_counted_under_every_maker_s_names(
    usage: dict[str, Any], counted: tuple[int | None, int, int | None]
) -> None:
    found = reply(completion(usage=usage)).usage
    assert (found.prompt, found.cached, found.output) == counted


def test_what_llama_cpp_had_cached_is_not_a_cut_prompt() -> None:
    few = {"prompt_tokens": 3, "completion_tokens": 40, "total_tokens": 43}
    assert isinstance(answered(completion(usage=few)), RequestRejected)
    found = reply(completion(usage=few, timings={"prompt_n": 3, "cache_n": 897}))
    assert (found.usage.prompt, found.usage.cached) == (900, 897)


def in_choice(error: Any) -> dict[str, Any]:
    whole = completion({"content": "{"}, "error")
    whole["choices"][0]["error"] = error
    return whole


BUSY = {"message": "Provider returned error", "code": 429, "metadata": {"raw": "limited upstream"}}


@pytest.mark.parametrize(
    ("body", "kind", "maybe_billed", "words"),
    [
        ({"error": BUSY}, "rate_limit", False, "Provider returned error (limited upstream)"),
        (in_choice(BUSY), "rate_limit", False, "limited upstream"),
        ({"error": {"message": "Busy.", "code": "429"}}, "rate_limit", False, "Busy."),
        ({"error": {"message": "Rate limit reached."}}, "rate_limit", False, "Rate limit reached."),
        ({"error": {"message": "Bad gateway", "code": 502}}, "server", True, "Bad gateway"),
        (in_choice({"message": "It broke off."}), "server", True, "It broke off."),
        ({"object": "error", "message": "Down.", "code": 503}, "server", True, "Down."),
        ({"detail": "Not now."}, "server", True, "Not now."),
        ({"error": "overloaded"}, "server", True, "overloaded"),
        ({"choices": []}, "garbled", True, "no choice"),
    ],
)  # fmt: skip
def test_an_error_inside_an_answer_is_that_error(
    body: Any, kind: str, maybe_billed: bool, words: str
) -> None:
    found = answered(body)
    assert isinstance(found, TransientError)
    assert (found.kind, found.maybe_billed, found.code) == (kind, maybe_billed, None)
    assert words in str(found)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (402, {"message": "Insufficient Balance"}),  # DeepSeek
        (402, {}),
        (200, {"message": "Insufficient credits", "code": 402}),  # OpenRouter
        (200, {"message": "Insufficient credits"}),
        (400, {"type": "invalid_request_error", "message": "Your credit balance is too low"}),
        (400, {"code": "Arrearage", "message": "Access denied."}),  # Alibaba
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}),
        (429, {"code": 429, "type": "insufficient_quota", "message": "You exceeded it"}),
        (429, {"type": "exceeded_current_quota_error", "message": "Your account …"}),  # Moonshot
        (403, {"message": "Your team has either used all available credits or …"}),  # xAI
        (401, {"type": "insufficient_quota", "message": "…"}),  # Perplexity
        (403, {"code": "project_spend_limit_exceeded", "message": "…"}),
    ],
)
def test_an_account_without_credit_stops_the_stage(status: int, error: dict[str, Any]) -> None:
    found = answered({"error": error}, status)
    assert isinstance(found, QuotaExhausted)
    assert "no credit or quota left" in str(found)
    assert str(error.get("message", "402")) in str(found)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"error": {"message": "No such key", "code": 401}}, Misconfigured),
        (200, {"error": {"message": "No such model", "code": 404}}, Misconfigured),
        (200, {"error": {"message": "Too long", "code": 400}}, RequestRejected),
        (403, {"error": {"message": "Not in your country"}}, Misconfigured),
        (429, {"error": {"message": "Quota exceeded for requests per minute"}}, TransientError),
        (
            402,
            {"error": {"code": "in_flight_budget_exhausted", "message": "Wait."}},
            TransientError,
        ),
    ],
)
def test_other_errors_are_what_their_status_says(
    status: int, body: Any, kind: type[ModelError]
) -> None:
    assert type(answered(body, status)) is kind


def test_no_error_shows_the_key() -> None:
    found = answered({"error": {"message": "a-key is out of credit", "code": 402}})
    assert "[key] is out of credit" in str(found)

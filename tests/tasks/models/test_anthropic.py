"""Anthropic's Messages API for judges, over a socket; the server holds each request and each
answer against the types of Anthropic's own package."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tasks.judges.questions.registry import QUESTIONS, list_forms
from tasks.judges.questions.verify_claims import ClaimVerdict
from tasks.judges.replies import ItemResults, render_item_schema, render_schema
from tasks.judging.clients import open_client
from tasks.models.anthropic import API_VERSION, MessagesClient, restrict_schema
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.prices import TokenPrices
from tests.servers.anthropic import THOUGHT, MessagesServer
from tests.servers.anthropic_forms import CREDIT, checked_message, error_body
from tests.servers.http import Handler, Response, json_response
from tests.servers.prompts_for_tests import verify_claims, without_sampling
from tests.servers.serving import serving
from tests.servers.test_servers import VERDICTS, verdicts
from tests.tasks.judges.recording import entry
from tests.tasks.models.test_attachments import PAGES, PICTURE, kept, with_files
from tests.tasks.models.test_prices import price

KEY = "test-key"
ASKED = without_sampling(verify_claims())
CACHED = {"type": "ephemeral"}


def setting(**parameters: Any) -> ModelRequest:
    changed = ASKED.parameters.model_copy(update=parameters)
    return ASKED.model_copy(update={"parameters": changed})


def answered(handler: Handler, *requests: ModelRequest) -> list[Reply | ModelError]:
    """What our client makes of a server's answers."""

    async def each(address: str) -> list[Reply | ModelError]:
        client = MessagesClient(f"{address}/", KEY, connections=1, timeout_seconds=5)
        found: list[Reply | ModelError] = []
        for request in requests or (ASKED,):
            try:
                found.append(await client.ask(request))
            except ModelError as error:
                found.append(error)
        await client.close()
        return found

    with serving(handler) as address:
        return asyncio.run(each(address))


def sent(request: ModelRequest) -> dict[str, Any]:
    """The body that arrives; the server took it."""
    server = MessagesServer()
    (reply,) = answered(server, request)
    assert isinstance(reply, Reply), reply
    return server.bodies[0]


def message(*blocks: dict[str, Any], stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "a-model-20261101",
        "content": list(blocks), "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 5}, **more,
    }  # fmt: skip


def text(written: str) -> dict[str, Any]:
    return {"type": "text", "text": written}


def tool(**given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": given}


def reply_to(body: dict[str, Any]) -> Reply:
    (found,) = answered(lambda request: json_response(body))
    assert isinstance(found, Reply), found
    return found


def error_to(response: Response) -> ModelError:
    (found,) = answered(lambda request: response)
    assert isinstance(found, ModelError), found
    return found


def test_a_judge_is_asked_for_json_by_the_schema_of_its_form() -> None:
    server = MessagesServer()
    (reply,) = answered(server, setting(thinking_level="low"))
    assert isinstance(reply, Reply)
    assert (reply.finish, reply.delivery, verdicts(reply.text)) == ("ok", "live", VERDICTS)
    (body,) = server.bodies
    assert body == {
        "model": ASKED.model,
        "max_tokens": 4096,
        "system": [{"type": "text", "text": ASKED.system, "cache_control": CACHED}],
        "messages": [{"role": "user", "content": [text(ASKED.messages[0].text)]}],
        "output_config": {
            "effort": "low",
            "format": {
                "type": "json_schema",
                "schema": json.loads(render_schema(ItemResults[ClaimVerdict])),
            },
        },
    }
    headers = server.headers[0]
    assert (headers["anthropic-version"], headers["x-api-key"]) == (API_VERSION, KEY)
    assert "authorization" not in headers


def test_a_judge_without_an_address_is_asked_at_anthropic_s() -> None:
    async def opened() -> str:
        client = await open_client("a_judge", entry(kind="anthropic", key_required=False))
        await client.close()
        assert isinstance(client, MessagesClient)
        return client._url

    assert asyncio.run(opened()) == "https://api.anthropic.com/v1/messages"


def test_the_version_of_the_api_is_that_of_anthropic_s_own_package() -> None:
    from anthropic import _constants

    assert API_VERSION == _constants.ANTHROPIC_API_VERSION


@pytest.mark.parametrize(
    ("budget", "thinking"),
    [
        (None, None),
        (2048, {"type": "enabled", "budget_tokens": 2048}),
        (0, {"type": "disabled"}),
    ],
)
def test_thinking_is_left_to_the_model_unless_a_budget_is_set(
    budget: int | None, thinking: dict[str, Any] | None
) -> None:
    assert sent(setting(thinking_budget=budget)).get("thinking") == thinking


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed"])
def test_a_setting_that_the_api_lacks_is_refused_by_it_and_not_dropped(name: str) -> None:
    (error,) = answered(MessagesServer(), setting(**{name: 0}))
    assert isinstance(error, RequestRejected)
    assert name in str(error)


def test_a_repair_shows_the_model_its_own_answer() -> None:
    body = sent(ASKED.with_correction("{}", "results: missing"))
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"] == "{}"


def test_files_are_images_and_documents_before_the_text(tmp_path: Path) -> None:
    files = kept(tmp_path, PAGES, n_pages=3), kept(tmp_path, PICTURE, "image/png")
    content = sent(with_files(ASKED, *files))["messages"][0]["content"]
    assert [block["type"] for block in content] == [
        "text", "document", "text", "text", "image", "text", "text",
    ]  # fmt: skip
    assert [content[n]["source"]["media_type"] for n in (1, 4)] == ["application/pdf", "image/png"]
    assert content[-1]["text"] == ASKED.messages[0].text


@pytest.mark.parametrize(
    "name", sorted({form.__name__ for folder in QUESTIONS for form in list_forms(folder)})
)
def test_nothing_is_left_in_a_schema_that_structured_output_refuses(name: str) -> None:
    from anthropic import transform_schema

    [form] = {form for folder in QUESTIONS for form in list_forms(folder) if form.__name__ == name}
    schema = restrict_schema(render_schema(form))
    # What the API does not take, the package moves into descriptions.
    assert "description" not in json.dumps(transform_schema(schema))
    assert schema == json.loads(render_schema(form)), "and our forms use none of it"


def test_the_number_of_items_is_not_said_in_the_schema() -> None:
    from anthropic import transform_schema

    rendered = render_item_schema(ItemResults[ClaimVerdict], "item", (1, 2))
    assert "minItems" in rendered
    restricted = restrict_schema(rendered)
    assert "description" not in json.dumps(transform_schema(restricted))
    assert restricted["properties"]["results"]["items"]["properties"]["item"]["enum"] == [1, 2]


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "a"}}}
    restricted = restrict_schema(json.dumps(schema))
    assert restricted["properties"] == {"pattern": {"type": "string"}}


LONG = "It counts. " * 300


def test_what_several_requests_share_is_marked_written_once_and_read_by_the_others() -> None:
    def about(tail: str) -> ModelRequest:
        turn = ASKED.messages[0].model_copy(update={"text": f"{LONG}{tail}"})
        update = {"messages": (turn,), "shared_chars": len(LONG), "system": "Say yes or no."}
        return ASKED.model_copy(update=update)

    server = MessagesServer()
    replies = answered(server, about(ASKED.prompt), about(f"Again. {ASKED.prompt}"))
    content = server.bodies[0]["messages"][0]["content"]
    assert content == [text(LONG) | {"cache_control": CACHED}, text(ASKED.prompt)]
    assert all(isinstance(reply, Reply) for reply in replies)
    first, second = (reply.usage for reply in replies if isinstance(reply, Reply))
    assert (first.cached, second.cache_write_tokens) == (0, 0)
    assert first.cache_write_tokens == second.cached
    assert (second.cached or 0) >= len(LONG) // 4


def test_a_short_system_prompt_is_marked_and_costs_nothing_more() -> None:
    (reply,) = answered(MessagesServer())
    assert isinstance(reply, Reply)
    assert (reply.usage.cached, reply.usage.cache_write_tokens) == (0, 0)


WHOLE = json.dumps({"results": []})
HALVES = (WHOLE[:5], WHOLE[5:])
REDACTED = {"type": "redacted_thinking", "data": "EmwK"}


@pytest.mark.parametrize(
    ("blocks", "stop", "finish", "said"),
    [
        ([text(WHOLE)], "end_turn", "ok", WHOLE),
        ([text(WHOLE)], "stop_sequence", "ok", WHOLE),
        ([THOUGHT, REDACTED, *map(text, HALVES)], "end_turn", "ok", WHOLE),
        ([THOUGHT, tool(results=[])], "tool_use", "ok", WHOLE),
        ([text("\n"), tool(results=[])], "end_turn", "ok", WHOLE),
        ([text(WHOLE), tool(results=[])], "tool_use", "truncated", WHOLE),
        ([tool(results=[]), tool(results=[])], "tool_use", "empty", ""),
        ([tool(results=[])], "max_tokens", "truncated", WHOLE),
        ([text(HALVES[0])], "max_tokens", "truncated", HALVES[0]),
        ([THOUGHT], "max_tokens", "truncated", ""),
        ([text(HALVES[0])], "model_context_window_exceeded", "truncated", HALVES[0]),
        ([THOUGHT], "model_context_window_exceeded", "truncated", ""),
        ([text(HALVES[0])], "refusal", "refused", HALVES[0]),
        ([], "refusal", "refused", ""),
        ([text(WHOLE)], "pause_turn", "truncated", WHOLE),
        ([THOUGHT], "end_turn", "empty", ""),
        ([text(" ")], "end_turn", "empty", " "),
    ],
)
def test_an_answer_is_its_text_or_a_tool_s_input_and_ends_as_it_says(
    blocks: list[dict[str, Any]], stop: str, finish: str, said: str
) -> None:
    body = checked_message(message(*blocks, stop=stop))
    found = reply_to(body)
    assert (found.finish, found.text, found.stop_reason) == (finish, said, stop)
    assert found.raw == (None if finish == "ok" else json.dumps(body, ensure_ascii=False))
    assert (found.model_version, found.response_id) == ("a-model-20261101", "msg_1")


@pytest.mark.parametrize(("stop", "finish"), [("frobnicated", "truncated"), (None, "ok")])
def test_an_unknown_ending_does_not_count_as_whole(stop: str | None, finish: str) -> None:
    assert reply_to(message(text(WHOLE), stop=stop)).finish == finish


def test_tokens_and_dollars_are_those_of_the_bill() -> None:
    usage = {
        "input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 200},
        "output_tokens": 60, "output_tokens_details": {"thinking_tokens": 20},
    }  # fmt: skip
    found = reply_to(checked_message(message(text(WHOLE), usage=usage))).usage
    assert found.model_dump() == {
        "prompt": 1600, "cached": 1000, "cache_write_tokens": 500, "cache_write_hour_tokens": 200,
        "output": 40, "thinking": 20,
    }  # fmt: skip
    listed = price(live=TokenPrices(input=2, cached_input=0.2, cache_write=2.5, output=10))
    millionths = 100 * 2 + 1000 * 0.2 + 300 * 2.5 + 200 * 4 + 60 * 10
    assert listed.of(found) == pytest.approx(millionths / 1e6)
    assert millionths == 2550


def test_counts_that_are_not_reported_are_not_zero() -> None:
    assert reply_to(message(text(WHOLE), usage=None)).usage.prompt is None
    found = reply_to(message(text(WHOLE), usage={"cache_read_input_tokens": None})).usage
    assert (found.prompt, found.output, found.cache_write_tokens) == (None, None, None)


LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-12-01."


@pytest.mark.parametrize(
    ("refusal", "meaning"),
    [
        ((400, "max_tokens: must be positive"), RequestRejected),
        ((401, f"invalid x-api-key {KEY}"), Misconfigured),
        ((403, "Your key may not use this model."), Misconfigured),
        ((404, "model: a-model"), Misconfigured),
        ((400, CREDIT), QuotaExhausted),
        ((400, LIMIT), QuotaExhausted),
        ((400, LIMIT.replace("API", "workspace API")), QuotaExhausted),
        ((402, "There is an issue with your payment."), QuotaExhausted),
        ((429, "Limit reached.", "enforced_spend_limit_reached"), QuotaExhausted),
        ((429, "Limit reached.", "contract_spend_limit_reached"), QuotaExhausted),
    ],
)
def test_a_refusal_means_the_same_with_status_200(
    refusal: tuple[Any, ...], meaning: type[ModelError]
) -> None:
    body = error_body(*refusal)
    for status in (refusal[0], 200):
        error = error_to(json_response(body, status))
        assert type(error) is meaning, error
        assert KEY not in str(error)


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        ((429, "Slow down."), "rate_limit"),
        ((429, "Too steep.", "ramp_limit_exceeded"), "rate_limit"),
        ((529, "Overloaded"), "server"),
        ((504, "Timed out"), "server"),
        ((500, "Internal server error"), "server"),
    ],
)
def test_what_may_pass_is_tried_again_and_was_billed_only_if_it_broke_off(
    refusal: tuple[Any, ...], kind: str
) -> None:
    body = error_body(*refusal)
    for status, headers in ((refusal[0], ()), (200, ()), (refusal[0], (("Retry-After", "7"),))):
        error = error_to(json_response(body, status, headers=headers))
        assert isinstance(error, TransientError), error
        assert (error.kind, error.maybe_billed) == (kind, status == 200 and kind == "server")
        assert error.hint_seconds == (7 if headers else None)


def test_a_gateway_without_credit_stops_the_stage_whatever_it_says() -> None:
    assert isinstance(error_to(json_response({"error": "Top up."}, 402)), QuotaExhausted)


def test_a_gateway_s_error_without_a_type_is_its_fault() -> None:
    error = error_to(json_response({"error": "no backend"}))
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("server", True)


@pytest.mark.parametrize(
    "body",
    [
        {}, [], None, "yes", {"content": None}, {"content": "yes"}, {"content": [None]},
        {"content": [{"type": "text"}]}, {"content": [{"text": "yes"}]},
        message(text(WHOLE), usage={"input_tokens": "many"}), message(text(WHOLE), model=7),
    ],
)  # fmt: skip
def test_what_is_no_message_is_garbled_and_may_have_been_billed(body: Any) -> None:
    error = error_to(json_response(body))
    assert isinstance(error, TransientError), error
    assert (error.kind, error.maybe_billed) == ("garbled", True)

"""Any OpenAI-compatible chat completions endpoint."""

import json
from typing import Any

import pytest

from tasks.agents.agent import ReportSource
from tasks.agents.kinds.chat import read
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tests.servers.agent_chat import ChatAgentServer
from tests.tasks.agents.conversations import KEY, SAID, TOLD, bought, check, cited, question

A, B = "https://a.org/one", "https://b.org/two"
TOOL = "stopped to call a tool, and nobody answers tool calls here"
ONLY_THOUGHTS = "ended (stop) with nothing but its reasoning"


def serving_with(text: str, **extra: Any) -> ChatAgentServer:
    server = ChatAgentServer(text)
    server.extra = extra
    return server


def test_a_plain_completion_is_a_report() -> None:
    answer = bought("chat", ChatAgentServer("A Straße."), path="/v1")
    assert (answer.outcome, answer.text, answer.sources) == ("report", "A Straße.", ())
    assert answer.model_version == "a-model-2026-11"
    assert answer.usage.model_dump(exclude_none=True) == {
        "input_tokens": 120, "cached_tokens": 20, "output_tokens": 50, "reasoning_tokens": 30
    }  # fmt: skip
    assert (answer.cost_usd, answer.n_reasoning_steps) == (None, None)


def test_the_whole_conversation_is_sent_with_the_parameters_over_it() -> None:
    server = ChatAgentServer()
    asked = question("Decide yourself.", history=SAID)
    bought("chat", server, asked, path="/v1", parameters={"temperature": 0.2, "max_tokens": 9000})
    assert server.asked == [{
        "model": "a-model",
        "messages": TOLD,
        "temperature": 0.2,
        "max_tokens": 9000,
    }]  # fmt: skip


def test_the_list_beside_the_text_is_what_its_numbers_stand_for() -> None:
    server = ChatAgentServer("The town grew by a third[2]. It then shrank[1].")
    server.body = {
        "citations": [A, B],
        "search_results": [{"url": A, "title": "One"}, {"title": "no address"}],
        "usage": {"prompt_tokens": 1, "cost": {"total_cost": 0.5}, "num_search_queries": 4},
    }
    answer = bought("chat", server, path="/v1")
    assert answer.sources == (ReportSource(url=A, title="One"), ReportSource(url=""))
    assert (answer.cost_usd, answer.usage.searches) == (0.5, 4)
    server.body["search_results"] = None
    assert cited(bought("chat", server, path="/v1")) == [(B,), (A,)]


def test_annotations_of_gateways_are_places_in_the_text() -> None:
    text = f"The town grew by a third ([a.org]({A})). It then shrank by a half."
    link = f"([a.org]({A}))"
    said = {"url": A, "title": "One", "start_index": text.index(link),
            "end_index": text.index(link) + len(link)}  # fmt: skip
    whole = {"url": B, "title": "Two", "start_index": text.index("It"), "end_index": len(text)}
    server = serving_with(
        text,
        annotations=[
            {"type": "url_citation", "url_citation": said},
            {"type": "url_citation", **whole},
            {"type": "file_citation"}, "odd",
        ],
    )  # fmt: skip
    assert cited(bought("chat", server, path="/v1")) == [(A,), (B,)]


@pytest.mark.parametrize(
    ("content", "extra"),
    [
        ("<think>first this\nthen that</think>\n\nThe town grew by a third.", {}),
        ("The town grew by a third.", {"reasoning_content": "first this"}),
        ("The town grew by a third.", {"reasoning": "first this"}),
    ],
)
def test_thoughts_are_no_part_of_the_report_but_counted(
    content: str, extra: dict[str, Any]
) -> None:
    thoughts = len(content) - len("The town grew by a third.")
    place = {"url": A, "start_index": thoughts, "end_index": len(content)}
    answer = bought(
        "chat", serving_with(content, annotations=[{"url_citation": place}], **extra), path="/v1"
    )
    assert (answer.text, answer.n_reasoning_steps) == ("The town grew by a third.", 1)
    assert (answer.annotations[0].start, answer.annotations[0].end) == (0, len(answer.text))


@pytest.mark.parametrize(
    ("reason", "extra", "error"),
    [
        ("length", {}, "cut at its token limit"),
        ("content_filter", {}, "stopped by the provider's content filter"),
        ("stop", {"refusal": "I will not."}, "refused: I will not."),
        ("MAX_TOKENS", {}, "cut at its token limit (MAX_TOKENS)"),
        ("model_length", {}, "cut at its token limit (model_length)"),
        ("SAFETY", {}, "stopped by the provider's content filter (SAFETY)"),
        ("error", {}, "broken off by the provider (error)"),
        (
            "insufficient_system_resource",
            {},
            "broken off by the provider (insufficient_system_resource)",
        ),
        ("tool_calls", {}, f"{TOOL} (tool_calls)"),
        ("tool_calls", {"content": ""}, f"{TOOL} (tool_calls)"),
        ("stop", {"content": None}, "ended (stop) without text"),
        ("stop", {"content": "<think>never ended"}, ONLY_THOUGHTS),
        ("stop", {"content": "", "reasoning_content": "first this"}, ONLY_THOUGHTS),
    ],
)
def test_an_answer_that_ended_badly_keeps_its_text_and_says_why(
    reason: str, extra: dict[str, Any], error: str
) -> None:
    server = serving_with("Half a rep", **extra)
    server.finish_reason = reason
    answer = bought("chat", server, path="/v1")
    assert (answer.outcome, answer.error) == ("failed", error)
    assert answer.silent == (reason == "stop")  # otherwise it was cut or stopped by others
    assert answer.text == ("" if "content" in extra else "Half a rep")


@pytest.mark.parametrize("reason", [None, "", "eos", "end_turn", "STOP", "COMPLETE", "because"])
def test_a_whole_or_an_unknown_end_with_a_text_is_a_report(reason: str | None) -> None:
    server = ChatAgentServer("A report.")
    server.finish_reason = reason
    assert bought("chat", server, path="/v1").outcome == "report"


@pytest.mark.parametrize(
    ("native", "error"),
    [
        ({"native_finish_reason": "MAX_TOKENS"}, "cut at its token limit (MAX_TOKENS)"),
        (
            {"provider_specific_fields": {"native_finish_reason": "error"}},
            "broken off by the provider (error)",
        ),
        ({"native_finish_reason": "completed"}, None),
        ({"native_finish_reason": "because"}, None),
        ({"native_finish_reason": None, "provider_specific_fields": None}, None),
    ],
)
def test_the_end_that_a_gateway_hides_counts(native: dict[str, Any], error: str | None) -> None:
    message = {"role": "assistant", "content": "Half a rep"}
    choice = {"message": message, "finish_reason": "stop"} | native
    assert read(json.dumps({"choices": [choice]})).error == error


def test_usage_is_counted_under_the_names_of_all_makers() -> None:
    server = ChatAgentServer()
    server.body = {"usage": {"prompt_tokens": "100", "completion_tokens": "20",
                             "prompt_cache_hit_tokens": 40}}  # fmt: skip
    assert bought("chat", server, path="/v1").usage.model_dump(exclude_none=True) == {
        "input_tokens": 100, "cached_tokens": 40, "output_tokens": 20
    }  # fmt: skip


def test_an_error_inside_an_answer_that_says_200_is_a_failure_with_its_words() -> None:
    answer = read('{"error": {"message": "Upstream went away", "code": 502}}')
    assert (answer.outcome, answer.error) == ("failed", "Upstream went away")


def in_choice(error: Any, **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "error", "error": error}]}


def refused(answer: dict[str, Any]) -> ModelError:
    server = ChatAgentServer()
    server.refusals = [answer]
    with pytest.raises(ModelError) as caught:
        bought("chat", server, path="/v1")
    assert server.bought == 0
    return caught.value


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"message": "Slow down", "code": 429}},
        {"error": {"message": "Slow down", "code": "429"}},
        {"error": {"message": "Slow down", "type": "rate_limit_error"}},
        {"error": "Rate limit exceeded: free-models-per-min", "choices": None},
        in_choice({"message": "Too Many Requests", "status": 429}),
        in_choice({"message": "Slow down", "code": 429}, content=None),
    ],
)
def test_a_rate_limit_inside_an_answer_that_says_200_is_one(answer: dict[str, Any]) -> None:
    error = refused(answer)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("rate_limit", False)


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"message": "This request requires more credits test-key", "code": 402}},
        {"error": {"message": "Insufficient credits", "code": "payment_required"}},
        {"error": {"message": "Insufficient account balance", "code": 429}},
        {"error": {"message": "Over it", "code": "insufficient_quota"}},
        in_choice("insufficient_user_quota"),
    ],
)
def test_no_credit_inside_an_answer_that_says_200_stops_the_stage(answer: dict[str, Any]) -> None:
    error = refused(answer)
    assert isinstance(error, QuotaExhausted)
    assert "no credit or quota left" in str(error)
    assert KEY not in str(error)


def test_another_code_inside_an_answer_that_says_200_means_what_the_status_does() -> None:
    assert isinstance(refused({"error": {"message": "No", "code": 401}}), Misconfigured)
    assert isinstance(refused({"error": {"message": "No", "code": 400}}), RequestRejected)
    lost = refused({"error": {"message": "Upstream went away", "code": 502}})
    assert isinstance(lost, TransientError)
    assert lost.maybe_billed
    assert "Upstream went away" in str(lost)


@pytest.mark.parametrize(
    "answer",
    [
        in_choice({"message": "Provider disconnected", "code": 429}, content="Half a rep"),
        in_choice({"message": "Provider disconnected", "code": 429}, reasoning="First this"),
        in_choice({"message": "Provider disconnected", "code": 429})
        | {"usage": {"completion_tokens": "7"}},
        {"error": {"message": "Provider disconnected", "code": "server_error"}},
    ],
)
def test_an_error_beside_what_was_billed_or_without_a_known_code_fails_the_report(
    answer: dict[str, Any],
) -> None:
    server = ChatAgentServer()
    server.refusals = [answer]
    failed = bought("chat", server, path="/v1")
    assert (failed.outcome, failed.error) == ("failed", "Provider disconnected")
    assert len(server.asked) == 1


def test_content_in_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "A "}, {"type": "image"}, {"type": "text", "text": "report."}]
    assert bought("chat", serving_with("", content=parts), path="/v1").text == "A report."


def test_an_endpoint_that_lists_no_models_is_asked_for_one_token() -> None:
    server = ChatAgentServer()
    server.lists_models = False
    said = check("chat", server, path="/v1")
    assert "one token was bought" in said
    assert server.asked[0]["max_tokens"] == 1
    server.models = []
    with pytest.raises(Misconfigured, match="no such model"):
        check("chat", server, path="/v1")


def test_a_web_page_in_place_of_the_endpoint_is_named_as_that() -> None:
    server = ChatAgentServer(faults=["html_200"])
    server.lists_models = False
    with pytest.raises(Misconfigured, match=r"does not answer as the expected interface.*base_url"):
        check("chat", server, path="/v1")

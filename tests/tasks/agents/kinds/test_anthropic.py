"""Anthropic's Messages API with web search."""

import json
from typing import Any

import pytest

from tasks.agents.kinds.anthropic import MAX_PARTS, read
from tests.servers.agent_anthropic import AnthropicServer, search, text
from tests.tasks.agents.conversations import QUICK, SAID, bought, cited, question

A, B = "https://a.org/one", "https://b.org/two"
THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "Eq0B"}
FIRST = [text("I will look for it."), THOUGHT, *search("the Straße", A, B)]
SECOND = [
    *search("its people", B),
    text("# The Straße\n\n"),
    text("Die Straße grew by a third", A),
    text(". It then shrank by a half, and nobody knows why that was"),
    text(", as far as people say", A, B),
    text(".\n"),
]
REPORT = (
    "# The Straße\n\nDie Straße grew by a third. It then shrank by a half, and nobody knows why "
    "that was, as far as people say.\n"
)


def test_each_block_with_citations_is_a_place() -> None:
    answer = bought("anthropic", AnthropicServer([*FIRST, *SECOND]))
    assert (answer.outcome, answer.text) == ("report", REPORT)
    spans = [REPORT[said.start : said.end] for said in answer.annotations]
    assert spans == ["Die Straße grew by a third", *[", as far as people say"] * 2]
    assert cited(answer) == [(A,), (A, B)]


def test_searches_thoughts_tokens_and_version_are_kept() -> None:
    answer = bought("anthropic", AnthropicServer([*FIRST, *SECOND]))
    assert [step.query for step in answer.trace] == ["the Straße", "its people"]
    assert answer.trace[0].opened == ()
    assert (answer.n_reasoning_steps, answer.model_version) == (1, "a-model-20261101")
    assert answer.usage.model_dump(exclude_none=True) == {
        "input_tokens": 150, "cached_tokens": 40, "cache_write_tokens": 10, "output_tokens": 30,
        "reasoning_tokens": 20, "searches": 2,
    }  # fmt: skip


def test_a_fetched_page_follows_from_the_search_that_found_it() -> None:
    fetches = [
        {"type": "server_tool_use", "id": f"f{url}", "name": "web_fetch", "input": {"url": url}}
        for url in (B, A, "https://elsewhere.org")
    ]
    calls, results = zip(search("one", A), search("another", B, A), strict=True)
    blocks = [*calls, *results, *fetches, text("Report.", A)]
    answer = bought("anthropic", AnthropicServer(blocks))
    assert [step.parent for step in answer.trace] == [None, None, 1, 0, None]


def test_a_paused_turn_goes_on_as_it_came_and_what_it_took_is_added_up() -> None:
    server = AnthropicServer(FIRST, [*search("more", A)], SECOND)
    answer = bought("anthropic", server)
    assert (answer.outcome, answer.text) == ("report", REPORT)
    assert (answer.usage.searches, answer.usage.input_tokens) == (6, 450)
    assert [len(body["messages"]) for body in server.asked] == [1, 2, 3]
    assert server.asked[2]["messages"][1] == {"role": "assistant", "content": FIRST}
    assert server.asked[2]["container"] == "container_1"
    assert server.bought == 3


def test_a_continuation_that_surely_began_nothing_is_tried_again() -> None:
    server = AnthropicServer(FIRST, SECOND, faults=[None, "429", "503"])
    assert bought("anthropic", server).outcome == "report"
    assert (len(server.asked), server.bought) == (4, 2)


@pytest.mark.parametrize("fault", ["reset", "500", "400", "429_hint"])
def test_a_continuation_that_fails_leaves_what_was_bought(fault: str) -> None:
    server = AnthropicServer([text("Half a rep", A)], SECOND, faults=[None, fault])
    answer = bought("anthropic", server)
    assert (answer.outcome, answer.text) == ("failed", "Half a rep")
    assert "its continuation failed" in (answer.error or "")
    assert answer.usage.searches == 2
    assert len(server.asked) == 2


def test_a_turn_that_never_ends_is_continued_a_set_number_of_times() -> None:
    server = AnthropicServer(*[[text(f"{n}")] for n in range(30)])
    answer = bought("anthropic", server, limits=QUICK)
    assert server.bought == MAX_PARTS
    assert answer.outcome == "failed"
    assert f"paused {MAX_PARTS} times" in (answer.error or "")


@pytest.mark.parametrize(
    ("reason", "more", "error"),
    [
        ("max_tokens", {}, "cut at its token limit (max_tokens)"),
        ("model_context_window_exceeded", {},
         "cut at its token limit (model_context_window_exceeded)"),
        ("tool_use", {}, "stopped to call a tool, and nobody answers tool calls here (tool_use)"),
        ("refusal", {"stop_details": {"type": "refusal", "category": "bio",
                                      "explanation": "No."}}, "refused: bio: No."),
        ("refusal", {"stop_details": None}, "refused"),
    ],
)  # fmt: skip
def test_an_answer_that_ended_badly_keeps_its_text_and_says_why(
    reason: str, more: dict[str, Any], error: str
) -> None:
    server = AnthropicServer([text("Half a rep")], ends_with=reason)
    server.body = more
    answer = bought("anthropic", server)
    assert (answer.outcome, answer.text, answer.error) == ("failed", "Half a rep", error)
    assert answer.silent == (reason == "refusal")


def test_an_end_that_nobody_knows_keeps_the_report() -> None:
    answer = bought("anthropic", AnthropicServer([text("A report.")], ends_with="because"))
    assert (answer.outcome, answer.text) == ("report", "A report.")


def test_no_text_at_all_is_a_failure() -> None:
    answer = bought("anthropic", AnthropicServer([THOUGHT]))
    assert (answer.outcome, answer.error) == ("failed", "end_turn, but without text")
    assert answer.silent


def test_a_report_written_between_searches_is_kept_whole() -> None:
    chapters = [text("A chapter of many words. " * 9), *search("more", A), text("The end.")]
    answer = bought("anthropic", AnthropicServer(chapters))
    assert answer.text.startswith("A chapter")
    assert answer.text.endswith(" \n\nThe end.")


def test_it_searches_with_the_newest_tool_unless_parameters_say_otherwise() -> None:
    server = AnthropicServer()
    bought("anthropic", server, question("Decide yourself.", history=SAID))
    [tool] = server.asked[0]["tools"]
    assert (tool["type"], tool["name"]) == ("web_search_20260318", "web_search")
    assert [said["role"] for said in server.asked[0]["messages"]] == ["user", "assistant", "user"]
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}]
    bought("anthropic", server, parameters={"tools": tools, "max_tokens": 9})
    assert (server.asked[1]["tools"], server.asked[1]["max_tokens"]) == (tools, 9)


def test_odd_blocks_are_passed_over() -> None:
    blocks = [None, 7, {"type": 9}, {"type": "text"}, {"type": "text", "text": "A report.",
              "citations": [None, {"url": 3}, {"url": A, "title": 7}]}]  # fmt: skip
    answer = read(json.dumps({"parts": [{"content": blocks, "stop_reason": "end_turn"}]}))
    assert (answer.outcome, answer.text) == ("report", "A report.")
    assert [(said.url, said.title) for said in answer.annotations] == [(A, None)]

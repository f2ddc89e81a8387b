"""Perplexity's older asynchronous interface: one job for a key, thoughts before the text."""

import json
from typing import Any

import pytest

from tasks.agents.agent import JobAnswer
from tasks.agents.kinds import describe_doubtful_end
from tasks.agents.providers.answers import UNKNOWN_SOURCE, split_thoughts
from tasks.agents.providers.perplexity_async import read
from tests.servers.job_reports import default_report, passages
from tests.servers.jobs import JobScript
from tests.tasks.agents.conversations import PROMPT, question
from tests.tasks.agents.job_clients import (
    PERPLEXITY_ASYNC,
    answer_of,
    finished,
    request_of,
    with_client,
)

URLS = [passage.url for passage in passages(default_report(PROMPT)) if passage.url]


def read_of(response: Any, status: str = "COMPLETED", **more: Any) -> JobAnswer:
    return read(json.dumps({"status": status, "response": response, **more}))


def said(content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"choices": [{"message": message, "finish_reason": "stop", **more}]}


def test_a_report_is_bought_waited_for_and_read_without_its_thoughts() -> None:
    answer = answer_of(PERPLEXITY_ASYNC, JobScript(polls=2))
    assert answer.outcome == "report"
    assert answer.text.startswith("# Bericht")
    assert answer.n_reasoning_steps == 1
    assert "東京の人口は約1400万人である [2]." in answer.text
    assert [source.url for source in answer.sources] == list(dict.fromkeys(URLS))
    assert answer.sources[0].title == "Ærøskøbing"
    assert answer.cost_usd == 0.42
    usage = answer.usage
    assert (usage.citation_tokens, usage.reasoning_tokens, usage.searches) == (18_000, 70_000, 21)
    assert usage.input_tokens == 40
    assert answer.model_version == "sonar-deep-research"


def test_the_request_carries_our_name_for_the_job_and_all_that_was_said() -> None:
    earlier = ({"role": "user", "text": "P"}, {"role": "agent", "text": "Which?"})
    asked = question("This one.", history=earlier, previous_remote_id="x")
    more = {"reasoning_effort": "high"}
    assert request_of(PERPLEXITY_ASYNC, asked, parameters=more) == {
        "request": {
            "model": "sonar-deep-research",
            "messages": [
                {"role": "user", "content": "P"},
                {"role": "assistant", "content": "Which?"},
                {"role": "user", "content": "This one."},
            ],
            "reasoning_effort": "high",
        },
        "idempotency_key": "job-1",
    }


@pytest.mark.parametrize(
    ("text", "thoughts", "rest"),
    [
        ("<think>a</think>\n\nb", "a", "b"),
        ("\n <think>\na\n</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("b <think>c</think>", "", "b <think>c</think>"),
        ("<think>never closed", "never closed", ""),
        ("", "", ""),
    ],
)
def test_only_thoughts_at_the_begin_are_taken_out(text: str, thoughts: str, rest: str) -> None:
    assert split_thoughts(text) == (thoughts, rest)


def test_what_is_cut_or_empty_is_a_failure_that_keeps_its_text() -> None:
    cut = read_of(said("Half a", finish_reason="length"))
    assert (cut.outcome, cut.text, cut.error) == ("failed", "Half a", "cut at its token limit")
    upper = read_of(said("Half a", finish_reason="MAX_TOKENS"))
    assert (upper.outcome, upper.error) == ("failed", "cut at its token limit (MAX_TOKENS)")
    assert read_of(said("A report.", finish_reason="because")).outcome == "report"
    assert read_of(said("<think>only")).error == "COMPLETED, but without text"
    assert (cut.silent, read_of(said("<think>only")).silent) == (False, True)
    assert not read_of(None).silent
    assert read_of(None).outcome == "failed"


@pytest.mark.parametrize(
    ("reason", "shown", "doubted"),
    [("because", "because", True), ("stop", "stop", False), (None, "COMPLETED", False)],
)
def test_the_finish_reason_of_a_completed_job_is_its_last_word(
    reason: str | None, shown: str, doubted: bool
) -> None:
    server = PERPLEXITY_ASYNC.server(JobScript(polls=1))
    server.finish_reason = reason
    seen = with_client(PERPLEXITY_ASYNC, server, finished)
    assert seen.remote_state == shown
    assert bool(describe_doubtful_end("perplexity_async", shown)) == doubted


def test_an_entry_that_cannot_be_read_keeps_its_place_among_the_sources() -> None:
    both = {"citations": ["https://a/", "https://b/", 7, "https://d/"],
            "search_results": [{"url": "https://b/", "title": "B"}]}  # fmt: skip
    found = read_of(said("x [2]") | both).sources
    assert [source.url for source in found] == ["https://a/", "https://b/", "", "https://d/"]
    assert found[2] == UNKNOWN_SOURCE
    assert found[1].title == "B"


def test_reasoning_steps_tell_what_was_searched_and_read() -> None:
    steps = [
        {"thought": "t", "web_search": {"search_keywords": ["a", "b"], "search_results": []}},
        {"thought": "t", "fetch_url_content": {"contents": [{"url": "https://a/"}, {"url": 1}]}},
    ]
    message = {"content": "Text", "reasoning_steps": steps}
    answer = read_of({"choices": [{"message": message}]})
    assert [(s.query, s.opened) for s in answer.trace] == [
        ("a", ()),
        ("b", ()),
        ("", ("https://a/",)),
    ]
    assert answer.n_reasoning_steps == 2


def test_a_read_page_follows_from_the_last_query_of_the_search_that_found_it() -> None:
    def searched(words: list[str], *urls: str) -> dict[str, Any]:
        results = [{"url": url} for url in urls]
        return {"web_search": {"search_keywords": words, "search_results": results}}

    read = [{"url": f"https://{name}/"} for name in "abc"]
    steps = [
        searched(["one"], "https://a/"),
        searched(["two", "three"], "https://b/"),
        {"fetch_url_content": {"contents": read}},
    ]
    answer = read_of({"choices": [{"message": {"content": "Text", "reasoning_steps": steps}}]})
    assert [(step.query, step.parent) for step in answer.trace] == [
        ("one", None), ("two", None), ("three", None), ("", 0), ("", 2), ("", None)
    ]  # fmt: skip


def test_a_content_in_parts_is_put_together() -> None:
    parts = [{"type": "text", "text": "One, "}, {"type": "image_url"}, {"text": "two."}]
    assert read_of(said(parts)).text == "One, two."

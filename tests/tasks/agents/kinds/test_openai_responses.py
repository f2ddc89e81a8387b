"""OpenAI's Responses API: what a response says, and what it does when it says it badly."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.agents.agent import JobAnswer
from tasks.agents.kinds.openai_responses import read
from tasks.agents.wire.responses_output import clean_url, parse_output
from tests.servers.job_openai import REFUSED, RefusingOpenAi
from tests.servers.job_reports import Indexes
from tests.servers.jobs import JobScript
from tests.tasks.agents.conversations import question
from tests.tasks.agents.job_clients import (
    OPENAI,
    answer_of,
    finished,
    request_of,
    spans,
    with_client,
)


def read_of(body: Any) -> JobAnswer:
    return read(json.dumps(body))


def message(*content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "content": list(content), **more}


def words(text: str, *annotations: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": list(annotations)}


def search(*queries: str, found: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    sources = [{"type": "url", "url": url} for url in found]
    action = {"type": "search", "queries": list(queries), "sources": sources}
    return {"type": "web_search_call", "status": "completed", "action": action, **more}


def page(url: str, kind: str = "open_page") -> dict[str, Any]:
    return {"type": "web_search_call", "status": "completed", "action": {"type": kind, "url": url}}


def test_a_report_is_bought_waited_for_and_read_with_its_citations() -> None:
    answer = answer_of(OPENAI, JobScript(polls=3))
    assert answer.outcome == "report"
    assert answer.marker_placement == "instead"
    assert answer.text.startswith("# Bericht über „Write about Ærø, in full.“ – 報告 🜁\n")
    assert (
        spans(answer)[1] == "([example.com](https://example.com/tokyo?lang=ja&utm_source=openai))"
    )
    assert [a.url for a in answer.annotations][1:3] == [
        "https://example.com/tokyo?lang=ja",
        "https://example.net/houses",
    ]
    assert [a.title for a in answer.annotations] == ["Ærøskøbing", "Tokyo", "Houses", "Ærøskøbing"]
    first = "https://example.org/wiki/%C3%86r%C3%B8sk%C3%B8bing"
    assert [(s.query, s.opened, s.parent) for s in answer.trace] == [
        ("Write about Ærø, in full.", (), None),
        ("", (first,), 0),
    ]
    assert answer.model_version == "gpt-5.5-2026-10-01"
    assert answer.n_reasoning_steps == 1
    usage = answer.usage
    assert (usage.input_tokens, usage.cached_tokens) == (90_000, 4_096)
    assert (usage.reasoning_tokens, usage.searches) == (2_000, 1)
    assert usage.output_tokens
    assert usage.output_tokens < 2_000


def test_a_refusal_is_a_failure_in_the_models_own_words() -> None:
    seen = with_client(OPENAI, RefusingOpenAi(), finished)
    answer = read(seen.raw or "")
    assert (answer.outcome, answer.error) == ("failed", f"refused: {REFUSED}")
    assert answer.silent


@pytest.mark.parametrize("indexes", ["missing", "beyond", "negative", "reversed", "words"])
def test_a_place_that_is_none_leaves_the_source_without_a_place(indexes: Indexes) -> None:
    answer = answer_of(OPENAI, JobScript(indexes=indexes))
    assert answer.outcome == "report"
    assert spans(answer) == [None] * 4


@pytest.mark.parametrize("text", ["Half a rep", ""])
def test_a_completed_response_with_an_incomplete_message_is_a_failure(text: str) -> None:
    cut = message(words(text), status="incomplete")
    answer = read_of({"status": "completed", "output": [message(words("Whole.")), cut]})
    assert answer.error == "completed, but its text is incomplete"
    alone = read_of({"status": "completed", "output": [cut]})
    assert (answer.outcome, alone.outcome, alone.silent) == ("failed", "failed", False)
    final = message(words("Whole."), status="completed", phase="final_answer")
    assert read_of({"status": "completed", "output": [cut, final]}).outcome == "report"


def test_the_request_says_what_it_must_and_parameters_go_over_it() -> None:
    body = request_of(OPENAI, question(previous_remote_id="resp_1"))
    assert body == {
        "model": "gpt-5.5",
        "input": question().prompt,
        "background": True,
        "store": True,
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [{"type": "web_search"}],
        "include": ["web_search_call.action.sources"],
        "metadata": {"evergreen_job": "job-1"},
        "previous_response_id": "resp_1",
    }
    parameters = {"reasoning": {"effort": "xhigh"}, "metadata": {"team": "a"}}
    changed = request_of(OPENAI, question(), parameters=parameters)
    assert changed["reasoning"] == {"effort": "xhigh"}
    assert changed["metadata"] == {"team": "a", "evergreen_job": "job-1"}


def test_only_final_answers_make_the_report_where_any_message_is_marked_as_one() -> None:
    commentary = message(words("I shall look first."), phase="commentary")
    final = message(words("The report."), phase="final_answer")
    assert parse_output([commentary, final]).text == "The report."
    assert parse_output(
        [message(words("One,"), words(" two.")), message(words("Three."))]
    ).text == ("One, two.\n\nThree.")


def test_an_annotation_without_an_address_is_none_and_one_of_a_file_neither() -> None:
    file = {"type": "file_citation", "file_id": "f", "index": 0}
    bare = {"type": "url_citation", "start_index": 0, "end_index": 1}
    assert parse_output([message(words("Text", file, bare))]).annotations == ()


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4), st.data())
def test_characters_of_one_part_become_characters_of_the_whole(
    parts: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(parts[-1])))
    end = data.draw(st.integers(start, len(parts[-1])))
    cited = {"url": "https://a.example/", "start_index": start, "end_index": end}
    output = [message(*(words(part) for part in parts[:-1])), message(words(parts[-1], cited))]
    found = parse_output(output)
    if parts[-1]:
        (annotation,) = found.annotations
        assert found.text[annotation.start : annotation.end] == parts[-1][start:end]
        assert found.text.endswith(parts[-1])


def test_a_page_follows_from_the_search_that_found_it_and_is_opened_once() -> None:
    a, b = "https://a.example/", "https://b.example/"
    output = parse_output(
        [
            search("first", "second", found=(a + "?utm_source=openai",)),
            page(a),
            page(a, "find_in_page"),
            page(b, "find_in_page"),
            search("third", found=(b,), status="failed"),
            page(b),
        ]
    )
    assert [(s.query, s.opened, s.parent) for s in output.trace] == [
        ("first", (), None),
        ("second", (), None),
        ("", (a,), 1),
        ("", (b,), None),
        ("third", (), None),
        ("", (b,), 4),
    ]
    assert output.n_searches == 1


def test_what_is_not_said_is_null_and_not_nought() -> None:
    answer = read_of({"status": "failed", "error": {"message": "x"}, "output": None})
    assert answer.usage.searches is None
    assert answer.n_reasoning_steps is None
    assert answer.usage.input_tokens is None


@pytest.mark.parametrize(
    ("marked", "clean"),
    [
        ("https://a.example/x?utm_source=openai", "https://a.example/x"),
        ("https://a.example/x?a=1&utm_source=openai", "https://a.example/x?a=1"),
        ("https://a.example/x?utm_source=openai&a=1", "https://a.example/x?a=1"),
        ("https://a.example/x?utm_source=openai#part", "https://a.example/x#part"),
        ("https://a.example/x?a=1&utm_source=openai&b=2#p", "https://a.example/x?a=1&b=2#p"),
        ("https://a.example/x?utm_source=openai.com", "https://a.example/x?utm_source=openai.com"),
        ("https://a.example/x?utm_source=chatgpt", "https://a.example/x?utm_source=chatgpt"),
    ],
)
def test_openais_mark_is_taken_out_of_addresses_and_nothing_else(marked: str, clean: str) -> None:
    assert clean_url(marked) == clean

"""Gemini Deep Research: bytes become characters, the last outputs are the report."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.agents.agent import JobAnswer
from tasks.agents.kinds.gemini_deep_research import byte_to_character_offsets, read
from tests.servers.job_gemini import REDIRECT
from tests.servers.job_reports import Indexes
from tests.servers.jobs import JobScript
from tests.tasks.agents.conversations import question
from tests.tasks.agents.job_clients import (
    GEMINI,
    answer_of,
    finished,
    request_of,
    spans,
    with_client,
)


def interaction(*content: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "id": "i",
        "status": status,
        "steps": [{"type": "model_output", "content": list(content)}],
        **more,
    }


def text(words: str, *citations: tuple[Any, Any]) -> dict[str, Any]:
    annotations = [
        {"type": "url_citation", "url": "https://a.example/", "start_index": a, "end_index": b}
        for a, b in citations
    ]
    return {"type": "text", "text": words, "annotations": annotations}


def read_of(body: Any) -> JobAnswer:
    return read(json.dumps(body))


def test_a_report_is_bought_waited_for_and_read_with_its_citations() -> None:
    answer = answer_of(GEMINI, JobScript(polls=3))
    assert answer.outcome == "report"
    assert answer.text.startswith("# Bericht über „Write about Ærø, in full.“ – 報告 🜁\n")
    assert "Insel Ærø [cite: 1]. 東京" in answer.text
    assert "**Sources:**\n1. [example.org](" in answer.text
    assert spans(answer) == [
        "Ærøskøbing liegt auf der dänischen Insel Ærø",
        "東京の人口は約1400万人である",
        "Its old town has 36 listed houses",
        "Die Fähre braucht 75 Minuten ⛴",
    ]
    assert answer.marker_placement == "after"
    assert all(REDIRECT in annotation.url for annotation in answer.annotations)
    assert answer.model_version == GEMINI.model
    assert answer.n_reasoning_steps == 2
    assert [step.query for step in answer.trace[:2]] == [
        "Write about Ærø, in full.",
        "second query",
    ]
    assert answer.trace[2].opened == ("https://example.org/wiki/%C3%86r%C3%B8sk%C3%B8bing",)
    assert len(answer.trace) == 3
    usage = answer.usage
    assert (usage.input_tokens, usage.cached_tokens) == (350_000, 20_000)
    assert (usage.reasoning_tokens, usage.searches) == (9_000, 12)
    assert answer.cost_usd is None


def test_a_completed_interaction_without_a_text_is_a_failure() -> None:
    assert read_of(interaction()).error == "completed, but without text"
    assert read_of(interaction()).silent
    assert read_of(interaction(text(" \n"))).outcome == "failed"


@pytest.mark.parametrize(
    "indexes", ["missing", "beyond", "negative", "reversed", "words", "inside"]
)
def test_a_place_that_is_none_leaves_the_source_without_a_place(indexes: Indexes) -> None:
    answer = answer_of(GEMINI, JobScript(indexes=indexes))
    assert answer.outcome == "report"
    assert len(answer.annotations) == 4
    # One byte into a sentence that begins with an ASCII letter is a place like any other.
    ascii_ones = ["ts old town has 36 listed houses", "ie Fähre braucht 75 Minuten ⛴"]
    inside = indexes == "inside"
    assert spans(answer) == [None, None, *(ascii_ones if inside else [None, None])]


@given(st.text(max_size=30), st.text(max_size=30), st.data())
def test_bytes_of_one_part_become_characters_of_the_whole(
    first: str, second: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(second)))
    end = data.draw(st.integers(start, len(second)))
    place = (len(second[:start].encode()), len(second[:end].encode()))
    answer = read_of(interaction(text(first), text(second, place)))
    (annotation,) = answer.annotations
    assert (annotation.start, annotation.end) == (len(first) + start, len(first) + end)
    assert spans(answer) == [second[start:end]]


@given(st.text(st.characters(), max_size=20))
def test_every_character_begins_at_one_byte_and_no_byte_inside_one_is_a_place(words: str) -> None:
    n_bytes = len(words.encode("utf-8", "surrogatepass"))
    places = byte_to_character_offsets(words, range(-1, n_bytes + 2))
    assert sorted(places.values()) == list(range(len(words) + 1))
    for offset, index in places.items():
        assert len(words[:index].encode("utf-8", "surrogatepass")) == offset


def test_the_text_is_what_the_maker_s_own_package_sums_up() -> None:
    from google.genai._gaos.types.interactions import Interaction

    def output(*texts: str) -> dict[str, Any]:
        return {"type": "model_output", "content": [{"type": "text", "text": t} for t in texts]}

    search = {"type": "google_search_call", "id": "s", "arguments": {"queries": ["q"]}}
    steps = [output("No report."), search, output("One, "), {"type": "thought"}, output("two.")]
    body = {"id": "i", "status": "completed", "created": "2026-11-28T00:00:00Z",
            "updated": "2026-11-28T00:00:00Z", "steps": steps}  # fmt: skip
    assert (
        read(json.dumps(body)).text == Interaction.model_validate(body).output_text == "One, two."
    )
    summed = body | {"steps": [], "output_text": "One, two."}
    assert read(json.dumps(summed)).text == "One, two."
    both = body | {"output_text": "Another."}
    assert read(json.dumps(both)).text == "One, two."


def test_the_report_is_the_last_outputs_with_nothing_but_thoughts_between_them() -> None:
    def output(words: str) -> dict[str, Any]:
        return {"type": "model_output", "content": [text(words)]}

    steps = [
        output("A plan. "),
        {"type": "google_search_call", "arguments": {"queries": ["q"]}},
        output("One, "),
        {"type": "thought"},
        output("two."),
        {"type": "a_step_of_tomorrow"},
    ]
    assert read_of({"status": "completed", "steps": steps}).text == "One, two."
    asked = [{"type": "user_input", "content": [text("Q")]}]
    assert read_of({"status": "completed", "steps": [*steps, *asked]}).text == ""


def test_a_page_is_opened_where_its_result_says_so_or_nobody_says_otherwise() -> None:
    steps = [
        {"type": "url_context_call", "id": "1", "arguments": {"urls": ["https://a/", "https://b/"]}},
        {"type": "url_context_result", "call_id": "1",
         "result": [{"url": "https://a/", "status": "error"}, {"url": "https://b/"}]},
        {"type": "url_context_call", "id": "2", "arguments": {"urls": ["https://c/"]}},
    ]  # fmt: skip
    trace = read_of({"status": "completed", "steps": steps}).trace
    assert [step.opened for step in trace] == [("https://b/",), ("https://c/",)]


def test_the_request_says_what_it_must_and_parameters_go_over_it() -> None:
    from tasks.agents.kinds.gemini_deep_research import AGENT_CONFIG  # imports half of an SDK

    assert request_of(GEMINI, question(previous_remote_id="i1")) == {
        "agent": GEMINI.model, "input": question().prompt, "background": True, "store": True,
        "agent_config": AGENT_CONFIG, "previous_interaction_id": "i1",
        "extra_body": {},
    }  # fmt: skip
    changed = {"agent_config": {"visualization": "auto"}, "service_tier": "flex"}
    server = GEMINI.server()
    with_client(GEMINI, server, finished, parameters=changed)
    (job,) = server.jobs.values()
    assert job.body["agent_config"] == AGENT_CONFIG | {"visualization": "auto"}
    assert job.body["service_tier"] == "flex"
    assert job.body["background"] is True

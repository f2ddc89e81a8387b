"""xAI's Responses API."""

import pytest

from tasks.agents.agent import Annotation
from tasks.agents.citations.markdown import render_report
from tasks.extraction.claims import extract_claims
from tests.servers.agent_xai import XaiServer
from tests.tasks.agents.conversations import SAID, TOLD, bought, question

A, B = "https://a.org/one", "https://b.org/two"
TEXT = f"Die Straße grew by a third.[[1]]({A}) It then shrank by a half [[2]]({B})[[1]]({A})."


def test_a_report_comes_with_its_citations_trace_usage_and_cost() -> None:
    answer = bought("xai", XaiServer(TEXT), path="/v1")
    assert (answer.outcome, answer.text, answer.error) == ("report", TEXT, None)
    first = answer.annotations[0]
    assert TEXT[first.start : first.end] == f"[[1]]({A})"
    assert answer.sources[-1].url == "https://met.org/only"
    assert [step.query for step in answer.trace] == ["the town", ""]
    assert answer.trace[1].opened == (A,)
    assert answer.model_version == "a-model-0709"
    assert answer.usage.model_dump() == {
        "input_tokens": 7583, "cached_tokens": 3072, "output_tokens": 3000,
        "cache_write_tokens": None, "cache_write_hour_tokens": None,
        "reasoning_tokens": 192, "citation_tokens": None, "searches": 3,
    }  # fmt: skip
    assert answer.cost_usd == pytest.approx(0.02923315)
    assert answer.n_reasoning_steps == 1


@pytest.mark.parametrize("without_places", [False, True])
def test_its_citations_are_read_with_and_without_places(without_places: bool) -> None:
    server = XaiServer(TEXT)
    server.without_places = without_places
    written = render_report(bought("xai", server, path="/v1"), kind="write_article", citations=None)
    claims = extract_claims("", written).claims
    assert [tuple(c.url for c in claim.citations) for claim in claims] == [(A,), (B, A)]
    assert [claim.text for claim in claims] == [
        "Die Straße grew by a third.", "It then shrank by a half."
    ]  # fmt: skip


def test_it_sends_the_whole_conversation_and_searches_the_web_only() -> None:
    server = XaiServer()
    bought("xai", server, question("Decide yourself.", history=SAID), path="/v1")
    assert server.asked == [{
        "model": "a-model",
        "input": TOLD,
        "tools": [{"type": "web_search"}],
        "store": False,
    }]  # fmt: skip
    tools = {"tools": [{"type": "web_search"}, {"type": "x_search"}], "max_turns": 5}
    bought("xai", server, path="/v1", parameters=tools)
    assert server.asked[1]["tools"] == tools["tools"]
    assert server.asked[1]["max_turns"] == 5


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
         "incomplete: max_output_tokens"),
        ({"status": "failed", "error": {"code": "server_error", "message": "Sorry."}},
         "failed: server_error: Sorry."),
        ({"status": "in_progress"}, "in_progress"),
        ({"incomplete_details": {"reason": "max_output_tokens"}},
         "completed, but its text is incomplete: max_output_tokens"),
    ],
)  # fmt: skip
def test_an_answer_that_ended_badly_keeps_its_text_and_says_why(
    body: dict[str, object], error: str
) -> None:
    server = XaiServer("Half a rep")
    server.body = body
    answer = bought("xai", server, path="/v1")
    assert (answer.outcome, answer.text, answer.error) == ("failed", "Half a rep", error)


def test_annotations_are_places_in_the_text() -> None:
    answer = bought("xai", XaiServer(f"x [[7]]({A})"), path="/v1")
    assert answer.annotations == (Annotation(start=2, end=26, url=A, title="7"),)

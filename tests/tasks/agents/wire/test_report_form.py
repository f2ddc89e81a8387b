"""The form in which programs and services hand over a report."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.agents.agent import AgentUsage, ReportSource, UnreadableJobAnswer
from tasks.agents.wire.report_form import ReportForm, parse_report_form
from tasks.warehouse.traces import SearchStep

WHOLE = {
    "report": "The town grew [1].",
    "sources": [{"url": "https://a.org", "title": "One", "seen": "today"}],
    "trace": [{"query": "town", "opened": ["https://a.org"]}, {"query": "more", "parent": 0}],
    "usage": {"input_tokens": 1, "output_tokens": 2, "searches": 3, "more": "x"},
    "cost_usd": 0.12,
    "model_version": "m-1",
    "question": False,
    "anything": {"else": 1},
}


def test_all_that_is_said_is_taken_and_more_is_passed_over() -> None:
    answer = parse_report_form(WHOLE)
    assert (answer.outcome, answer.text, answer.error) == ("report", "The town grew [1].", None)
    assert answer.sources == (ReportSource(url="https://a.org", title="One"),)
    assert answer.trace == (
        SearchStep(query="town", opened=("https://a.org",)), SearchStep(query="more", parent=0)
    )  # fmt: skip
    assert answer.usage == AgentUsage(input_tokens=1, output_tokens=2, searches=3)
    assert (answer.cost_usd, answer.model_version) == (0.12, "m-1")


def test_what_is_not_said_is_not_known() -> None:
    answer = parse_report_form({"report": "x", "usage": None, "cost_usd": None, "sources": None})
    assert (answer.usage, answer.cost_usd, answer.sources) == (AgentUsage(), None, ())


def test_a_question_back_and_a_failure_are_said_so() -> None:
    assert parse_report_form({"report": "Which?", "question": True}).outcome == "question"
    failed = parse_report_form({"report": "half", "error": "no disk"})
    assert (failed.outcome, failed.text, failed.error) == ("failed", "half", "no disk")
    for nothing in ({}, {"report": " \n"}, {"question": True}):
        assert parse_report_form(nothing).error == "the answer holds neither a report nor an error"


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("report", 3, "report: "),
        ("report", ["x"], "report: "),
        ("sources", {"url": "x"}, "sources: "),
        ("sources", [{"url": "x"}, {"title": "y"}], "sources.1.url: "),
        ("sources", [{"url": 3}], "sources.0.url: "),
        ("trace", [{"opened": "https://a.org"}], "trace.0.opened: "),
        ("trace", [{"query": "x", "parent": 0}], "trace.0.parent: 0 is not the index"),
        ("trace", [{"query": "x", "parent": -1}], "trace.0.parent: "),
        ("usage", {"input_tokens": -1}, "usage.input_tokens: "),
        ("usage", {"input_tokens": 2**70}, "usage.input_tokens: "),
        ("usage", {"searches": "3"}, "usage.searches: "),
        ("usage", {"searches": True}, "usage.searches: "),
        ("usage", [], "usage: "),
        ("cost_usd", -0.1, "cost_usd: "),
        ("cost_usd", float("nan"), "cost_usd: "),
        ("cost_usd", float("inf"), "cost_usd: "),
        ("cost_usd", "1", "cost_usd: "),
        ("cost_usd", 10**400, "cost_usd: "),
        ("question", "no", "question: "),
        ("error", {"code": 1}, "error: "),
        ("model_version", 5, "model_version: "),
        ("sources", [{"url": "x"}] * 20_000, "sources: "),
    ],
)
def test_what_is_of_the_wrong_form_is_named_by_its_field(
    field: str, value: object, named: str
) -> None:
    with pytest.raises(UnreadableJobAnswer, match="does not match the expected form") as caught:
        parse_report_form(WHOLE | {field: value})
    assert named in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("whole", [None, [], "x", 3])
def test_what_is_no_object_is_unreadable(whole: object) -> None:
    with pytest.raises(UnreadableJobAnswer, match="form: answer"):
        parse_report_form(whole)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*ReportForm.model_fields, "x"]), JSON))
@settings(max_examples=100, deadline=None)
def test_whatever_is_given_is_an_answer_or_unreadable(whole: dict[str, object]) -> None:
    with suppress(UnreadableJobAnswer):
        answer = parse_report_form(whole)
        assert (answer.error is None) == (answer.outcome != "failed")
        assert answer.text.strip() or answer.outcome == "failed"
        answer.model_dump_json().encode()  # what the warehouse can hold

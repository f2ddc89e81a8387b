"""Numbers and outcomes in the words of the pages: nothing is a dash, never a nought."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.site import wording
from tasks.site.wording import MARKS, choose_mark
from tasks.warehouse.explanations import OUTCOMES
from tasks.warehouse.rows import Status


def test_every_outcome_of_a_claim_has_a_mark_of_its_own_words() -> None:
    assert set(MARKS) == {*OUTCOMES, "unjudged"}
    for mark in MARKS.values():
        assert mark.sign
        assert mark.word


def test_nothing_is_shown_as_a_dash() -> None:
    for shown in (
        wording.format_number(None),
        wording.format_figure(None),
        wording.format_ranks(None, None),
        wording.format_dollars(None),
        wording.format_moment(None),
        wording.format_day(None),
    ):
        assert shown == "–"
    assert wording.format_interval(None, 0.5) == ""
    assert (wording.format_figure(0.0), wording.format_number(0), wording.format_dollars(0.0)) == (
        "0.0",
        "0",
        "$0.00",
    )


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (wording.format_number(1234567), "1,234,567"),
        (wording.format_number(0.125), "0.12"),
        (wording.format_figure(0.2239), "22.4"),
        (wording.format_figure(1234.5, "number"), "1,234.50"),
        (wording.format_interval(0.209, 0.24), "20.9–24.0"),
        (wording.format_interval(-0.05, 0.1), "-5.0 to 10.0"),
        (wording.format_interval(-0.0004, 0.078), "0.0–7.8"),
        (wording.format_ranks(2, 4), "2–4"),
        (wording.format_ranks(1, 1), "1"),
        (wording.format_basis(1, 1, None), "1 item"),
        (wording.format_basis(1200, 2, 4), "1,200 items"),
        (wording.format_basis(70, 1, 69), "70 items, only 1 of 69 reports"),
        (wording.format_dollars(0.0123), "$0.0123"),
        (wording.format_dollars(12.3), "$12.30"),
        (wording.format_moment(datetime(2026, 11, 2, 4, 5, tzinfo=UTC)), "2026-11-02 04:05 UTC"),
        (wording.format_size(12_345), "12 kB"),
        (wording.format_size(3_400_000), "3.4 MB"),
        (wording.format_size(1), "1 kB"),
    ],
)
def test_figures_are_said_so(shown: str, words: str) -> None:
    assert shown == words


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_is_never_shown_smaller(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert float(wording.format_figure(low)) <= float(wording.format_figure(high))


@given(
    st.sampled_from(sorted(Status)),
    st.none() | st.text(),
    st.none() | st.floats(0, 1),
    st.sampled_from(["coverage", "conflict", "reference"]),
)
def test_only_what_was_decided_looks_decided(
    status: Status, label: str | None, score: float | None, step: str
) -> None:
    mark = choose_mark(status, label, score, step)
    if status != Status.OK:
        assert mark.tone in ("open", "none")
        assert mark.sign not in "✓✗○"
    assert mark.word or label == ""


def test_a_reason_begins_with_words() -> None:
    said = "not_assessed: the judge offline cannot see contradiction"
    assert wording.format_reason(said) == "not assessed: the judge offline cannot see contradiction"
    for other in ("the report cites no URL", "my_own: reason", ""):
        assert wording.format_reason(other) == other
    assert wording.format_reason(None) == ""


def test_open_answers_are_told_from_final_ones() -> None:
    for status in Status:
        tone = choose_mark(status, None, None, "coverage").tone
        assert (tone == "open") == (status in (Status.JUDGE_ERROR, Status.UNPARSABLE))

"""Numbers and outcomes in the words of the pages: nothing is a dash, never a nought."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.site import wording
from tasks.site.wording import MARKS, decision_mark
from tasks.warehouse.explained import OUTCOMES
from tasks.warehouse.rows import Status


def test_every_outcome_of_a_claim_has_a_mark_of_its_own_words() -> None:
    assert set(MARKS) == {*OUTCOMES, "unjudged"}
    for mark in MARKS.values():
        assert mark.sign
        assert mark.word


def test_nothing_is_shown_as_a_dash() -> None:
    for shown in (wording.number(None), wording.figure(None), wording.ranks(None, None),
                  wording.dollars(None), wording.moment(None), wording.day(None)):  # fmt: skip
        assert shown == "–"
    assert wording.interval(None, 0.5) == ""
    assert (wording.figure(0.0), wording.number(0), wording.dollars(0.0)) == ("0.0", "0", "$0.00")


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (wording.number(1234567), "1,234,567"),
        (wording.number(0.125), "0.12"),
        (wording.figure(0.2239), "22.4"),
        (wording.figure(1234.5, "number"), "1,234.50"),
        (wording.interval(0.209, 0.24), "20.9–24.0"),
        (wording.interval(-0.05, 0.1), "-5.0 to 10.0"),
        (wording.ranks(2, 4), "2–4"),
        (wording.ranks(1, 1), "1"),
        (wording.items(1), "1 item"),
        (wording.items(1200), "1,200 items"),
        (wording.dollars(0.0123), "$0.0123"),
        (wording.dollars(12.3), "$12.30"),
        (wording.moment(datetime(2026, 11, 2, 4, 5, tzinfo=UTC)), "2026-11-02 04:05 UTC"),
        (wording.size(12_345), "12 kB"),
        (wording.size(3_400_000), "3.4 MB"),
        (wording.size(1), "1 kB"),
    ],
)
def test_figures_are_said_so(shown: str, words: str) -> None:
    assert shown == words


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_is_never_shown_smaller(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert float(wording.figure(low)) <= float(wording.figure(high))


@given(
    st.sampled_from(sorted(Status)),
    st.none() | st.text(),
    st.none() | st.floats(0, 1),
    st.sampled_from(["coverage", "conflict", "reference"]),
)
def test_only_what_was_decided_looks_decided(
    status: Status, label: str | None, score: float | None, step: str
) -> None:
    mark = decision_mark(status, label, score, step)
    if status != Status.OK:
        assert mark.tone in ("open", "none")
        assert mark.sign not in "✓✗○"
    assert mark.word or label == ""


def test_a_reason_begins_with_words() -> None:
    said = "not_assessed: the judge offline cannot see contradiction"
    assert wording.reason(said) == "not assessed: the judge offline cannot see contradiction"
    for other in ("the report cites no URL", "my_own: reason", ""):
        assert wording.reason(other) == other
    assert wording.reason(None) == ""


def test_open_answers_are_told_from_final_ones() -> None:
    for status in Status:
        tone = decision_mark(status, None, None, "coverage").tone
        assert (tone == "open") == (status in (Status.JUDGE_ERROR, Status.UNPARSABLE))

"""Days of a corpus, in the forms that corpora have."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.sandbox.page import parse_day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2025-05-06", date(2025, 5, 6)),
        (" 20250506 ", date(2025, 5, 6)),
        ("2025-05-06T07:08:09Z", date(2025, 5, 6)),
        ("2025-05-06 23:30:00-05:00", date(2025, 5, 7)),
        ("2025-05-06T23:30:00.123456", date(2025, 5, 6)),
        ("2025-05", date(2025, 5, 31)),
        ("2024-02", date(2024, 2, 29)),
        ("2025", date(2025, 12, 31)),
        ("Tue, 06 May 2025 07:08:09 GMT", date(2025, 5, 6)),
        ("6 May 2025 23:30:00 -0500", date(2025, 5, 7)),
        (1746515289, date(2025, 5, 6)),
        (1746515289000, date(2025, 5, 6)),
        ("1746515289", date(2025, 5, 6)),
        (-86400, date(1969, 12, 31)),
    ],
)
def test_a_day_is_read_in_the_forms_that_corpora_have(said: str | int, day: date) -> None:
    assert parse_day(said) == day


@pytest.mark.parametrize(
    "said",
    ["", "yesterday", "2025-13", "0000", "0000-05", "2025-02-30", "05/06/2025", "May", "-",
     "0001-01-01T00:00:00+10:00", "9" * 5000, 10**30, -(10**30)],
)  # fmt: skip
def test_what_is_no_day_is_none(said: str | int) -> None:
    assert parse_day(said) is None


@given(st.text(max_size=60) | st.integers())
def test_nothing_stops_it(said: str | int) -> None:
    parse_day(said)

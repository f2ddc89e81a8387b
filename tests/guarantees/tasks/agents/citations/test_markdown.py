"""However long or odd an answer is, its citations are put in one form in seconds."""

import time
from typing import Any

import pytest

from tasks.agents.agent import Annotation, JobAnswer
from tests.tasks.agents.citations.test_markdown import article

PROSE = "The town grew by a third in the year ([a](https://a.org/x)). "
HOSTILE = [
    " ",
    "a",
    "[",
    "`",
    "(",
    "|a|\n",
    "[cite: 1]",
    "> ",
    "https://a.org/",
    "1. x https://a.org\n",
]


def seconds(unit: str, length: int, how: Any) -> float:
    """For a text of so many characters with an annotation at every hundredth."""
    text = (unit * (length // len(unit) + 1))[:length]
    annotations = tuple(
        Annotation(start=at, end=at + 90, url=f"https://a.org/{at % 700_000}")
        for at in range(0, length, 100)
    )
    answer = JobAnswer(outcome="report", text=text, annotations=annotations, marker_placement=how)
    started = time.process_time()
    article(answer, "annotations")
    return time.process_time() - started


@pytest.mark.parametrize("how", ["after", "instead"])
def test_a_megabyte_with_ten_thousand_annotations_takes_seconds(how: Any) -> None:
    assert seconds(PROSE, 1_000_000, how) < 15  # measured: 2 to 3


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("how", ["after", "instead"])
def test_no_text_takes_long(unit: str, how: Any) -> None:
    assert seconds(unit, 100_000, how) < 5  # measured: under half a second

"""Flesch reading ease is what textstat gives, and no text breaks it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.style import count_syllables, flesch_reading_ease

REPORTS = Path(__file__).resolve().parents[3] / "data" / "sample" / "test_data"
BY_TEXTSTAT = {
    "sample_blogger/md_data/Eddystone_Lighthouse.md": 29.02,
    "sample_blogger/md_data/Mercury_(planet).md": 53.21,
    "sample_blogger/md_data/Seven_Bridges_of_Königsberg.md": 76.42,
    "sample_scholar/md_data/Eddystone_Lighthouse.md": 64.61,
    "sample_scholar/md_data/Mercury_(planet).md": 58.38,
    "sample_scholar/md_data/Seven_Bridges_of_Königsberg.md": 71.65,
    "sample_sketch/md_data/Eddystone_Lighthouse.md": 77.94,
    "sample_sketch/md_data/Mercury_(planet).md": 56.93,
    "sample_sketch/md_data/Seven_Bridges_of_Königsberg.md": 78.25,
}
"""What textstat 0.7.4 gives for the sample's reports, without words of more than 50 characters."""


@pytest.mark.parametrize("path", BY_TEXTSTAT)
def test_a_report_is_as_readable_as_textstat_says(path: str) -> None:
    text = (REPORTS / path).read_text("utf-8")
    kept = " ".join(word for word in text.split() if len(word) <= 50)
    assert flesch_reading_ease(kept) == BY_TEXTSTAT[path]


@pytest.mark.parametrize(
    ("word", "syllables"), [("cat", 1), ("lighthouse", 2), ("encyclopedia", 5), ("", 1)]
)
def test_syllables_are_where_a_word_may_be_hyphenated(word: str, syllables: int) -> None:
    assert count_syllables(word) == syllables


@given(st.text())
def test_every_text_has_a_figure(text: str) -> None:
    assert flesch_reading_ease(text) <= 206.84

"""What nobody sees in a text is shown, what people wrote stays."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.foreign_text import HiddenCharacters, escape_hidden, make_visible, refuse_hidden

FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters without a form, by which names that look alike differ."""
UNSEEN = (
    "\x00", "\x07", "\x08", "\r", "\x1b", "\x7f", "\x85", "\x9b", "\xad", "\u061c", "\u180e",
    "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2028", "\u202e", "\u2060", "\u2066",
    "\u206a", "\ufeff", "\ufff9", "\U000e0001", "\udc9b", *FILLERS,
)  # fmt: skip


@given(st.text())
def test_visible_text_has_no_control_and_no_direction_of_its_own(text: str) -> None:
    shown = make_visible(text)
    for c in shown:
        assert unicodedata.category(c) not in ("Cc", "Cs") or c in "\t\n"
        assert unicodedata.bidirectional(c) not in (
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"
        )  # fmt: skip
    assert make_visible(shown) == shown


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters=FILLERS)))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert make_visible(text) == text


def test_scripts_that_need_joiners_keep_them() -> None:
    for text in ("👩‍👩‍👧‍👦", "می‌خواهم", "क्‍ष", "שלום עולם", "مرحبا"):
        assert make_visible(text) == text


@pytest.mark.parametrize("unseen", UNSEEN)
def test_what_nobody_sees_is_named(unseen: str) -> None:
    assert make_visible(f"a{unseen}b") == f"a⟨U+{ord(unseen):04X}⟩b"


def test_a_name_in_one_line_has_no_line_break() -> None:
    assert make_visible("a\tb\nc") == "a\tb\nc"
    assert make_visible("a\tb\nc", one_line=True) == "a⟨U+0009⟩b⟨U+000A⟩c"


@given(st.text())
def test_json_keeps_the_values_of_what_it_escapes(text: str) -> None:
    written = escape_hidden(json.dumps([text], ensure_ascii=False, indent=1))
    assert json.loads(written) == [text]
    assert make_visible(written) == written


@pytest.mark.parametrize("name", [*UNSEEN, "\n", "\t", "\ufe0f", "\U000e0101", "\u034f"])
def test_a_name_with_what_nobody_sees_is_refused(name: str) -> None:
    with pytest.raises(HiddenCharacters, match=rf"^The agent x⟨U\+{ord(name):04X}⟩: its name has"):
        refuse_hidden(f"x{name}", "The agent")
    refuse_hidden("Ünal's agent (2026) 图 مرحبا 🤖", "The agent")

"""Prose without its apparatus does not show where the apparatus was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extraction.citations import find_markers
from tasks.extraction.prose import strip_apparatus


@pytest.mark.parametrize(
    ("markdown", "prose"),
    [
        ("A word [1]. Next one [3], [4]; and [5] then.", "A word. Next one; and then."),
        ("It was lit in 1698 ([1](http://a.example/b)).", "It was lit in 1698."),
        ('He wrote ["Foo"](http://a.example) then.', 'He wrote "Foo" then.'),
        ("a [1] [2]b", "a b"),
        ("call foo() now [1]", "call foo() now"),
        ("# H\n\nText [1].\n\n## References\n[1] http://a.example", "# H\n\nText."),
        ("[1]", ""),
    ],
)
def test_markers_go_with_the_blanks_and_brackets_around_them(markdown: str, prose: str) -> None:
    assert strip_apparatus(markdown) == prose


WORDS = st.sampled_from(["word", "Two words", "1698", "foo()", "(a remark)"])
MARKERS = st.sampled_from(["", "[1]", " [2]", " [1][3]", " [1], [2]", " ([4](http://a.example/x))"])


@given(st.lists(st.tuples(WORDS, MARKERS), min_size=1, max_size=12))
def test_a_text_with_markers_reads_as_the_one_without(pieces: list[tuple[str, str]]) -> None:
    cited = ", ".join(word + marker for word, marker in pieces) + "."
    plain = ", ".join(word for word, _ in pieces) + "."
    assert strip_apparatus(cited) == plain
    assert find_markers(strip_apparatus(cited)) == []

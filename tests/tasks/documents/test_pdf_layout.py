"""What holds for the lines and tags of any page."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from pdfplumber.structure import PDFStructElement

from tasks.documents.pdf_marks import place_marks
from tasks.documents.pdf_tags import TagPlace, walk_tags
from tasks.documents.pdf_words import PdfLine, PdfWord, drop_running_heads

PLACES = st.none() | st.builds(
    TagPlace,
    block=st.integers(0, 3),
    heading=st.none() | st.integers(1, 6),
    item=st.booleans(),
)
WORDS = st.builds(
    lambda text, x, top, size, bold, url, place: PdfWord(
        text, x, x + 5 * len(text), top, top + size, size, bold, url, place
    ),
    st.sampled_from(
        [
            "bridge",
            "built",
            "1907",
            "[1]",
            "2",
            "•",
            "1.",
            "-",
            "https://a.org/x-",
            "y.html",
            "a|b",
            "#",
        ]
    ),
    st.floats(0, 500),
    st.floats(0, 800),
    st.sampled_from([7.0, 11.0, 16.0]),
    st.booleans(),
    st.none() | st.just("https://a.org/x-y.html"),
    PLACES,
)
LINES = st.builds(
    lambda page, words: PdfLine(page, tuple(words)),
    st.integers(1, 3),
    st.lists(WORDS, min_size=1, max_size=5),
)


@given(st.lists(LINES, max_size=12))
@settings(max_examples=40, deadline=None)
def test_what_stands_amid_a_page_is_never_a_running_head(lines: list[PdfLine]) -> None:
    pages = {n: [line for line in lines if line.page == n] for n in (1, 2, 3)}
    kept = drop_running_heads(pages, dict.fromkeys(pages, 800.0))
    assert all(line in kept for line in lines if line.bottom > 72 and line.top < 728)


@given(st.lists(WORDS, max_size=12))
@settings(max_examples=40, deadline=None)
def test_bringing_marks_to_their_lines_loses_and_doubles_no_word(words: list[PdfWord]) -> None:
    assert sorted(w.text for w in place_marks(words)) == sorted(w.text for w in words)


def test_code_within_a_paragraph_is_no_paragraph_of_its_own() -> None:
    def element(kind: str, mcid: int, *children: PDFStructElement) -> PDFStructElement:
        named = PDFStructElement(kind, None, None, None, None, None, None, None)
        return replace(named, mcids=[mcid], children=list(children))

    tree = [element("P", 1, element("Code", 2)), element("Code", 3)]
    first, word, alone = (place.block for _, place in walk_tags(tree))
    assert first == word != alone

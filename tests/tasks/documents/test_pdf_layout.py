"""Whatever lines a page has, what stands amid it is never a running head."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.documents.pdf_tags import TagPlace
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
        ["bridge", "built", "1907", "[1]", "•", "1.", "-", "https://a.org/x-", "y.html", "a|b", "#"]
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

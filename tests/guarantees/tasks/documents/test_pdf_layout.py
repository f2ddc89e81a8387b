"""However the lines of a page lie, they are put together without an error or a lost word."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.documents.pdf_layout import PdfTable, to_markdown
from tasks.documents.pdf_words import PdfLine
from tests.tasks.documents.test_pdf_layout import LINES

TABLES = st.builds(
    lambda page, rows: PdfTable(page, tuple(tuple((line,) for line in row) for row in rows)),
    st.integers(1, 3),
    st.lists(st.lists(LINES, min_size=1, max_size=3), min_size=1, max_size=3),
)


@given(st.lists(LINES | TABLES, max_size=12))
@settings(max_examples=60, deadline=None)
def test_no_layout_breaks_it_or_loses_a_word(parts: list[PdfLine | PdfTable]) -> None:
    text = to_markdown(parts)
    n_words = sum(
        word.text == "bridge" and word.url is None
        for part in parts
        if isinstance(part, PdfLine) and not any(isinstance(p, PdfTable) for p in parts)
        for word in part.words
    )
    assert len(re.findall("bridge", text)) >= n_words

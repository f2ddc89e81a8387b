"""HTML keeps what a report is made of: headings, tables, links, notes, pictures."""

import re
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.documents.document import UnreadableDocument
from tasks.documents.html import read, to_markdown
from tasks.documents.picture import PictureCollector
from tasks.extraction.claims import extract_claims
from tests.tasks.documents.builders import picture


def markdown(html: str) -> str:
    return to_markdown(html, PictureCollector()).strip()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Cast</h2><p>One <b>two</b></p>", "## Cast\n\nOne **two**"),
        ("<p>see <a href='https://a.org/b_(c)'>this</a></p>", "see [this](https://a.org/b_(c))"),
        ("<ul><li>one<ul><li>two</ul></ul>", "- one\n  - two"),
        ("<ol start=3><li>three</ol>", "3. three"),
        ("<p># no heading</p>", "\\# no heading"),
        ("<head><title>T</title></head><style>b{}</style><script>1</script><p>a</p>", "a"),
        ("<p>a</p><div hidden>b</div>", "a"),
        ("<p>was built.[1][2]</p>", "was built.[1][2]"),
    ],
)
def test_what_a_report_is_made_of_stays(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_a_table_stays_a_table() -> None:
    text = markdown("<table><tr><th>Year<th>Place</tr><tr><td>1907<td>a|b</tr></table>")
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in text.split("\n")
    ]
    assert [rows[0], rows[2]] == [["Year", "Place"], ["1907", "a\\|b"]]


def test_notes_within_the_page_become_footnotes_that_claims_can_follow() -> None:
    page = (
        "<p>The bridge was built in the spring of 1907.<sup id=r1><a href='#n1'>1</a></sup> It was "
        "torn down again in the year 1950.<a href='#n2'>[2]</a></p><ol>"
        "<li id=n1><p><a href='https://a.org/one'>One</a> <a href='#r1'>↩</a></p>"
        "<li id=n2>https://b.org/two</ol>"
    )
    text = markdown(page)
    assert "1907.[^1]" in text
    assert "[^1]: [One](https://a.org/one)" in text
    assert "↩" not in text
    cited = [[c.url for c in claim.citations] for claim in extract_claims("", text).claims]
    assert cited == [["https://a.org/one"], ["https://b.org/two"]]


def test_a_link_within_the_page_that_leads_to_no_note_keeps_its_words() -> None:
    assert "the cast" in markdown("<p>see <a href='#cast'>the cast</a> <a href='#x'>3</a></p>")


def test_pictures_written_into_the_page_are_kept_beside_it() -> None:
    content = picture()
    source = f"data:image/png;base64,{b64encode(content).decode()}"
    page = f"<p>a <img alt=map src='{source}'> <img src='data:image/png;base64,!'></p>"
    document = read(page.encode())
    assert "![map](image-1.png)" in document.markdown
    assert "base64" not in document.markdown
    assert [p.content for p in document.pictures] == [content]
    assert "1 of its pictures" in document.remarks[0]


def test_a_page_says_its_own_encoding() -> None:
    page = '<meta charset="windows-1252"><p>caf\xe9</p>'.encode("windows-1252")
    assert read(page).markdown.strip() == "café"


def test_deep_nesting_is_refused_rather_than_lost() -> None:
    # The converter leaves out what lies too deep, and says nothing.
    assert "word" in markdown("<div>" * 390 + "word")
    with pytest.raises(UnreadableDocument, match="400 deep"):
        markdown("<p>a</p>" + "<b>" * 500 + "word")


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<a href='#x'>", "1", "</a>", "<sup>", "<li id=x>", "<table>", "<td>",
             "<img src='data:'>", "<img src='data:image/png;base64,AA=='>", "<div id=x>", "x", "<"]
        ),
        max_size=30,
    )
)  # fmt: skip
@settings(deadline=None)
def test_no_order_of_tags_breaks_it(tags: list[str]) -> None:
    assert isinstance(markdown("".join(tags)), str)

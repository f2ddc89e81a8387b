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
        ("<p>a<span style='display:none'>[1]</span><!-- [2] --></p>", "a"),
        ("<p>a</p><div style='visibility: hidden'><p hidden>b<b>c</b></p></div>", "a"),
        (
            "<details><summary>a</summary>b</details><b class=sr-only aria-hidden=true>c</b>",
            "**a**\n\nb\n\n**c**",
        ),
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


MARKED = (
    "<p>The loch is 227 m deep.<a href='#n1'>[1]</a> It holds more water than all lakes of England."
    "<sup>[<a href='#n2'>2</a>, <a href='#n1'>1</a>]</sup> It froze once<a href='#n3'><sup>3</sup>"
    "</a>.</p>"
)


@pytest.mark.parametrize(
    "notes",
    [
        "<ul><li id=n1>Depth https://a.org/1<li id=n2>Water https://a.org/2<li id=n3>Ice "
        "https://a.org/3</ul>",
        "<ol><li><a id=n1></a>Depth<br>https://a.org/1<li><a name=n2></a>Water https://a.org/2<li>"
        "<p id=n3>Ice</p><p>https://a.org/3</p></ol>",
        "<div id=n1>[1] Depth https://a.org/1</div><p id=n2>2. Water https://a.org/2</p><p>"
        "<span id=n3>3</span> Ice https://a.org/3 <a href='#m3'>↩</a></p>",
        "<table><tr><th>#<th>Source<tr id=n1><td>1<td>Depth https://a.org/1<tr><td id=n2>2<td>Water"
        " https://a.org/2<tr><td><a name=n3></a>3<td>Ice https://a.org/3</table>",
        "<dl><dt id=n1>1<dd>Depth https://a.org/1<dt>2<dd id=n2>Water https://a.org/2<dt>3<dd>"
        "<b id=n3>Ice</b> https://a.org/3</dl>",
    ],
)
def test_each_note_is_an_entry_wherever_its_anchor_stands(notes: str) -> None:
    found = extract_claims("", markdown(f"{MARKED}{notes}"))
    cited = [[citation.url[-1] for citation in claim.citations] for claim in found.claims]
    assert cited == [["1"], ["2", "1"], ["3"]]
    assert found.n_entries == 3


def test_a_note_that_leads_back_is_no_marker_and_an_item_that_cites_is_no_note() -> None:
    text = markdown(
        "<ul><li>The loch is deep<sup id=m1><a href='#n1'>1</a></sup></ul>"
        "<p id=n1><a href='#m1'>1</a> Depth https://a.org/1</p>"
    )
    assert text == "- The loch is deep[^1]\n\n[^1]: Depth https://a.org/1"


def test_numbers_that_lead_to_the_list_as_a_whole_are_markers_and_those_to_chapters_are_not() -> (
    None
):
    text = markdown(
        "<p><a href='#c'>1</a></p><div id=c><h2>Depth</h2><p>It is deep.<a href='#s'>2</a></div>"
        "<div id=s><h2>Sources</h2><ol><li>A<li>B</ol></div>"
    )
    assert text.split("\n\n")[:3] == ["[1](#c)", "## Depth", "It is deep.[2]"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("It froze.<sup>1</sup> It<sup>2, 3</sup> is deep<sup>4–6</sup>.",
         "It froze.[1] It[2, 3] is deep[4–6]."),
        ("It froze in 1907<sup>12</sup>, said COVID-19<sup>[3]</sup> news<sup>4 5</sup>.",
         "It froze in 1907[12], said COVID-19[3] news[4,5]."),
        ("a ticket ($9K/year).<sup>7</sup>", "a ticket ($9K/year).[7]"),
        ("10<sup>6</sup> m<sup>2</sup>, 5 km<sup>3</sup>, E = mc<sup>2</sup>, x<sup>n</sup>",
         "106 m2, 5 km3, E = mc2, xn"),
        ("the 1<sup>st</sup> of <sup>235</sup>U, <sup>1</sup>/<sub>2</sub>, H<sup>+</sup>",
         "the 1st of 235U, 1/2, H+"),
        ("<sup>1</sup> Depth, https://a.org/1", "[1] Depth, https://a.org/1"),
        ("deep<sup><a href='https://a.org/1'>1</a></sup>", "deep[1](https://a.org/1)"),
    ],
)  # fmt: skip
def test_raised_numbers_cite_unless_they_are_exponents(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected


def test_an_entry_and_the_address_below_it_are_no_claim() -> None:
    text = markdown(
        "<p>The loch is deep.<sup>7</sup> It is cold, too.<sup>9</sup></p>"
        "<p><a href='https://a.org/1#:~:text=x'>[7]</a> <a href='https://a.org/1'>[9]</a> Depth</p>"
        "<p><a href='https://a.org/1'>https://a.org/1</a></p>"
    )
    claims = extract_claims("", text).claims
    assert [claim.text for claim in claims] == ["The loch is deep.", "It is cold, too."]
    assert {citation.url for claim in claims for citation in claim.citations} == {"https://a.org/1"}


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
             "<a name=x>", "<dt id=x>", "<tr id=x>", "<ol>", "<br>", "<b hidden>", "\ue000",
             "<img src='data:'>", "<img src='data:image/png;base64,AA=='>", "<div id=x>", "x", "<"]
        ),
        max_size=30,
    )
)  # fmt: skip
@settings(deadline=None)
def test_no_order_of_tags_breaks_it(tags: list[str]) -> None:
    assert isinstance(markdown("".join(tags)), str)

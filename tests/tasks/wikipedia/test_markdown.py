"""A rendered page becomes clean Markdown: the article's words, and nothing around them."""

import re
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tasks.extraction.blocks import parse_outline
from tasks.extraction.headings import is_reference_heading
from tasks.extraction.prose import strip_apparatus
from tasks.wikipedia.dom import UnreadableHtml
from tasks.wikipedia.markdown import to_markdown
from tests.tasks.wikipedia.rendered_pages import LEGACY, LEGACY_MARKDOWN, PARSOID, PARSOID_MARKDOWN

LONG = ("word " * 20).strip()


def body(html: str) -> str:
    """The Markdown below the title."""
    return to_markdown(html, "T").removeprefix("# T").strip("\n")


def test_a_page_of_the_legacy_parser_keeps_its_words_and_structure() -> None:
    assert to_markdown(LEGACY, "Aurora (1901 ship)") == LEGACY_MARKDOWN


def test_a_page_of_parsoid_reads_the_same_way() -> None:
    assert to_markdown(PARSOID, "Bridge") == PARSOID_MARKDOWN


def test_a_page_without_words_is_its_title() -> None:
    assert to_markdown("", " A  page ") == "# A page"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            '<p>It was <a href="/w/index.php?title=Template:Convert&amp;redlink=1" class="new">'
            'Template:Convert</a> long, by <a class="new" href="/w/index.php?title=Ann&amp;redlink'
            '=1">Ann</a>. <a class="new" href="/w/index.php?title=Special:Upload&amp;wpDestFile='
            'A.jpg">File:A.jpg</a></p>',
            "It was long, by Ann.",
        ),
        (
            '<p>Lü (<span class="noprint">listen</span>; born 1907) ran '
            '(<sup class="reference">1</sup>) off, f().</p>',
            "Lü (born 1907) ran off, f().",
        ),
        (
            "<h2>Empty</h2><h3>Too</h3><h2>Full</h2><h3>Sub</h3><p>Words.</p><h3>Last</h3>",
            "## Full\n\n### Sub\n\nWords.",
        ),
        (
            "<h2>Life</h2><p>Words.</p><h2>References</h2><h3>Books</h3><p>Cited.</p><h2>Legacy"
            "</h2><p>More.</p><h3>Further reading</h3><p>Read.</p><h3>Film</h3><p>Seen.</p>",
            "## Life\n\nWords.\n\n## Legacy\n\nMore.\n\n### Film\n\nSeen.",
        ),
        ("<p>Ten.</p><p>1. Notes:</p><p>Eleven.</p>", "Ten.\n\n1\\. Notes\n\nEleven."),
        ("<p>Made in 1900.<br>Sources:<br>an oak.</p>", "Made in 1900.\nSources\nan oak."),
        (
            '<h2>A</h2><p>Ten.</p><dl><dt>Notes</dt></dl><ol class="references"><li>x</li></ol>',
            "## A\n\nTen.",
        ),
        (
            f"<p><b>Cast</b></p><p>He.</p><p><b>{LONG}</b></p><p><b>He</b> ran.</p>",
            f"**Cast**\n\nHe.\n\n{LONG}\n\nHe ran.",
        ),
        (
            "<ul><li><p>One.</p><p>Two.</p></li><li>Three<blockquote>Said.</blockquote></li></ul>",
            "- One.\n\n  Two.\n- Three\n\n  > Said.",
        ),
        ("<pre>a  b\n  <b>c</b>\n```\n</pre>", "````\na  b\n  c\n```\n````"),
        ("<p>a<br>- b<br># c</p>", "a\n\\- b\n\\# c"),
        ("<p>a\u00a0\u202f b\u200b\u00adc\u202ed\x07 e\u0301</p>", "a bcd é"),
        (
            '<table class="wikitable"><tr><th>A</th><td>1</td></tr><tr><th>B</th><td>2</td></tr>',
            "|  |  |\n| --- | --- |\n| A | 1 |\n| B | 2 |",
        ),
        (
            '<table class="wikitable"><tr><th>Award</th><th>Result</th><th>Refs</th></tr>'
            '<tr><td>Oscar</td><td></td><td><sup class="reference">[1]</sup></td></tr></table>',
            "| Award | Result |\n| --- | --- |\n| Oscar |  |",
        ),
    ],
    ids=[
        "links to missing templates and files leave no words",
        "a dropped sound leaves no empty brackets",
        "a heading with nothing below it goes and one above a subsection stays",
        "sections of apparatus go with their subsections",
        "a numbered remark makes no list",
        "a line that announces sources within a paragraph loses its colon",
        "notes without remarks go",
        "a short bold line stays bold and a bold sentence does not",
        "an item of several paragraphs keeps them",
        "preformatted text keeps its lines between fences longer than its own",
        "every line of a paragraph is escaped",
        "invisible characters go and blanks become one",
        "a table without a head gets an empty one",
        "a column of references goes and an empty column of data stays",
    ],
)
def test_what_a_page_holds_becomes_markdown_or_goes(html: str, markdown: str) -> None:
    assert body(html) == markdown


def test_remarks_headed_notes_in_bold_are_kept_and_survive_the_judges_cleaning() -> None:
    html = "<h2>Tracks</h2><p>Ten.</p><p><b>Notes</b></p><ul><li>All in lower case.</li></ul>"
    text = to_markdown(html, "T")
    assert text.endswith("Ten.\n\nNotes\n\n- All in lower case.")
    assert strip_apparatus(text) == text


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("# no heading", "\\# no heading"),
        ("1. January", "1\\. January"),
        ("1999. A year", "1999\\. A year"),
        ("- dash", "\\- dash"),
        ("> quote", "\\> quote"),
        ("---", "\\---"),
        ("--|--", "\\--|--"),
        ("| bar", "\\| bar"),
        ("```", "\\```"),
        ("[x]: y", "\\[x]: y"),
        ("see &lt;script>", "see \\<script>"),
        ("[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"),
        ("\u1fef``", "\\```"),  # NFC makes a backtick of it
        ("-5 °C, 3 < 4, a*b*c, #1, C# and x_y_z", "-5 °C, 3 < 4, a*b*c, #1, C# and x_y_z"),
    ],
)
def test_words_are_escaped_only_where_they_would_change_the_structure(
    words: str, written: str
) -> None:
    assert body(f"<p>{words}</p>") == written
    tokens = [token.type for token in MarkdownIt("commonmark").enable("table").parse(written)]
    assert tokens == ["paragraph_open", "inline", "paragraph_close"]


def test_a_table_whose_spans_would_fill_the_memory_stays_small() -> None:
    cell = '<td rowspan="65534" colspan="1000">' + "x" * 1000 + "</td>"
    html = '<table class="wikitable"><tr>' + cell + "</tr>" + "<tr><td>y</td></tr>" * 5000
    assert len(to_markdown(html, "T")) < 4_000_000


def test_a_table_within_a_heading_does_not_break_the_page() -> None:
    html = "<h2>A<table><tr><th>b</th></tr></table><ul><li>c<h3>d</h3></li></ul></h2><p>e</p>"
    assert body(html).endswith("e")


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 10_000 + "<p>deep</p>" + "</div>" * 10_000 + "<p>tail</p>",
        "<ul><li>" * 5_000 + "deep" + "</li></ul>" * 5_000 + "<p>tail</p>",
        "<blockquote>" * 10_000 + "deep" + "</blockquote>" * 10_000 + "<p>tail</p>",
        "<table class=wikitable><tr><td>" * 2_000 + "deep" + "</table>" * 2_000 + "<p>tail</p>",
        "<span>" * 10_000 + "deep" + "</span>" * 10_000 + "<p>tail</p>",
    ],
    ids=["div", "list", "quote", "table", "span"],
)
def test_deep_nesting_is_read_to_the_end(html: str) -> None:
    text = to_markdown(html, "T")
    assert "deep" in text
    assert "tail" in text
    assert len(text) < 50_000


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000,
        "<p>" + "".join(f"<b id={n}>" for n in range(1_000)) + "<p>x" * 100_000,
        "a" * (32 * 1024 * 1024 + 1),
        "<p>a</p>" * 500_000,
        "<p " + " ".join(f"a{n}=1" for n in range(500_000)) + ">",
    ],
    ids=["too deep", "unclosed formatting", "too long", "too many", "too many attributes"],
)
def test_a_page_that_would_cost_minutes_or_gigabytes_is_refused(html: str) -> None:
    with pytest.raises(UnreadableHtml, match=r"[Ll]eave (the page|it) out"):
        to_markdown(html, "T")


PIECES = """
<p> </p> <b> </b> <i> <ul> </ul> <ol> <li> </li> <dl> <dt> <dd> <table> <table_class=wikitable>
</table> <tr> <td> <th> <td_colspan=3> <td_rowspan=2> <caption> <h2> </h2> <h3> </h3> <div> </div>
<pre> </pre> <blockquote> </blockquote> <br> <sup> <sup_class=reference> </sup> <math> <q> <script>
</script> <style> <select> <svg> <frameset> <!-- --> <a_href=javascript:x> </a> &lt;b&gt; &amp;
Notes References: Sources 12 [12] # - 1. | * _ ``` ]( ( ) é e\u0301 \u1fef \ud800
"""
PIECE = st.sampled_from([p.replace("_", " ") if p[0] == "<" else p for p in PIECES.split()])
HTML = st.lists(st.one_of(PIECE, st.text(max_size=8)), max_size=60).map(" ".join)
ANY_HTML = st.one_of(HTML, st.text())


@given(ANY_HTML, st.text(max_size=20))
def test_any_text_is_converted_the_same_twice_and_tidily(html: str, title: str) -> None:
    text = to_markdown(html, title)
    assert text == to_markdown(html, title)
    assert normalize("NFC", text) == text
    assert not re.search(r"[ \t]$", text, re.MULTILINE)
    assert text.startswith("#")


@given(ANY_HTML)
def test_no_text_makes_a_tag_or_a_link(html: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(html, "T"))
    inline = {child.type for token in tokens for child in token.children or ()}
    assert not inline & {"html_inline", "link_open", "image"}
    assert "html_block" not in {token.type for token in tokens}


@given(ANY_HTML)
def test_no_heading_of_apparatus_is_left(html: str) -> None:
    text = to_markdown(html, "T")
    headings = re.findall(r"^(?:#{2,6} (.*)|\*\*(.*)\*\*)$", text, re.MULTILINE)
    assert not [words for pair in headings for words in pair if is_reference_heading(words)]


@given(st.integers(0, 999), st.text("ab ", min_size=1, max_size=9))
def test_no_marker_of_a_citation_is_left(number: int, word: str) -> None:
    marker = f'<sup id="c" class="reference"><a href="#n">&#91;{number}&#93;</a></sup>'
    html = f"<p>{word}{marker} x.{marker}</p><ul><li>y{marker}</li></ul>"
    assert str(number) not in body(html)


@given(HTML)
def test_the_judges_cleaning_finds_no_section_of_references(html: str) -> None:
    assert not parse_outline(to_markdown(html, "T"), "T").references

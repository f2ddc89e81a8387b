"""A page's text, title, language and day come out of its bytes; nothing in it stops the reader."""

import json
from datetime import date
from typing import Any

import pytest

from tasks.configuration.web import ReadingBounds
from tasks.web.page import ReadPage
from tasks.web.readers import get_reader_version, read_page
from tests.rigs.made_pdfs import PDF_NAMES, PROSE, made, made_pdfs, paragraphs
from tests.rigs.saved_pages import Layout, bare, layouts, page

BOUNDS = ReadingBounds()
SAVED = layouts()
HTML = "text/html"


def read(content: bytes, bounds: ReadingBounds = BOUNDS, **headers: str) -> ReadPage:
    return read_page(page(content, **headers), bounds)


def answered(
    content: bytes, status: int, source: str = "direct", *, content_type: str = ""
) -> ReadPage:
    material = page(content, content_type=content_type).model_copy(
        update={"http_status": status, "source": source}
    )
    return read_page(material, BOUNDS)


@pytest.mark.parametrize("layout", SAVED, ids=[layout.name for layout in SAVED])
def test_a_saved_page_says_all_that_a_claim_could_rest_on(layout: Layout) -> None:
    said = read(layout.content, content_type=HTML)
    assert said.status == "ok", said.error
    assert layout.lost(said.text or "") == []
    assert bare(layout.title) in bare(said.title or "")
    assert said.language == layout.language
    assert said.published_on == layout.published_on


def test_most_of_the_sites_furniture_is_left_out() -> None:
    furniture = sum(len(layout.furniture) for layout in SAVED)
    kept = sum(
        len(layout.kept(read(layout.content, content_type=HTML).text or "")) for layout in SAVED
    )
    assert kept < 0.45 * furniture


def test_a_menu_is_left_out_but_an_index_is_kept() -> None:
    menu = "<ul>" + "".join(f"<li><a href='/{n}'>Section {n}</a></li>" for n in range(9)) + "</ul>"
    story = "<p>" + "The bridge of Tolvane was opened in 1931 by the mayor. " * 5 + "</p>"
    assert "Section 3" not in (read(f"<html>{menu}{story}".encode(), content_type=HTML).text or "")
    assert "Section 3" in (read(f"<html><h1>All</h1>{menu}".encode(), content_type=HTML).text or "")


def test_elements_too_deep_for_the_converter_are_still_read() -> None:
    deep = "<div>" * 3000 + "<p>at the bottom of it all</p>" + "</div>" * 3000
    assert "at the bottom of it all" in (
        read(f"<html>{deep}".encode(), content_type=HTML).text or ""
    )


@pytest.mark.parametrize(
    ("content", "content_type", "media_type"),
    [
        (b"<!DOCTYPE html><title>x</title><p>Tolvane swing bridge", "text/plain", "text/html"),
        (b"\n<!-- a remark -->\n<html><p>Tolvane swing bridge", "", "text/html"),
        ("<html><p>Tolvane swing bridge".encode("utf-16"), "text/html", "text/html"),
        (b'{"name": "Tolvane swing bridge"}', "", "application/json"),
        (b"Tolvane swing bridge", "", "text/plain"),
        (b"# Tolvane swing bridge", "text/markdown; charset=utf-8", "text/markdown"),
        (b"<?xml version='1.0'?><a><b>Tolvane swing bridge</b></a>", "", "application/xml"),
        (
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><p>Tolvane swing "
            b"bridge</p></html>",
            "application/xml",
            "text/html",
        ),
    ],
)
def test_the_bytes_say_what_they_are_where_the_header_lies(
    content: bytes, content_type: str, media_type: str
) -> None:
    said = read(content, content_type=content_type)
    assert (said.status, said.media_type) == ("ok", media_type)
    assert "Tolvane swing bridge" in (said.text or "")


@pytest.mark.parametrize("content_type", ["application/octet-stream", "text/html"])
def test_a_pdf_is_one_whatever_is_said_of_it(content_type: str) -> None:
    said = read(made_pdfs()[0].content, content_type=content_type)
    assert (said.status, said.media_type) == ("ok", "application/pdf")
    assert "Tolvane swing bridge" in (said.text or "")


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(90)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><text>x</text></svg>"
NO_TEXT = "not read as text"


@pytest.mark.parametrize(
    ("content", "content_type", "status", "said"),
    [
        (PICTURE, "image/png", "unreadable", NO_TEXT),
        (PICTURE, "text/html", "unreadable", NO_TEXT),
        (b"PK\x03\x04" + bytes(90), "application/vnd.openxmlformats", "unreadable", NO_TEXT),
        (b"\x00\x00\x00\x20ftypisom" + bytes(90), "video/mp4", "unreadable", NO_TEXT),
        (bytes(range(256)) * 4, "application/octet-stream", "unreadable", NO_TEXT),
        (bytes(range(256)) * 4, "", "unreadable", NO_TEXT),
        (SVG, "image/svg+xml", "unreadable", NO_TEXT),
        (b"%PDF-1.4 and no more", "", "unreadable", "damaged"),
        (b"%PDF-" + bytes(2000), "", "unreadable", "damaged"),
        (made([]), "application/pdf", "unreadable", ""),
        (b"", HTML, "empty", ""),
        (b"   ", HTML, "empty", ""),
    ],
)
def test_what_has_no_text_is_unreadable_or_empty_and_says_so(
    content: bytes, content_type: str, status: str, said: str
) -> None:
    found = read(content, content_type=content_type)
    assert found.status == status
    assert said in (found.error or "")


@pytest.mark.parametrize("status", [404, 410, 500])
def test_an_http_error_is_unfetchable_and_is_named(status: int) -> None:
    said = answered(b"<html><title>Gone fishing</title><p>Sorry.", status, content_type=HTML)
    assert (said.status, said.error) == ("unfetchable", f"HTTP {status} (Gone fishing)")
    assert said.text is None


def test_a_page_too_long_is_cut_and_says_so() -> None:
    bounds = ReadingBounds(most_html_bytes=2_000, most_characters=500)
    said = read(
        b"<html><body>" + b"<p>The bridge was opened in 1931.</p>" * 999, bounds, content_type=HTML
    )
    assert said.status == "ok"
    assert len(said.text or "") == 500
    assert [signal.split(":")[0] for signal in said.signals] == ["cut", "cut"]
    assert "36,975 bytes of HTML, 2,000 were read" in said.signals[1]


def test_a_page_of_another_language_than_its_markup_names_has_that_of_its_header() -> None:
    content = b"<html><p>The bridge was opened in 1931 by the mayor of the town."
    assert read(content, content_type="text/html", content_language="en-GB").language == "en"
    assert (
        read(b"<html lang='x-unknown'><p>The bridge was opened.", content_type=HTML).language
        is None
    )


def test_dates_in_a_text_are_not_taken_for_its_publication() -> None:
    content = b"<html><p>She died on 21 January 2018. Last edited on 9 May 2023.</p></html>"
    assert read(content, content_type=HTML).published_on is None


@pytest.mark.parametrize("name", PDF_NAMES)
def test_a_pdf_is_read_with_its_tables_as_lines(name: str) -> None:
    document = made_pdfs()[PDF_NAMES.index(name)]
    said = read(document.content, content_type="application/pdf")
    assert said.status == "ok"
    text = bare(said.text or "")
    assert all(bare(sentence) in text for sentence in document.says)
    lines = [bare(line) for line in (said.text or "").split("\n")]
    assert all(any(bare("".join(row)) in line for line in lines) for row in document.rows)


def test_a_pdf_with_too_many_pages_is_cut_and_says_so() -> None:
    said = read(made_pdfs()[-1].content, ReadingBounds(most_pdf_pages=3))
    assert any("3 were read" in signal for signal in said.signals)


def test_a_file_name_is_no_title_of_a_pdf() -> None:
    story = made_pdfs()[0].content
    assert read(story).title is None
    titles = {"The bridges of Varn": True, "report.docx": False, "untitled": False,
              "Microsoft Word - Document1": False}  # fmt: skip
    for title, known in titles.items():
        said = read(made(paragraphs(PROSE), title=title)).title
        assert said == (title if known else None)


def test_a_feed_has_a_title_and_its_items_apart() -> None:
    feed = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Tidings</title>
    <item><title>Seals return</title><description>&lt;p&gt;Wardens counted &lt;b&gt;14&lt;/b&gt;
    pups.&lt;/p&gt;</description></item>
    <item><title>Bridge opens</title><description><![CDATA[<p>After 11 months.</p>]]></description>
    </item></channel></rss>"""
    said = read(feed, content_type="application/rss+xml")
    assert said.title == "Tidings"
    assert "Wardens counted 14 pups." in " ".join((said.text or "").split())
    assert "\n\nBridge opens\nAfter 11 months." in (said.text or "")


def test_xml_of_which_some_cannot_be_read_says_so() -> None:
    deep = b"<a>begin" + b"<d>" * 300 + b"middle" + b"</d>" * 300 + b"<p>the end</p></a>"
    said = read(b"<?xml version='1.0'?>" + deep, content_type="application/xml")
    assert said.status == "ok"
    assert said.signals[0].startswith("damaged XML, some of it may be missing: ")
    whole = read(b"<?xml version='1.0'?><a>begin &amp; end</a>", content_type="application/xml")
    assert whole.signals == ()


def test_json_has_a_line_for_each_value() -> None:
    said = read('{"n": 3, "käse": ["Gouda", "Brie"]}'.encode(), content_type="application/json")
    assert '"käse"' in (said.text or "")
    assert '"Brie"' in (said.text or "").split("\n")[4]


def test_what_is_no_json_although_it_says_so_is_read_as_it_stands() -> None:
    assert read(b'{"cut off', content_type="application/json").text == '{"cut off'


def jina(data: Any, http: int = 200) -> ReadPage:
    content = data if isinstance(data, str) else json.dumps(data)
    return answered(content.encode(), http, "jina", content_type="application/json")


STORY = "The Tolvane swing bridge reopened to traffic at 5.40am on Monday. " * 4


def test_a_page_that_jina_read_has_its_title_and_day() -> None:
    said = jina(
        {"code": 200, "data": {"title": "Bridge", "content": STORY,
                               "publishedTime": "Mon, 11 Mar 2024 06:30:00 GMT"}}
    )  # fmt: skip
    assert (said.status, said.title) == ("ok", "Bridge")
    assert said.published_on == date(2024, 3, 11)
    assert STORY.strip() == said.text


def test_the_text_form_of_jina_is_read_as_well() -> None:
    said = jina(
        f"Title: Bridge\n\nURL Source: https://x.example/\n\nPublished Time: 2024-03-11T06:30Z\n\n"
        f"Markdown Content:\n{STORY}"
    )
    assert (said.status, said.title, said.published_on) == ("ok", "Bridge", date(2024, 3, 11))
    assert "URL Source" not in (said.text or "")


def test_an_error_of_the_page_that_jina_tells_of_counts_as_its_own() -> None:
    warning = "Target URL returned error 404: Not Found"
    said = jina({"code": 200, "data": {"title": "Oh no", "content": STORY, "warning": warning}})
    assert said.status == "unfetchable"
    assert "HTTP 404" in (said.error or "")
    wall = "Verify you are human by completing the action below."
    warning = "Target URL returned error 403: Forbidden"
    said = jina({"data": {"title": "Just a moment...", "content": wall, "warning": warning}})
    assert said.status == "bot_wall"


@pytest.mark.parametrize("answer", ["{}", "[]", '{"data": null}', '{"data": {"content": 3}}'])
def test_an_answer_of_jina_without_a_page_is_no_page(answer: str) -> None:
    assert jina(answer).status in ("unfetchable", "ok")
    assert jina('{"data": null, "readableMessage": "no such domain"}').error == (
        "Jina Reader: no such domain"
    )


def test_all_pages_of_one_version_name_the_same_reader() -> None:
    assert {read(b"x").reader, read(b"", content_type=HTML).reader, read(made([])).reader} == {
        get_reader_version()
    }
    assert "readable text 2 (" in get_reader_version()

"""The page texts of a report's JSON."""

import base64
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tasks.benchmarks.document import ReportDocument, decode_title, parse_pages, select_copies
from tasks.extraction.urls import normalise_url
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import content_sha
from tests.tasks.benchmarks.edition_builder import LONG

URL = "https://ants.example/colony"


def only_page(record: dict[str, Any], citation_urls: dict[str, str] | None = None) -> Page:
    document = ReportDocument("", citation_urls or {}, {"1": {"url": URL, **record}}, None)
    pages, n_skipped = parse_pages("e", document)
    assert n_skipped == 0
    (page,) = pages
    return page


def page(status: str, text: str | None) -> Page:
    return Page.model_validate({"edition": "e", "url": URL, "status": status, "text": text})


def test_a_page_with_content_is_good_and_keeps_its_whole_text() -> None:
    found = only_page({"content": f"  {LONG}\n", "fetched_by": "jina"})
    assert (found.status, found.text, found.fetched_by) == ("ok", f"  {LONG}\n", "jina")
    assert found.text_sha == content_sha(f"  {LONG}\n")
    assert found.url == normalise_url(URL)
    assert found.fetched_at is None


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ({"content": LONG, "error": "Failed to fetch"}, "unfetchable"),
        ({"content": " " * 50 + "x" * 100}, "unfetchable"),
        ({"content": " " * 50 + "x" * 101}, "ok"),
        ({"content": "Access denied by captcha. " * 10}, "ok"),
    ],
    ids=["an error, whatever its content", "a hundred characters", "one more", "a blocked page"],
)
def test_a_page_is_good_by_its_length_unless_there_was_an_error(
    record: dict[str, str], status: str
) -> None:
    found = only_page(record)
    text = record["content"] if status == "ok" else None
    assert (found.status, found.text) == (status, text)
    assert "error" not in record or found.error == record["error"]


def test_a_page_belongs_to_the_url_the_report_cites() -> None:
    found = only_page({"content": LONG, "url": "https://ants.example/moved"}, {"1": URL})
    assert found.url == normalise_url(URL)


def test_a_page_without_a_usable_url_is_counted() -> None:
    document = ReportDocument("", {}, {"1": {"url": "liner notes", "content": LONG}}, None)
    assert parse_pages("e", document) == ([], 1)


def test_a_good_copy_replaces_an_unfetchable_one_and_then_stays() -> None:
    failed = page("unfetchable", None)
    copies = (failed, page("ok", "first"), page("ok", "second"), failed)
    assert [row.text for row in select_copies(copies)] == ["first"]


@pytest.mark.parametrize(
    ("published", "title"),
    [
        ("SnVjaGU=", "Juche"),
        ("4oCYRXZlcnlvbmUgSGF0ZXMgRWxvbuKAmQ==", "‘Everyone Hates Elon’"),
        ("Memorable Meeting", "Memorable Meeting"),
        ("News", "News"),
        ("Juche", "Juche"),
        ("TGl2", "Liv"),
        ("Pipe", "Pipe"),
        ("1541", "1541"),
        ("encyclopedia", "encyclopedia"),
        ("", None),
        ("  ", None),
    ],
)
def test_base64_titles_are_decoded_and_plain_ones_kept(published: str, title: str | None) -> None:
    assert decode_title(published) == title


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=4))
def test_every_encoded_title_comes_back(title: str) -> None:
    encoded = base64.b64encode(title.encode()).decode()
    assume(not encoded.isalpha())  # reads like a plain word: kept, on purpose
    assert decode_title(encoded) == (title.strip() or encoded)


@given(st.text())
def test_no_title_makes_the_decoder_raise(title: str) -> None:
    decode_title(title)

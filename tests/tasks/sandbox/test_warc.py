"""Texts in WARC files: what `evergreen pages export` writes, and what others may."""

import gzip
import io
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tasks.archive.export import write_export
from tasks.imports.wlc import import_edition
from tasks.warehouse.contents import PageStore
from tasks.warehouse.store import Warehouse
from tests.tasks.archive.test_export import archived
from tests.tasks.cited_pages import EDITION
from tests.tasks.sandbox.test_corpus import read

ROOT = Path(__file__).resolve().parents[3]
STORY = "<p>The lamp of Harrow Point was first lit in 1875 and was seen for nineteen miles.</p>"
HTML = (
    f"<html><head><title>The lamp</title></head><body><article>{STORY * 8}</article></body></html>"
).encode()
SAID = "Notes on the lamp of the lighthouse, which was first lit in 1875 by its keeper. " * 5
WALL = "Checking your browser before accessing. Please enable JavaScript and cookies to continue."


class Written:
    """A WARC file in memory."""

    def __init__(self) -> None:
        self._out = io.BytesIO()
        self._writer = WARCWriter(self._out, gzip=True)

    def answer(
        self, url: str, body: bytes = HTML, media_type: str = "text/html", status: str = "200 OK"
    ) -> str:
        """Its id."""
        headers = StatusAndHeaders(status, [("Content-Type", media_type)], protocol="HTTP/1.1")
        record = self._writer.create_warc_record(
            url, "response", payload=io.BytesIO(body), http_headers=headers,
            warc_headers_dict={"WARC-Date": "2025-06-07T08:09:10Z"},
        )  # fmt: skip
        self._writer.write_record(record)
        return str(record.rec_headers.get_header("WARC-Record-ID"))

    def text(self, url: str, said: str = SAID, kind: str = "conversion", **more: Any) -> None:
        media_type = more.pop("media_type", "text/plain; charset=utf-8")
        names = {name.replace("_", "-"): value for name, value in more.items()}
        record = self._writer.create_warc_record(
            url, kind, payload=io.BytesIO(said.encode()), warc_content_type=media_type,
            warc_headers_dict={"WARC-Date": "1970-01-01T00:00:00Z"} | names,
        )  # fmt: skip
        self._writer.write_record(record)

    def to(self, folder: Path) -> Path:
        (folder / "c.warc.gz").write_bytes(self.content)
        return folder

    @property
    def content(self) -> bytes:
        return self._out.getvalue()


def test_an_edition_is_the_same_corpus_as_a_warc_file_and_as_texts(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    store = PageStore(tmp_path / "p")
    import_edition(warehouse, ROOT / "data" / "sample", "sample", [])
    for name in ("c.warc.gz", "c.jsonl.gz"):
        write_export(warehouse, store, "sample", tmp_path / name)
    texts, left_out = read(tmp_path / "c.jsonl.gz")
    assert len(texts) > 10
    assert left_out == []
    pages, _ = read(tmp_path / "c.warc.gz")
    assert pages == texts
    assert all(page.title for page in pages)


def test_what_was_fetched_is_one_page_with_the_text_that_was_read(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    store = archived(warehouse, tmp_path / "p")
    write_export(warehouse, store, EDITION, tmp_path / "c.warc.gz")
    pages, left_out = read(tmp_path / "c.warc.gz")
    assert [(page.url, page.text) for page in pages] == [
        ("https://a.org/one", "Die Straße."), ("https://b.org/two", "Die Straße."),
    ]  # fmt: skip
    assert left_out == []


def test_a_page_of_both_has_the_conversions_text_and_the_answers_title(tmp_path: Path) -> None:
    file = Written()
    number = file.answer("https://a.example/moved")
    file.text("https://a.example/asked", WARC_Refers_To=number)
    file.answer("https://a.example/alone")
    file.text("https://a.example/other", WARC_Refers_To="<urn:uuid:else>")
    (joined, alone, other), left_out = read(file.to(tmp_path))
    assert left_out == []
    assert (joined.url, joined.final_url) == ("https://a.example/asked", "https://a.example/moved")
    assert (joined.text, joined.title, joined.day) == (SAID, "The lamp", date(2025, 6, 7))
    assert (alone.url, alone.title) == ("https://a.example/alone", "The lamp")
    assert (other.url, other.text, other.day) == ("https://a.example/other", SAID, None)


def test_an_answer_that_is_left_out_takes_its_text_with_it(tmp_path: Path) -> None:
    file = Written()
    number = file.answer("https://a.example/gone", status="404 Not Found")
    file.text("https://a.example/gone", WARC_Refers_To=number)
    assert read(file.to(tmp_path)) == ([], ["c.warc.gz: https://a.example/gone: HTTP 404"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"said": WALL}, "bot_wall"),
        ({"said": " \n"}, "empty"),
        ({"media_type": "application/pdf"}, "a conversion to application/pdf, not to plain text"),
        ({"X_Evergreen_Status": "soft_404"}, "soft_404"),
        ({"kind": "resource"}, "`resource` records are not read"),
    ],
)
def test_a_record_that_is_no_page_is_left_out_and_said(
    tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    file = Written()
    file.text("https://a.example/x", **more)
    pages, left_out = read(file.to(tmp_path))
    assert pages == []
    assert left_out == [f"c.warc.gz: https://a.example/x: {said}"]


def test_a_text_that_we_have_read_ourselves_is_not_doubted(tmp_path: Path) -> None:
    file = Written()
    file.text("https://a.example/x", WALL, X_Evergreen_Status="ok")
    assert [page.text for page in read(file.to(tmp_path))[0]] == [WALL]


def test_a_date_of_a_record_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    file = Written()
    file.text("https://a.example/x", WARC_Date="soon")
    no_day: list[str] = []
    assert [page.day for page in read(file.to(tmp_path), no_day)[0]] == [None]
    assert no_day == ["c.warc.gz: https://a.example/x: 'soon'"]


def test_the_answers_of_a_warc_file_are_pages(tmp_path: Path) -> None:
    file = Written()
    file.answer("https://a.example/lamp", media_type="text/html; charset=utf-8")
    file.answer("https://a.example/picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png")
    file.answer("https://a.example/notes", SAID.encode(), "text/plain")
    file.answer("urn:uuid:5", b"No address.", "text/plain")
    file.answer("https://a.example/gone", b"Not found", status="404 Not Found")
    pages, left_out = read(file.to(tmp_path))
    assert [page.url for page in pages] == ["https://a.example/lamp", "https://a.example/notes"]
    assert pages[0].title == "The lamp"
    assert "first lit in 1875" in pages[0].text
    assert pages[0].day == date(2025, 6, 7)
    assert left_out[0] == "c.warc.gz: urn:uuid:5: not an http(s) URL"
    assert "c.warc.gz: https://a.example/gone: HTTP 404" in left_out
    assert [line for line in left_out if "/picture: " in line]
    assert len(left_out) == 3


@pytest.mark.parametrize("packed", [True, False])
def test_half_a_page_of_a_file_that_was_cut_off_is_left_out(tmp_path: Path, packed: bool) -> None:
    said = "".join(f"Sentence {n * 7919 % 1009} of the notes. " for n in range(2000)).encode()
    files = [Written(), Written()]
    for file, name in zip(files, ("first", "last"), strict=True):
        file.answer(f"https://a.example/{name}", said, "text/plain")
    first, last = (f.content if packed else gzip.decompress(f.content) for f in files)
    file_name = "c.warc.gz" if packed else "c.warc"
    (tmp_path / file_name).write_bytes(first + last[: len(last) // 2])
    pages, left_out = read(tmp_path)
    assert [page.url for page in pages] == ["https://a.example/first"]
    assert "https://a.example/last: cut off" in left_out[0]

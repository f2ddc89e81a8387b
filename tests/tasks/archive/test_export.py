"""The archive as a WARC file and as texts, read again by warcio and by line."""

import gzip
import io
import json
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tasks.archive.export import export_texts, export_warc, write_export
from tasks.warehouse.contents import PageStore
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.rows import content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.cited_pages import EDITION, a_fetch, a_page

HTML = "<html><body>Die Straße.</body></html>".encode()
HEADERS = {"content-type": "text/html", "content-encoding": "gzip", "content-length": "31"}


def archived(warehouse: Warehouse, folder: Path) -> PageStore:
    """A page that was fetched, one that a publisher read, one that came to nothing."""
    store = PageStore(folder)
    with store.create() as page:
        page.write(HTML)
        sha = page.keep()
    fetched = a_fetch("https://a.org/one", sha=sha, n_bytes=len(HTML), headers=json.dumps(HEADERS),
                      asked_url="http://www.a.org/one", final_url="http://a.org/one")  # fmt: skip
    text = {"text": "Die Straße.", "text_sha": content_sha("Die Straße.")}
    read = a_page("https://a.org/one", source="direct", reader="reader 1", **text)
    published = a_page("https://b.org/two", source="published", title="Two", **text)
    lost = a_page("https://c.org/three", status="unfetchable", source="direct", error="HTTP 404")
    warehouse.write(Change(Fetch, [fetched]), Change(Page, [read, published, lost]))
    return store


def test_a_warc_holds_bytes_and_texts_and_says_which_belong_together(tmp_path: Path) -> None:
    file = io.BytesIO()
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        assert export_warc(warehouse, archived(warehouse, tmp_path / "p"), EDITION, file) == 2
    file.seek(0)
    found = {}
    for record in ArchiveIterator(file):
        headers = record.rec_headers
        found[record.rec_type, headers.get_header("WARC-Target-URI")] = (
            headers, record.http_headers, record.content_stream().read(),
        )  # fmt: skip
    assert [kind for kind, _ in found] == ["warcinfo", "response", "conversion", "conversion"]
    headers, answer, content = found["response", "http://a.org/one"]
    assert content == HTML
    assert answer.get_header("content-length") == str(len(HTML))
    assert answer.get_header("content-encoding") is None
    read, _, text = found["conversion", "https://a.org/one"]
    assert text.decode() == "Die Straße."
    assert read.get_header("WARC-Refers-To") == headers.get_header("WARC-Record-ID")
    published, _, _ = found["conversion", "https://b.org/two"]
    assert published.get_header("X-Evergreen-Source") == "published"
    assert published.get_header("WARC-Refers-To") is None


def test_texts_are_an_object_a_line_of_good_pages_only(tmp_path: Path) -> None:
    file = io.BytesIO()
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        archived(warehouse, tmp_path / "p")
        assert export_texts(warehouse, EDITION, file) == 2
    lines = [json.loads(line) for line in gzip.decompress(file.getvalue()).splitlines()]
    assert [(line["url"], line["source"], line["text"]) for line in lines] == [
        ("https://a.org/one", "direct", "Die Straße."),
        ("https://b.org/two", "published", "Die Straße."),
    ]


def test_an_export_that_fails_leaves_no_half_file(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        store = archived(warehouse, tmp_path / "p")
        good = tmp_path / "all.warc.gz"
        assert write_export(warehouse, store, EDITION, good) == 2
        for path in (tmp_path / "p").rglob("*.gz"):
            path.unlink()
        with pytest.raises(Exception, match="missing"):
            write_export(warehouse, store, EDITION, tmp_path / "other.warc.gz")
    assert sorted(p.name for p in tmp_path.glob("*.warc.gz")) == ["all.warc.gz"]
    assert not list(tmp_path.glob(".*.gz"))

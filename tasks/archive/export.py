"""Export the archive as a WARC file, or its texts as JSON Lines.

A page that we fetched becomes a `response` record (the stored headers, the decoded bytes) and its
text a `conversion` record that refers to it. Pages that came with an imported edition are
`conversion` records only, since their bytes are not available. warcio writes the file.
"""

import gzip
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.contents import PageStore
from tasks.warehouse.store import Readable
from tasks.web.page import WARC_PAGE_HEADERS

BATCH_SIZE = 50
"""Pages read from the warehouse at once."""
PAGES = """
SELECT p.url, p.status, p.title, p.text, p.language, p.published_on, p.fetched_at, p.reader,
    coalesce(p.source, 'published') AS source, p.final_url,
    f.asked_url, f.final_url AS answered_at, f.http_status, f.headers, f.sha, f.fetched_at AS at
FROM pages AS p
LEFT JOIN fetches AS f ON f.edition = p.edition AND f.url = p.url AND f.source = p.source
WHERE p.edition = $1 AND p.url > $2
    AND p.url NOT IN (SELECT url FROM withheld_pages WHERE edition = $1)
ORDER BY p.url LIMIT $3
"""
"""Without pages that are withheld from agents: an export may be served to them as a corpus."""
OTHERS = ("headers", "asked_url", "answered_at")
"""Columns with others' texts, beside those of the table `pages`."""
TEXT_FIELDS = ("url", "title", "text", "language", "published_on", "fetched_at", "source",
               "final_url", "reader")  # fmt: skip


def export_warc(source: Readable, store: PageStore, edition: str, file: BinaryIO) -> int:
    """Write all pages of an edition that have bytes or a text, and return their number.

    Raises:
        DamagedWarehouse: bytes are missing or damaged.
        LeakedKey: a page holds one of our keys.
    """
    writer = WARCWriter(file, gzip=True)
    about = {
        "software": f"evergreen-bench {version('evergreen-bench')}",
        "format": "WARC File Format 1.0",
        "isPartOf": edition,
    }
    writer.write_record(writer.create_warcinfo_record(f"{edition}.warc.gz", about))
    n = 0
    guard = KeyGuard()
    for page in _iterate_pages(source, edition, guard):
        if page["sha"] is None and page["text"] is None:
            continue
        answer = _build_response(writer, store, page, guard) if page["sha"] else None
        if answer is not None:
            writer.write_record(answer)
        if page["text"] is not None:
            writer.write_record(_build_conversion(writer, page, answer))
        n += 1
    return n


def export_texts(source: Readable, edition: str, file: BinaryIO) -> int:
    """Write the texts of `ok` pages, one JSON object a line, by URL, and return their number."""
    n = 0
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        for page in _iterate_pages(source, edition, KeyGuard()):
            if page["status"] == "ok":
                record = {name: page[name] for name in TEXT_FIELDS if page[name] is not None}
                line = json.dumps(record, ensure_ascii=False, default=str)
                packed.write(line.encode() + b"\n")
                n += 1
    return n


def write_export(source: Readable, store: PageStore, edition: str, path: Path) -> int:
    """Write `path` atomically, as a WARC file or JSON Lines by its name.

    Raises:
        OSError: it cannot be written.
    """
    fresh = path.with_name(f".{path.name}")
    try:
        with fresh.open("wb") as file:
            if path.name.endswith(".warc.gz"):
                n = export_warc(source, store, edition, file)
            else:
                n = export_texts(source, edition, file)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return n


def _iterate_pages(source: Readable, edition: str, guard: KeyGuard) -> Iterator[dict[str, Any]]:
    """Yield the pages, with the keys masked that their texts hold."""
    last = ""
    while (part := source.frame(PAGES, [edition, last, BATCH_SIZE])).height:
        yield from guard.check_frame(part, "pages", OTHERS).to_dicts()
        last = part["url"][-1]


def _build_response(
    writer: WARCWriter, store: PageStore, page: dict[str, Any], guard: KeyGuard
) -> Any:
    content = store.get(page["sha"])
    guard.check_bytes(content, f"pages, row url {page['url']}, its bytes")
    kept: dict[str, str] = json.loads(page["headers"])
    names = [(name, value) for name, value in sorted(kept.items()) if name != "content-encoding"]
    headers = [(n, str(len(content)) if n == "content-length" else v) for n, v in names]
    return writer.create_warc_record(
        page["answered_at"] or page["asked_url"],
        "response",
        payload=io.BytesIO(content),
        http_headers=StatusAndHeaders(str(page["http_status"]), headers, protocol="HTTP/1.1"),
        warc_headers_dict={"WARC-Date": _format_timestamp(page["at"])},
    )


def _build_conversion(writer: WARCWriter, page: dict[str, Any], answer: Any) -> Any:
    named = {
        "WARC-Date": _format_timestamp(page["fetched_at"]),
        "X-Evergreen-Source": page["source"],
    }
    named |= {
        header: quote(str(page[name])) for name, header in WARC_PAGE_HEADERS.items() if page[name]
    }
    if page["reader"]:
        named["X-Evergreen-Reader"] = page["reader"]
    if answer is not None:
        named["WARC-Refers-To"] = answer.rec_headers.get_header("WARC-Record-ID")
    return writer.create_warc_record(
        page["url"],
        "conversion",
        payload=io.BytesIO(page["text"].encode()),
        warc_content_type="text/plain; charset=utf-8",
        warc_headers_dict={name: value for name, value in named.items() if value},
    )


def _format_timestamp(at: datetime | None) -> str:
    """Format a WARC date, which is mandatory; imported pages without one get the Unix epoch."""
    return (at or datetime(1970, 1, 1, tzinfo=UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")

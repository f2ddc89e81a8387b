"""Pages of a WARC file: responses with status 200, read like fetched pages within bounds, and
conversions, whose texts other readers have extracted from pages.

A conversion that follows the response that it refers to forms one page with it, with its own text.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from tasks.base import Frozen
from tasks.configuration.web import ReadingBounds
from tasks.extraction.urls import normalise_url
from tasks.sandbox.page import (
    MAX_TEXT_CHARS,
    OnMessage,
    SandboxError,
    ServedPage,
    clean_title,
    parse_day,
)
from tasks.warehouse.rows import replace_surrogates
from tasks.web.html_text import parse_language
from tasks.web.page import WARC_PAGE_HEADERS, FetchedContent, ReadPage
from tasks.web.readers import PageReaders
from tasks.web.walls import classify_text

MAX_BYTES = 20_000_000
"""The largest body of a record, uncompressed; larger ones are left out."""
UNDATED = "1970-01-01T00:00:00Z"
"""The date of records without a known date in WARC files of `evergreen pages export`."""
IGNORED_TYPES = frozenset({"warcinfo", "request", "metadata"})
"""Records about other records, which are skipped silently."""


class WarcPage(Frozen):
    """A possible page: a response, a conversion, or both."""

    key: str
    where: str
    """File and URL, for messages."""
    fetched_at: datetime | None
    material: FetchedContent | None = None
    """The content of a response."""
    conversion: ReadPage | None = None
    """The text of a conversion."""
    final_url: str | None = None


async def read_warc(
    file: Path,
    stream: BinaryIO,
    bounds: ReadingBounds,
    on_skipped: OnMessage,
    on_bad_date: OnMessage = lambda _: None,
) -> AsyncIterator[ServedPage]:
    """Yield the pages of one file, compressed or not, in order.

    file: its name, for messages. on_skipped: receives each record that is not a usable page, and
    why. on_bad_date: receives unreadable dates.

    Raises:
        SandboxError: it is not a WARC file.
    """
    waiting: deque[tuple[WarcPage, asyncio.Task[ReadPage] | None]] = deque()
    async with PageReaders(bounds) as readers:
        for record in _read_records(file, stream, on_skipped, on_bad_date):
            material = record.material
            waiting.append(
                (record, asyncio.create_task(readers.read(material)) if material else None)
            )
            if len(waiting) >= 2 * bounds.workers:
                async for page in _serve_page(*waiting.popleft(), on_skipped):
                    yield page
        while waiting:
            async for page in _serve_page(*waiting.popleft(), on_skipped):
                yield page


async def _serve_page(
    record: WarcPage, reading: "asyncio.Task[ReadPage] | None", on_skipped: OnMessage
) -> AsyncIterator[ServedPage]:
    read = await reading if reading else ReadPage(status="ok")
    page = record.conversion or read
    if page.status != "ok" or not page.text:
        on_skipped(f"{record.where}: {page.status}{f' ({page.error})' if page.error else ''}")
        return
    yield ServedPage(
        url=record.key,
        title=clean_title(page.title or read.title),
        text=page.text,
        language=page.language or read.language,
        final_url=record.final_url if record.final_url != record.key else None,
        published_on=page.published_on or read.published_on,
        fetched_at=record.fetched_at,
    )


def _read_records(
    file: Path, stream: BinaryIO, on_skipped: OnMessage, on_bad_date: OnMessage
) -> Iterator[WarcPage]:
    """Yield possible pages. A response is held back until it is known whether its conversion
    follows; if a response is left out, so is its conversion."""
    try:
        held: WarcPage | None = None
        answer_id: str | None = None
        for raw in ArchiveIterator(stream):
            refers_to = raw.rec_headers.get_header("WARC-Refers-To")
            belongs = raw.rec_type == "conversion" and refers_to and refers_to == answer_id
            if belongs and held is None:
                continue
            record = _parse_record(file, raw, on_skipped, on_bad_date)
            if belongs and held and record:
                # The page's URL is the one that was requested.
                record = held.model_copy(
                    update={"key": record.key, "conversion": record.conversion,
                            "final_url": held.key,
                            "fetched_at": held.fetched_at or record.fetched_at}
                )  # fmt: skip
                held = None
            if held:
                yield held
            is_answer = raw.rec_type == "response"
            answer_id = raw.rec_headers.get_header("WARC-Record-ID") if is_answer else None
            held = record if is_answer else None
            if record and not is_answer:
                yield record
        if held:
            yield held
    except ArchiveLoadFailed as error:
        raise SandboxError(f"{file} is not a WARC file, or is damaged ({error}).") from None


def _parse_record(
    file: Path, raw: Any, on_skipped: OnMessage, on_bad_date: OnMessage
) -> WarcPage | None:
    """Return the page in a record; report and return None if it holds none."""
    if raw.rec_type in IGNORED_TYPES:
        return None
    address = (raw.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    where = f"{file.name}: {address[:200]}"
    key = normalise_url(address)
    content = raw.content_stream().read(MAX_BYTES + 1)
    if key is None:
        on_skipped(f"{where}: not an http(s) URL")
    elif len(content) > MAX_BYTES:
        on_skipped(f"{where}: more than {MAX_BYTES:,} bytes")
    elif raw.raw_stream.limit > 0:  # the record is shorter than announced
        on_skipped(f"{where}: cut off")
    elif isinstance(held := _parse_content(raw, address, content), str):
        on_skipped(f"{where}: {held}")
    else:
        fetched_at = _parse_time(raw.rec_headers.get_header("WARC-Date") or "", where, on_bad_date)
        return WarcPage(key=key, where=where, fetched_at=fetched_at, **held)
    return None


def _parse_content(raw: Any, address: str, content: bytes) -> dict[str, Any] | str:
    """Return the fields of a WarcPage, or why the record is not a page."""
    if raw.rec_type == "conversion":
        return _parse_conversion(raw, address, content)
    if raw.rec_type != "response":
        return f"`{raw.rec_type}` records are not read"
    if raw.http_headers is None:
        return "not an HTTP response"
    if (status := raw.http_headers.get_statuscode()) != "200":
        return f"HTTP {status[:20]}"
    headers = {name.lower(): value for name, value in raw.http_headers.headers}
    material = FetchedContent(source="direct", url=address, final_url=address, http_status=200,
                        headers=headers, content=content)  # fmt: skip
    return {"material": material}


def _parse_conversion(raw: Any, address: str, content: bytes) -> dict[str, Any] | str:
    media_type = raw.rec_headers.get_header("Content-Type") or ""
    if media_type.partition(";")[0].strip().lower() != "text/plain":
        return f"a conversion to {media_type[:100] or 'an unknown type'}, not to plain text"
    text = replace_surrogates(content.decode("utf-8", "replace"))[:MAX_TEXT_CHARS]
    if not text.strip():
        return "empty"
    headers = {
        name: raw.rec_headers.get_header(header) for name, header in WARC_PAGE_HEADERS.items()
    }
    title = unquote(headers["title"]) if headers["title"] else None
    # Other readers may have mistaken a wall for a page.
    status = headers["status"] or classify_text(address, title, text)[0]
    if status != "ok":
        return status[:100]
    day = parse_day(headers["published_on"]) if headers["published_on"] else None
    language = parse_language(headers["language"])
    page = ReadPage(status="ok", title=title, text=text, language=language, published_on=day)
    return {"conversion": page}


def _parse_time(text: str, where: str, on_bad_date: OnMessage) -> datetime | None:
    if text in ("", UNDATED):
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        on_bad_date(f"{where}: {text[:100]!r}")
        return None

"""Pages of a WARC file: its answers with status 200, read as fetched pages are, within bounds, and
its conversions: texts that somebody's reader has made of pages already.

A conversion that follows the answer that it refers to is one page with it, and its text counts.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from tasks.base import Frozen
from tasks.configuration.web import ReadingBounds
from tasks.extraction.urls import normalise_url
from tasks.sandbox.dates import read_day
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.page import MOST_CHARACTERS, OnMessage, ServedPage, title_of
from tasks.warehouse.rows import storable
from tasks.web.html_text import language_code
from tasks.web.page import SAID_OF_PAGE, Material, ReadPage
from tasks.web.readers import PageReaders
from tasks.web.walls import of_text

MOST_BYTES = 20_000_000
"""Of one record's body, unpacked; a larger one is left out."""
UNDATED = "1970-01-01T00:00:00Z"
"""Stands where WARC wants a date and nobody knows one (`evergreen pages export`)."""
NO_PAGES = frozenset({"warcinfo", "request", "metadata"})
"""Records about others: nothing to remark."""


class Record(Frozen):
    """What may be a page: an answer, a text that was made of one, or both."""

    key: str
    where: str
    """For remarks."""
    fetched_at: datetime | None
    material: Material | None = None
    """An answer."""
    said: ReadPage | None = None
    """What a conversion says."""
    final_url: str | None = None


async def warc_pages(
    file: Path, bounds: ReadingBounds, left_out: OnMessage, no_day: OnMessage = lambda _: None
) -> AsyncIterator[ServedPage]:
    """The pages of one file, packed or not, in its order.

    left_out: told of each record that could be a page and is none, and why. no_day: told of dates
    that cannot be read.

    Raises:
        SandboxError: it is no WARC file.
    """
    waiting: deque[tuple[Record, asyncio.Task[ReadPage] | None]] = deque()
    async with PageReaders(bounds) as readers:
        for record in _records(file, left_out, no_day):
            material = record.material
            waiting.append(
                (record, asyncio.create_task(readers.read(material)) if material else None)
            )
            if len(waiting) >= 2 * bounds.workers:
                async for page in _page(*waiting.popleft(), left_out):
                    yield page
        while waiting:
            async for page in _page(*waiting.popleft(), left_out):
                yield page


async def _page(
    record: Record, reading: "asyncio.Task[ReadPage] | None", left_out: OnMessage
) -> AsyncIterator[ServedPage]:
    read = await reading if reading else ReadPage(status="ok")
    said = record.said or read
    if said.status != "ok" or not said.text:
        left_out(f"{record.where}: {said.status}{f' ({said.error})' if said.error else ''}")
        return
    yield ServedPage(
        url=record.key,
        title=title_of(said.title or read.title),
        text=said.text,
        language=said.language or read.language,
        final_url=record.final_url if record.final_url != record.key else None,
        published_on=said.published_on or read.published_on,
        fetched_at=record.fetched_at,
    )


def _records(file: Path, left_out: OnMessage, no_day: OnMessage) -> Iterator[Record]:
    """What may be a page. An answer is held back until it is known whether its conversion follows;
    one that is left out takes its conversion with it."""
    with file.open("rb") as stream:
        try:
            held: Record | None = None
            answer_id: str | None = None
            for raw in ArchiveIterator(stream):
                refers_to = raw.rec_headers.get_header("WARC-Refers-To")
                belongs = raw.rec_type == "conversion" and refers_to and refers_to == answer_id
                if belongs and held is None:
                    continue
                record = _record(file, raw, left_out, no_day)
                if belongs and held and record:
                    record, held = _joined(held, record), None
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
            raise SandboxError(f"{file} is no WARC file, or is damaged ({error}).") from None


def _joined(answer: Record, text: Record) -> Record:
    """A page of which there are both. Its address is the one that was asked for."""
    return answer.model_copy(
        update={"key": text.key, "said": text.said, "final_url": answer.key,
                "fetched_at": answer.fetched_at or text.fetched_at}
    )  # fmt: skip


def _record(file: Path, raw: Any, left_out: OnMessage, no_day: OnMessage) -> Record | None:
    """What a record holds; None, and a remark, where it is no page."""
    if raw.rec_type in NO_PAGES:
        return None
    address = (raw.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    where = f"{file.name}: {address[:200]}"
    key = normalise_url(address)
    content = raw.content_stream().read(MOST_BYTES + 1)
    if key is None:
        left_out(f"{where}: no http(s) address")
    elif len(content) > MOST_BYTES:
        left_out(f"{where}: more than {MOST_BYTES:,} bytes")
    elif raw.raw_stream.limit > 0:  # bytes that were announced and did not come
        left_out(f"{where}: cut off")
    elif isinstance(held := _content(raw, address, content), str):
        left_out(f"{where}: {held}")
    else:
        fetched_at = _time(raw.rec_headers.get_header("WARC-Date") or "", where, no_day)
        return Record(key=key, where=where, fetched_at=fetched_at, **held)
    return None


def _content(raw: Any, address: str, content: bytes) -> dict[str, Any] | str:
    """An answer's material or a conversion's text; or why it is no page."""
    if raw.rec_type == "conversion":
        return _text(raw, address, content)
    if raw.rec_type != "response":
        return f"`{raw.rec_type}` records are not read"
    if raw.http_headers is None:
        return "no answer of a web server"
    if (status := raw.http_headers.get_statuscode()) != "200":
        return f"HTTP {status[:20]}"
    headers = {name.lower(): value for name, value in raw.http_headers.headers}
    material = Material(source="direct", url=address, final_url=address, http_status=200,
                        headers=headers, content=content)  # fmt: skip
    return {"material": material}


def _text(raw: Any, address: str, content: bytes) -> dict[str, Any] | str:
    media_type = raw.rec_headers.get_header("Content-Type") or ""
    if media_type.partition(";")[0].strip().lower() != "text/plain":
        return f"a conversion to {media_type[:100] or 'nobody says what'}, not to plain text"
    text = storable(content.decode("utf-8", "replace"))[:MOST_CHARACTERS]
    if not text.strip():
        return "empty"
    said = {name: raw.rec_headers.get_header(header) for name, header in SAID_OF_PAGE.items()}
    title = unquote(said["title"]) if said["title"] else None
    # Others may have taken a wall for a page.
    status = said["status"] or of_text(address, title, text)[0]
    if status != "ok":
        return status[:100]
    day = read_day(said["published_on"]) if said["published_on"] else None
    page = ReadPage(status="ok", title=title, text=text, language=language_code(said["language"]),
                    published_on=day)  # fmt: skip
    return {"said": page}


def _time(said: str, where: str, no_day: OnMessage) -> datetime | None:
    if said in ("", UNDATED):
        return None
    try:
        at = datetime.fromisoformat(said)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        no_day(f"{where}: {said[:100]!r}")
        return None

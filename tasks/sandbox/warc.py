"""Pages of a WARC file: its answers with status 200, read as fetched pages are, within bounds."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from tasks.configuration.web import ReadingBounds
from tasks.extraction.urls import normalise_url
from tasks.frozen import Frozen
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.page import ServedPage, title_of
from tasks.web.page import Material, ReadPage
from tasks.web.readers import PageReaders

MOST_BYTES = 20_000_000
"""Of one record's body, unpacked; a larger one is left out."""
LeftOut = Callable[[str], None]


class Record(Frozen):
    """An answer that may be a page."""

    key: str
    where: str
    """For remarks."""
    material: Material
    fetched_at: datetime | None


async def warc_pages(
    file: Path, bounds: ReadingBounds, left_out: LeftOut
) -> AsyncIterator[ServedPage]:
    """The pages of one file, packed or not, in its order.

    left_out: told of each answer that holds no page, and why.

    Raises:
        SandboxError: it is no WARC file.
    """
    waiting: deque[tuple[Record, asyncio.Task[ReadPage]]] = deque()
    async with PageReaders(bounds) as readers:
        for record in _records(file, left_out):
            waiting.append((record, asyncio.create_task(readers.read(record.material))))
            if len(waiting) >= 2 * bounds.workers:
                async for page in _page(*waiting.popleft(), left_out):
                    yield page
        while waiting:
            async for page in _page(*waiting.popleft(), left_out):
                yield page


async def _page(
    record: Record, reading: "asyncio.Task[ReadPage]", left_out: LeftOut
) -> AsyncIterator[ServedPage]:
    read = await reading
    if read.status != "ok" or not read.text:
        left_out(f"{record.where}: {read.status}{f' ({read.error})' if read.error else ''}")
        return
    yield ServedPage(
        url=record.key,
        title=title_of(read.title),
        text=read.text,
        language=read.language,
        published_on=read.published_on,
        fetched_at=record.fetched_at,
    )


def _records(file: Path, left_out: LeftOut) -> Iterator[Record]:
    with file.open("rb") as stream:
        try:
            for record in ArchiveIterator(stream):
                # An answer that is no page, as a redirect or an error, is nothing to remark.
                if (
                    record.rec_type == "response"
                    and record.http_headers is not None
                    and record.http_headers.get_statuscode() == "200"
                ):
                    yield from _record(file, record, left_out)
        except ArchiveLoadFailed as error:
            raise SandboxError(f"{file} is no WARC file, or is damaged ({error}).") from None


def _record(file: Path, record: Any, left_out: LeftOut) -> Iterator[Record]:
    address = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    where = f"{file.name}: {address[:200]}"
    key = normalise_url(address)
    content = record.content_stream().read(MOST_BYTES + 1)
    if key is None:
        left_out(f"{where}: no http(s) address")
    elif len(content) > MOST_BYTES:
        left_out(f"{where}: more than {MOST_BYTES:,} bytes")
    elif record.raw_stream.limit > 0:  # bytes that were announced and did not come
        left_out(f"{where}: cut off")
    else:
        headers = {name.lower(): value for name, value in record.http_headers.headers}
        material = Material(source="direct", url=address, final_url=address, http_status=200,
                            headers=headers, content=content)  # fmt: skip
        fetched_at = _time(record.rec_headers.get_header("WARC-Date") or "")
        yield Record(key=key, where=where, material=material, fetched_at=fetched_at)


def _time(said: str) -> datetime | None:
    try:
        return datetime.fromisoformat(said).astimezone(UTC)
    except ValueError:
        return None

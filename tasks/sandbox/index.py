"""Building the index of an archive: only what is new or has changed is read, cut and embedded.

A build that is killed leaves what readers see as it was, and the next one goes on from the pages
that it had done. Words are counted anew at each change: what stays in an index of words after
pages have gone would change the others' scores, and so the order of results by the way in which
an archive came to be.
"""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import AsyncFileLock, Timeout

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.extraction.banned import on_hosts
from tasks.sandbox.bans import Copies
from tasks.sandbox.embedding import embedded
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.lance import (
    CURRENT,
    PAGES,
    PASSAGES,
    Current,
    connected,
    is_one_of,
    page_schema,
    passage_schema,
    read_current,
)
from tasks.sandbox.page import ServedPage
from tasks.sandbox.passages import passages

BATCH_PAGES = 2_000
BATCH_CHARACTERS = 20_000_000
BATCH_EMBEDDED = 2_000_000
"""Of text that goes in at once; a tenth where it is embedded, so that little is lost in a kill."""
TITLE = 200
"""Characters of a page's title that are indexed with each passage."""


class Built(Frozen):
    """What a build did."""

    current: Current
    new: int
    """Pages that are new or changed."""
    gone: int


class IndexProgress(Frozen):
    """How far a build is."""

    doing: str
    pages: int


class Builder:
    """Builds and updates the index in one folder."""

    def __init__(
        self,
        folder: Path,
        settings: SandboxSettings,
        copies: Copies,
        mirror_hosts: tuple[str, ...],
        on_progress: Callable[[IndexProgress], None] = lambda _: None,
        left_out: Callable[[str], None] = lambda _: None,
    ) -> None:
        """mirror_hosts: of encyclopedias. copies: recognises the articles of the edition.
        left_out: told of pages whose address another page before them has."""
        self._folder = folder
        self._settings = settings
        self._copies = copies
        self._hosts = mirror_hosts
        self._on_progress = on_progress
        self._left_out = left_out
        self._vectors = settings.ranking != "bm25"

    async def build(self, source: AsyncIterable[ServedPage], wait: Callable[[], None]) -> Built:
        """Make the index hold what the source holds. The first page of an address counts.

        wait: called once if another process is building; this one then waits for it.

        Raises:
            SandboxError: the folder cannot be written.
            ConfigurationError: an extra is not installed.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            async with _locked(self._folder, wait):
                return await self._build(source)
        except (OSError, RuntimeError) as error:  # LanceDB's are of both kinds
            raise SandboxError(
                f"{self._folder}: the index could not be written ({error}). Free some space or "
                "fix the permissions, then run again; if it is damaged, delete the folder: it is "
                "made again."
            ) from error

    async def _build(self, source: AsyncIterable[ServedPage]) -> Built:
        before = read_current(self._folder)
        pages, passages_ = await _opened(self._folder, self._vectors)
        known = await _known(pages)
        lost = await _lost(pages, passages_, before, known)
        seen: set[str] = set()
        new = 0
        async for batch in self._batches(source, known, seen):
            await self._replace(pages, passages_, batch, known)
            new += len(batch)
            self._on_progress(IndexProgress(doing="indexing pages", pages=len(seen)))
        gone = sorted(known.keys() - seen)
        for some in _in_parts(sorted({*gone, *lost} - seen), 500):
            await pages.delete(is_one_of("url", some))
            await passages_.delete(is_one_of("url", some))
        if before and await _is(pages, passages_, before):
            return Built(current=before, new=0, gone=0)
        return Built(current=await self._finish(pages, passages_, before), new=new, gone=len(gone))

    async def _batches(
        self, source: AsyncIterable[ServedPage], known: dict[str, str], seen: set[str]
    ) -> AsyncIterator[list[ServedPage]]:
        """The pages that are not in the index as they are, some at a time; fills `seen`."""
        most = BATCH_EMBEDDED if self._vectors else BATCH_CHARACTERS
        batch: list[ServedPage] = []
        size = 0
        async for page in source:
            if page.url in seen:
                self._left_out(f"{page.url}: another page before it has this address")
                continue
            seen.add(page.url)
            if len(seen) % 100 == 0:
                self._on_progress(IndexProgress(doing="reading pages", pages=len(seen)))
                await asyncio.sleep(0)  # so that Ctrl-C is noticed where nothing is to be done
            if known.get(page.url) == page.sha:
                continue
            batch.append(page)
            size += len(page.text)
            if len(batch) >= BATCH_PAGES or size >= most:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    async def _replace(
        self, pages: Any, passages_: Any, batch: list[ServedPage], known: dict[str, str]
    ) -> None:
        """A page's row is taken out first and put in last: one that is there has its passages."""
        for some in _in_parts(sorted(page.url for page in batch if page.url in known), 500):
            await pages.delete(is_one_of("url", some))
        for some in _in_parts(sorted(page.url for page in batch), 500):
            await passages_.delete(is_one_of("url", some))  # also of a build that was killed
        rows = [self._page_row(page) for page in batch]
        cut = [row for page, its in zip(batch, rows, strict=True) for row in self._cut(page, its)]
        if cut:
            await passages_.add(pa.Table.from_pylist(cut, passage_schema(vectors=self._vectors)))
        await pages.add(pa.Table.from_pylist(rows, page_schema()))

    def _page_row(self, page: ServedPage) -> dict[str, Any]:
        places = [page.url, *([page.final_url] if page.final_url else [])]
        return {
            "url": page.url,
            "sha": page.sha,
            "title": page.title,
            "text": page.text,
            "language": page.language,
            "final_url": page.final_url,
            "day": page.day,
            "encyclopedia": any(on_hosts(place, self._hosts) for place in places),
            "copies": self._copies.of(page.text),
        }

    def _cut(self, page: ServedPage, row: dict[str, Any]) -> list[dict[str, Any]]:
        title = page.title[:TITLE]
        said = [f"{title}\n{text}" for text in passages(page.text, self._settings.passage_words)]
        found: list[dict[str, Any]] = [
            {"url": page.url, "number": number, "said": text, "day": row["day"],
             "encyclopedia": row["encyclopedia"]}
            for number, text in enumerate(said)
        ]  # fmt: skip
        if self._vectors:
            for one, vector in zip(found, embedded(said), strict=True):
                one["vector"] = vector
        return found

    async def _finish(self, pages: Any, passages_: Any, before: Current | None) -> Current:
        """Index, tidy up, and make it what readers open."""
        from lancedb.index import FTS, HnswSq

        n_pages, n_passages = await pages.count_rows(), await passages_.count_rows()
        self._on_progress(IndexProgress(doing="indexing words", pages=n_pages))
        await _tidy(passages_, before.passages_version if before else None)
        if n_passages:
            await passages_.create_index("said", config=FTS(), replace=True)
        if self._vectors and n_passages >= self._settings.approximate_from:
            self._on_progress(IndexProgress(doing="indexing vectors", pages=n_pages))
            await passages_.create_index("vector", config=HnswSq(distance_type="dot"), replace=True)
        await _tidy(pages, before.pages_version if before else None)
        made = Current(
            pages_version=await pages.version(),
            passages_version=await passages_.version(),
            n_pages=n_pages,
            n_passages=n_passages,
            built_at=datetime.now(UTC),
        )
        fresh = self._folder / f".{CURRENT}-{os.getpid()}"
        fresh.write_text(made.model_dump_json(indent=1), "utf-8")
        fresh.replace(self._folder / CURRENT)
        return made


@asynccontextmanager
async def _locked(folder: Path, wait: Callable[[], None]) -> AsyncIterator[None]:
    """One process builds; the kernel frees the lock of one that was killed."""
    lock = AsyncFileLock(folder.with_name(f"{folder.name}.lock"))
    try:
        await lock.acquire(timeout=0)
    except Timeout:
        wait()
        await lock.acquire()
    try:
        yield
    finally:
        await lock.release()


async def _opened(folder: Path, vectors: bool) -> tuple[Any, Any]:
    """The tables of pages and of passages as the last build left them, finished or not."""
    database = await connected(folder)
    return (
        await database.create_table(PAGES, schema=page_schema(), exist_ok=True),
        await database.create_table(
            PASSAGES, schema=passage_schema(vectors=vectors), exist_ok=True
        ),
    )


async def _known(pages: Any) -> dict[str, str]:
    rows = await pages.query().select(["url", "sha"]).to_arrow()
    return dict(zip(rows["url"].to_pylist(), rows["sha"].to_pylist(), strict=True))


async def _lost(
    pages: Any, passages_: Any, before: Current | None, known: dict[str, str]
) -> set[str]:
    """Pages of which a build that was killed has left nothing but passages."""
    if before and await _is(pages, passages_, before):
        return set()
    rows = await passages_.query().select(["url"]).to_arrow()
    return set(rows["url"].unique().to_pylist()) - known.keys()


async def _is(pages: Any, passages_: Any, current: Current) -> bool:
    """Whether the tables are as that build left them."""
    versions = (await pages.version(), await passages_.version())
    return versions == (current.pages_version, current.passages_version)


async def _tidy(table: Any, before: int | None) -> None:
    """Put small files together, and take away what is older than the version `before`.

    That one is kept: somebody may be reading it.
    """
    # Its times are naive and local.
    made = [
        v["timestamp"].astimezone() for v in await table.list_versions() if v["version"] == before
    ]
    age = datetime.now(UTC) - made[0] + timedelta(seconds=2) if made else timedelta(milliseconds=1)
    await table.optimize(cleanup_older_than=age, delete_unverified=True)


def _in_parts(values: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]

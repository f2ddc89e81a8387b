"""Building the index of an archive; only new and changed pages are split and embedded.

A build that is killed does not change what readers see, and the next one continues from the pages
that it had finished. Each change rebuilds the full-text index: remains of removed pages would
change the scores of other pages, so that the order of results would depend on past builds.
"""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import AsyncFileLock, Timeout

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.extraction.bans import is_on_host
from tasks.files.locks import explain_no_locks
from tasks.sandbox.catalogue import CopyDetector
from tasks.sandbox.lance import (
    CURRENT_FILE,
    PAGES,
    PASSAGES,
    IndexVersion,
    connect,
    embed,
    page_schema,
    passage_schema,
    read_index_version,
    sql_in,
)
from tasks.sandbox.page import SandboxError, ServedPage, split_passages
from tasks.secrecy.guard import KeyGuard

BATCH_PAGES = 2_000
BATCH_CHARACTERS = 20_000_000
BATCH_EMBEDDED = 2_000_000
"""Characters per batch; fewer where they are embedded, so that little is lost in a kill."""
BATCH_DELETED = 500
"""Pages named in one condition."""
MAX_TITLE_CHARS = 200
"""How much of a page's title is indexed with each passage."""


class BuildResult(Frozen):
    """The result of a build."""

    version: IndexVersion
    n_changed: int
    """New and changed pages."""
    n_removed: int


OnProgress = Callable[[str, int], None]
"""Called with what a build is doing, and the number of pages."""


class IndexBuilder:
    """A builder that creates or updates the index in one folder."""

    def __init__(
        self,
        folder: Path,
        settings: SandboxSettings,
        copies: CopyDetector,
        mirror_hosts: tuple[str, ...],
        on_progress: OnProgress = lambda step, n_pages: None,
        on_skipped: Callable[[str], None] = lambda _: None,
    ) -> None:
        """copies: recognises copies of the edition's articles. mirror_hosts: encyclopedias.
        on_skipped: receives pages whose URL an earlier page already has."""
        self._folder = folder
        self._settings = settings
        self._copies = copies
        self._hosts = mirror_hosts
        self._on_progress = on_progress
        self._on_skipped = on_skipped
        self._vectors = settings.ranking != "bm25"
        self._guard = KeyGuard()

    async def build(
        self, source: AsyncIterable[ServedPage], on_wait: Callable[[], None]
    ) -> BuildResult:
        """Bring the index up to date with the source. The first page of a URL counts.

        on_wait: called once if another process is building, before waiting for it.

        Raises:
            SandboxError: the folder cannot be written.
            LeakedKey: a page holds one of our keys.
            ConfigurationError: an extra is not installed.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            async with _build_lock(self._folder, on_wait):
                return await self._build(source)
        except (OSError, RuntimeError) as error:  # LanceDB raises both
            raise SandboxError(
                f"{self._folder}: the index could not be written ({error}). Free some space or "
                "fix the permissions, then run again. If it is damaged, delete the folder; it is "
                "rebuilt."
            ) from error

    async def _build(self, source: AsyncIterable[ServedPage]) -> BuildResult:
        before = read_index_version(self._folder)
        pages, passages = await _open_tables(self._folder, self._vectors)
        rows = await pages.query().select(["url", "sha"]).to_arrow()
        known = dict(zip(rows["url"].to_pylist(), rows["sha"].to_pylist(), strict=True))
        orphans = await _find_orphans(pages, passages, before, known)
        seen: set[str] = set()
        n_changed = 0
        async for batch in self._batches(source, known, seen):
            await self._replace(pages, passages, batch, known)
            n_changed += len(batch)
            self._on_progress("indexing pages", len(seen))
        removed = known.keys() - seen
        gone = removed | (orphans - seen)
        await _delete(pages, gone)
        await _delete(passages, gone)
        if before and await _have_versions(pages, passages, before):
            return BuildResult(version=before, n_changed=0, n_removed=0)
        return BuildResult(
            version=await self._finish(pages, passages, before),
            n_changed=n_changed,
            n_removed=len(removed),
        )

    async def _batches(
        self, source: AsyncIterable[ServedPage], known: dict[str, str], seen: set[str]
    ) -> AsyncIterator[list[ServedPage]]:
        """Yield batches of new and changed pages; add the URLs of all pages to `seen`."""
        most = BATCH_EMBEDDED if self._vectors else BATCH_CHARACTERS
        batch: list[ServedPage] = []
        size = 0
        async for page in source:
            if page.url in seen:
                self._on_skipped(f"{page.url}: an earlier page has this URL")
                continue
            seen.add(page.url)
            if len(seen) % 100 == 0:
                self._on_progress("reading pages", len(seen))
                await asyncio.sleep(0)  # so that Ctrl-C is noticed if no page has changed
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
        self, pages: Any, passages: Any, batch: list[ServedPage], known: dict[str, str]
    ) -> None:
        """Replace pages. A page's row is deleted first and added last, so that every page in the
        table has its passages."""
        urls = [page.url for page in batch]
        await _delete(pages, known.keys() & urls)
        await _delete(passages, urls)  # including those of a killed build
        rows = [self._page_row(page) for page in batch]
        passage_rows = [passage for row in rows for passage in self._split_page(row)]
        if passage_rows:
            schema = passage_schema(vectors=self._vectors)
            await passages.add(pa.Table.from_pylist(passage_rows, schema))
        await pages.add(pa.Table.from_pylist(rows, page_schema()))

    def _page_row(self, page: ServedPage) -> dict[str, Any]:
        places = [page.url, *([page.final_url] if page.final_url else [])]
        return {
            "url": page.url,
            "sha": page.sha,
            "title": self._guard.mask(page.title, page.url),
            "text": self._guard.mask(page.text, page.url),
            "language": page.language,
            "final_url": page.final_url,
            "day": page.day,
            "encyclopedia": any(is_on_host(place, self._hosts) for place in places),
            "copies": self._copies.find_articles(page.text),
        }

    def _split_page(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        title = row["title"][:MAX_TITLE_CHARS]
        texts = [
            f"{title}\n{text}" for text in split_passages(row["text"], self._settings.passage_words)
        ]
        rows: list[dict[str, Any]] = [
            {"url": row["url"], "number": number, "said": text, "day": row["day"],
             "encyclopedia": row["encyclopedia"]}
            for number, text in enumerate(texts)
        ]  # fmt: skip
        if self._vectors:
            for one, vector in zip(rows, embed(texts), strict=True):
                one["vector"] = vector
        return rows

    async def _finish(self, pages: Any, passages: Any, before: IndexVersion | None) -> IndexVersion:
        """Create the search indexes, compact the tables, and publish the new version to readers."""
        from lancedb.index import FTS, HnswSq

        n_pages, n_passages = await pages.count_rows(), await passages.count_rows()
        self._on_progress("indexing words", n_pages)
        await _compact(passages, before.passages_version if before else None)
        if n_passages:
            await passages.create_index("said", config=FTS(), replace=True)
        if self._vectors and n_passages >= self._settings.approximate_from:
            self._on_progress("indexing vectors", n_pages)
            await passages.create_index("vector", config=HnswSq(distance_type="dot"), replace=True)
        await _compact(pages, before.pages_version if before else None)
        version = IndexVersion(
            pages_version=await pages.version(),
            passages_version=await passages.version(),
            n_pages=n_pages,
            n_passages=n_passages,
            built_at=datetime.now(UTC),
        )
        fresh = self._folder / f".{CURRENT_FILE}-{os.getpid()}"
        fresh.write_text(version.model_dump_json(indent=1), "utf-8")
        fresh.replace(self._folder / CURRENT_FILE)
        return version


@asynccontextmanager
async def _build_lock(folder: Path, on_wait: Callable[[], None]) -> AsyncIterator[None]:
    """Hold the build lock of a folder; the kernel releases the lock of a killed process."""
    lock = AsyncFileLock(folder.with_name(f"{folder.name}.lock"), fallback_to_soft=False)
    try:
        with explain_no_locks(folder.parent):
            await lock.acquire(timeout=0)
    except Timeout:
        on_wait()
        await lock.acquire()
    try:
        yield
    finally:
        await lock.release()


async def _open_tables(folder: Path, vectors: bool) -> tuple[Any, Any]:
    """Open the tables of pages and passages as the last build left them, finished or not."""
    database = await connect(folder)
    return (
        await database.create_table(PAGES, schema=page_schema(), exist_ok=True),
        await database.create_table(
            PASSAGES, schema=passage_schema(vectors=vectors), exist_ok=True
        ),
    )


async def _find_orphans(
    pages: Any, passages: Any, before: IndexVersion | None, known: dict[str, str]
) -> set[str]:
    """Return the pages of which a killed build has left nothing but passages."""
    if before and await _have_versions(pages, passages, before):
        return set()
    rows = await passages.query().select(["url"]).to_arrow()
    return set(rows["url"].unique().to_pylist()) - known.keys()


async def _have_versions(pages: Any, passages: Any, current: IndexVersion) -> bool:
    """Whether the tables have the versions of a finished build."""
    versions = (await pages.version(), await passages.version())
    return versions == (current.pages_version, current.passages_version)


async def _compact(table: Any, before: int | None) -> None:
    """Merge small files, and remove versions older than `before`, which may still be read."""
    # LanceDB's timestamps are naive and local.
    made = [
        v["timestamp"].astimezone() for v in await table.list_versions() if v["version"] == before
    ]
    age = datetime.now(UTC) - made[0] + timedelta(seconds=2) if made else timedelta(milliseconds=1)
    await table.optimize(cleanup_older_than=age, delete_unverified=True)


async def _delete(table: Any, urls: Iterable[str]) -> None:
    """Delete the rows of these pages."""
    ordered = sorted(urls)
    for start in range(0, len(ordered), BATCH_DELETED):
        await table.delete(sql_in("url", ordered[start : start + BATCH_DELETED]))

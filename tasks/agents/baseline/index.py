"""The baseline's index of an edition's archived pages, built once and shared by all jobs.

It reads only `pages.parquet` of the archive. The index folder is named after a hash of that file;
the first job builds it under a lock while the others wait.
"""

import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import bm25s
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from tasks.agents.baseline.pages import extract_statements, is_source
from tasks.configuration.inversion import load_inversion
from tasks.files.locks import hold_lock
from tasks.judges.text import extract_terms

VERSION = 2
"""Increase it when pages are read differently: indexes of other versions are ignored."""
MAX_RESULTS = 25
"""The most pages that a search finds."""
PAGES_FILE = "pages.feather"
TEXT = pa.large_string()
PAGES_SCHEMA = pa.schema({"url": TEXT, "title": TEXT, "statements": pa.large_list(TEXT)})
BOILERPLATE_PAGES = 3
"""A sentence that occurs on this many pages counts as boilerplate."""

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index it loads


class UnreadableArchive(Exception):
    """The archive's pages cannot be read; the message says why."""


@dataclass(frozen=True)
class ReadablePage:
    """A page that may be cited."""

    url: str
    title: str
    statements: tuple[str, ...]


class PageSearch(Protocol):
    """A search over pages."""

    @property
    def n_pages(self) -> int:
        """Number of usable pages, as far as they are known."""

    def search(self, query: str) -> Sequence[ReadablePage]:
        """Return at most MAX_RESULTS pages, the best first.

        Raises:
            UnreadableArchive: the search does not answer.
        """


class ArchiveIndex:
    """The usable pages of an edition, ordered by URL, and a BM25 search over them."""

    def __init__(self, folder: Path) -> None:
        self._pages = feather.read_table(folder / PAGES_FILE, memory_map=True)
        self.n_pages: int = self._pages.num_rows
        self._index = bm25s.BM25.load(str(folder), mmap=True) if self.n_pages else None

    def search(self, query: str) -> list[ReadablePage]:
        if self._index is None:
            return []
        scores = self._index.get_scores(list(dict.fromkeys(extract_terms(query))))
        best = np.argsort(-scores, kind="stable")[:MAX_RESULTS]
        found = self._pages.take(best[scores[best] > 0])
        return [
            ReadablePage(row["url"], row["title"], tuple(row["statements"]))
            for row in found.to_pylist()
        ]


def open_archive(archive: Path, cache: Path) -> ArchiveIndex:
    """Open the index of an archive, and build it if it does not exist.

    Raises:
        UnreadableArchive: the archive has no readable file of pages.
    """
    pages = archive / "pages.parquet"
    try:
        content = sha256(pages.read_bytes()).hexdigest()
    except OSError as error:
        raise UnreadableArchive(f"{pages} cannot be read: {error.strerror or error}") from None
    folder = cache / f"{content[:32]}-{VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder.with_suffix(".lock")):
        if not folder.is_dir():
            fresh = folder.with_suffix(".fresh")
            shutil.rmtree(fresh, ignore_errors=True)  # left by a killed job
            _build_index(pages, fresh)
            fresh.rename(folder)
    return ArchiveIndex(folder)


def _build_index(pages: Path, folder: Path) -> None:
    kept = list(_drop_boilerplate(list(_read_pages(pages))))
    folder.mkdir()
    table = pa.Table.from_pylist([asdict(page) for page in kept], PAGES_SCHEMA)
    feather.write_feather(table, folder / PAGES_FILE, compression="uncompressed")
    if kept:
        index = bm25s.BM25()
        documents = [extract_terms("\n".join((page.title, *page.statements))) for page in kept]
        index.index(documents, show_progress=False)
        index.save(str(folder), show_progress=False)


def _read_pages(pages: Path) -> Iterator[ReadablePage]:
    """Yield every usable page, ordered by URL."""
    hosts = load_inversion().mirror_hosts
    try:
        table = pq.read_table(pages, columns=["url", "title", "text", "status"])
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise UnreadableArchive(
            f"{pages} is not a file of archived pages ({error}); expected a snapshot's file with "
            "the columns url, title, text and status."
        ) from None
    for row in sorted(table.to_pylist(), key=lambda row: str(row["url"])):
        url, title, text = (row[name] or "" for name in ("url", "title", "text"))
        if row["status"] == "ok" and is_source(url, title, text, hosts):
            yield ReadablePage(url, title, tuple(dict.fromkeys(extract_statements(text))))


def _drop_boilerplate(found: Sequence[ReadablePage]) -> Iterator[ReadablePage]:
    """Drop sentences that many pages share, and pages without any other."""
    on_pages = Counter(text for page in found for text in page.statements)
    for page in found:
        own = tuple(text for text in page.statements if on_pages[text] < BOILERPLATE_PAGES)
        if own:
            yield ReadablePage(page.url, page.title, own)

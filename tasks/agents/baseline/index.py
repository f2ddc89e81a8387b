"""The baseline's index of an edition's archived pages, built once and shared by all jobs.

It reads only `pages.parquet` of the archive. The index folder is named after a hash of that file;
the first job builds it under a lock while the others wait.
"""

import json
import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import bm25s
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock
from numpy.typing import NDArray

from tasks.agents.baseline.pages import extract_statements, is_source
from tasks.configuration.inversion import load_inversion
from tasks.judges.text import extract_terms

PAGES_FILE = "pages.parquet"
VERSION = 1
"""Increase it when pages are read differently: indexes of other versions are ignored."""
BOILERPLATE_PAGES = 3
"""A sentence that occurs on this many pages counts as boilerplate."""
_STATEMENTS_FILE = "statements.arrow"

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index it loads


class UnreadableArchive(Exception):
    """The archive's pages cannot be read; the message says why."""


@dataclass(frozen=True)
class IndexedPage:
    """A page that may be cited."""

    url: str
    title: str
    first: int
    """The number of its first statement."""
    end: int
    """The number after its last statement."""


class StatementSearch(Protocol):
    """Numbered statements of pages, and a search over them; a search may add pages."""

    @property
    def pages(self) -> Sequence[IndexedPage]: ...

    def text(self, statement: int) -> str: ...

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency, from 0; an unknown term counts as in one."""

    def search(self, query: str, k: int) -> "list[StatementHit]":
        """Return the k best statements, best first; ties go to the earlier one."""


@dataclass(frozen=True)
class StatementHit:
    """A statement that a search found."""

    statement: int
    page: int
    score: float


class ArchiveIndex:
    """The statements of an edition's pages, in order, and a BM25 search over them.

    A statement is indexed with the words of its page's title, so that `He was born in 1867.` is
    found for the person that the page is about.
    """

    def __init__(self, folder: Path) -> None:
        self.pages = [
            IndexedPage(**page) for page in json.loads((folder / "pages.json").read_text())
        ]
        with pa.memory_map(str(folder / _STATEMENTS_FILE)) as source:
            self._texts = pa.ipc.open_file(source).read_all()["text"].combine_chunks()
        self._page_of = np.repeat(
            np.arange(len(self.pages)), [page.end - page.first for page in self.pages]
        )
        self._vocabulary: dict[str, int] = json.loads((folder / "terms.json").read_text())
        self._frequencies = np.load(folder / "frequencies.npy", mmap_mode="r")
        self._index = None
        if self._vocabulary:
            self._index = bm25s.BM25.load(str(folder / "bm25"), mmap=True, load_vocab=False)

    def __len__(self) -> int:
        return len(self._texts)

    def text(self, statement: int) -> str:
        return str(self._texts[statement].as_py())

    def page_of(self, statement: int) -> int:
        return int(self._page_of[statement])

    def rarity(self, term: str) -> float:
        known = self._vocabulary.get(term)
        n = 1 if known is None else int(self._frequencies[known])
        return float(np.log((len(self) + 1) / (n + 0.5)))

    def search(self, query: str, k: int) -> list[StatementHit]:
        known = [self._vocabulary[term] for term in dict.fromkeys(extract_terms(query))
                 if term in self._vocabulary]  # fmt: skip
        if self._index is None or not known:
            return []
        scores: NDArray[np.float32] = self._index.get_scores_from_ids(known)
        best = np.argsort(-scores, kind="stable")[:k]
        return [
            StatementHit(int(i), self.page_of(int(i)), float(scores[i]))
            for i in best
            if scores[i] > 0
        ]


def open_archive(archive: Path, cache: Path) -> ArchiveIndex:
    """Open the index of an archive, and build it if it does not exist.

    Raises:
        UnreadableArchive: the archive has no readable file of pages.
    """
    pages = archive / PAGES_FILE
    try:
        content = sha256(pages.read_bytes()).hexdigest()
    except OSError as error:
        raise UnreadableArchive(f"{pages} cannot be read: {error.strerror or error}") from None
    folder = cache / f"{content[:32]}-{VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not folder.is_dir():
            fresh = folder.with_suffix(".fresh")
            shutil.rmtree(fresh, ignore_errors=True)  # left by a killed job
            _build_index(pages, fresh)
            fresh.rename(folder)
    return ArchiveIndex(folder)


def _build_index(pages: Path, folder: Path) -> None:
    found = _drop_boilerplate(list(_read_pages(pages)))
    folder.mkdir()
    texts = [text for _, _, kept in found for text in kept]
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    with (
        pa.OSFile(str(folder / _STATEMENTS_FILE), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    listing, first = [], 0
    for url, title, kept in found:
        page = {"url": url, "title": title, "first": first, "end": first + len(kept)}
        listing.append(page)
        first += len(kept)
    (folder / "pages.json").write_text(json.dumps(listing))
    _write_bm25(((title, text) for _, title, kept in found for text in kept), folder)


def _write_bm25(documents: Iterable[tuple[str, str]], folder: Path) -> None:
    vocabulary: dict[str, int] = {}
    documents_terms = [
        [
            vocabulary.setdefault(term, len(vocabulary))
            for term in (*extract_terms(title), *extract_terms(text))
        ]
        for title, text in documents
    ]
    frequencies = np.zeros(len(vocabulary), dtype=np.int64)
    for document in documents_terms:
        frequencies[list(set(document))] += 1
    np.save(folder / "frequencies.npy", frequencies)
    (folder / "terms.json").write_text(json.dumps(vocabulary))
    if vocabulary:
        index = bm25s.BM25()
        index.index((documents_terms, vocabulary), create_empty_token=False, show_progress=False)
        index.save(str(folder / "bm25"))


def _read_pages(pages: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (URL, title, statements) of every usable page, ordered by URL."""
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
            yield url, title, list(dict.fromkeys(extract_statements(text)))


def _drop_boilerplate(
    found: Sequence[tuple[str, str, list[str]]],
) -> list[tuple[str, str, list[str]]]:
    """Drop sentences that many pages share, and pages without any other."""
    pages: dict[str, int] = {}
    for _, _, texts in found:
        for text in texts:
            pages[text] = pages.get(text, 0) + 1
    kept = [
        (url, title, [t for t in texts if pages[t] < BOILERPLATE_PAGES])
        for url, title, texts in found
    ]
    return [page for page in kept if page[2]]

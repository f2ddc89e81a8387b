"""The baseline's search over an edition's archived pages: made once, then shared by all jobs.

Of the archive only `pages.parquet` is opened. The index lies in a folder named after that file's
content; whoever comes first makes it, under a lock, and the others wait.
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

from tasks.agents.baseline.pages import is_source, statements
from tasks.configuration.inversion import load_inversion
from tasks.judges.text import terms

PAGES = "pages.parquet"
VERSION = 1
"""Raise it when pages are read otherwise: indexes of other versions are not used."""
COMMON_PAGES = 3
"""A sentence that stands on so many pages word for word is furniture of a site."""
_STATEMENTS = "statements.arrow"

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index it loads


class UnreadableArchive(Exception):
    """The archive's pages cannot be read; the message says why."""


@dataclass(frozen=True)
class Page:
    """A page that may be cited."""

    url: str
    title: str
    first: int
    """Its statements are those from this number on ..."""
    end: int
    """... to before this one."""


class Sources(Protocol):
    """The statements of pages, numbered, and a search over them; a search may add pages."""

    @property
    def pages(self) -> Sequence[Page]: ...

    def text(self, statement: int) -> str: ...

    def rarity(self, term: str) -> float:
        """Inverse document frequency, from 0; a term that stands nowhere counts as in one."""

    def search(self, query: str, k: int) -> "list[Hit]":
        """The best statements, best first; ties go to the earlier one."""


@dataclass(frozen=True)
class Hit:
    """A statement that a search found."""

    statement: int
    page: int
    score: float


class Archive:
    """The statements of an edition's pages, in order, and the search over them (BM25).

    A statement is found by its own words and by those of its page's title, so that `He was born
    in 1867.` is found for whom the page is about.
    """

    def __init__(self, folder: Path) -> None:
        self.pages = [Page(**page) for page in json.loads((folder / "pages.json").read_text())]
        with pa.memory_map(str(folder / _STATEMENTS)) as source:
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

    def search(self, query: str, k: int) -> list[Hit]:
        known = [self._vocabulary[term] for term in dict.fromkeys(terms(query))
                 if term in self._vocabulary]  # fmt: skip
        if self._index is None or not known:
            return []
        scores: NDArray[np.float32] = self._index.get_scores_from_ids(known)
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(int(i), self.page_of(int(i)), float(scores[i])) for i in best if scores[i] > 0]


def open_archive(archive: Path, cache: Path) -> Archive:
    """The search over the pages of an archive; made first where nobody has yet.

    Raises:
        UnreadableArchive: there is no file of pages there, or it is not one.
    """
    pages = archive / PAGES
    try:
        content = sha256(pages.read_bytes()).hexdigest()
    except OSError as error:
        raise UnreadableArchive(f"{pages} cannot be read: {error.strerror or error}") from None
    folder = cache / f"{content[:32]}-{VERSION}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not folder.is_dir():
            fresh = folder.with_suffix(".fresh")
            shutil.rmtree(fresh, ignore_errors=True)  # of one who was killed
            _build(pages, fresh)
            fresh.rename(folder)
    return Archive(folder)


def _build(pages: Path, folder: Path) -> None:
    found = _without_furniture(list(_read(pages)))
    folder.mkdir()
    texts = [text for _, _, kept in found for text in kept]
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    with (
        pa.OSFile(str(folder / _STATEMENTS), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    listed, first = [], 0
    for url, title, kept in found:
        page = {"url": url, "title": title, "first": first, "end": first + len(kept)}
        listed.append(page)
        first += len(kept)
    (folder / "pages.json").write_text(json.dumps(listed))
    _index(((title, text) for _, title, kept in found for text in kept), folder)


def _index(documents: Iterable[tuple[str, str]], folder: Path) -> None:
    vocabulary: dict[str, int] = {}
    of_documents = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in (*terms(title), *terms(text))]
        for title, text in documents
    ]
    frequencies = np.zeros(len(vocabulary), dtype=np.int64)
    for document in of_documents:
        frequencies[list(set(document))] += 1
    np.save(folder / "frequencies.npy", frequencies)
    (folder / "terms.json").write_text(json.dumps(vocabulary))
    if vocabulary:
        index = bm25s.BM25()
        index.index((of_documents, vocabulary), create_empty_token=False, show_progress=False)
        index.save(str(folder / "bm25"))


def _read(pages: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(address, title, statements) of every page that may be used, in the order of addresses."""
    hosts = load_inversion().mirror_hosts
    try:
        table = pq.read_table(pages, columns=["url", "title", "text", "status"])
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise UnreadableArchive(
            f"{pages} is no file of archived pages ({error}); expected the columns url, title, "
            "text and status, as a snapshot has them."
        ) from None
    for row in sorted(table.to_pylist(), key=lambda row: str(row["url"])):
        url, title, text = (row[name] or "" for name in ("url", "title", "text"))
        if row["status"] == "ok" and is_source(url, title, text, hosts):
            yield url, title, list(dict.fromkeys(statements(text)))


def _without_furniture(
    found: Sequence[tuple[str, str, list[str]]],
) -> list[tuple[str, str, list[str]]]:
    """Without sentences that many pages share, and pages of which nothing is left."""
    pages: dict[str, int] = {}
    for _, _, texts in found:
        for text in texts:
            pages[text] = pages.get(text, 0) + 1
    kept = [
        (url, title, [t for t in texts if pages[t] < COMMON_PAGES]) for url, title, texts in found
    ]
    return [page for page in kept if page[2]]

"""The baseline's index of an edition's archived pages, built once and shared by all jobs.

It reads only `pages.parquet` of the archive. The index folder is named after a hash of that file;
the first job builds it under a lock while the others wait. It holds the plain statements of the
pages, except of encyclopedias. Pages are untrusted: extracting takes linear time and never raises.
"""

import logging
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import bm25s
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from tasks.configuration.inversion import load_inversion
from tasks.extraction.bans import is_on_host
from tasks.extraction.urls import normalise_url
from tasks.files.locks import hold_lock
from tasks.judges.text import extract_terms, load_stop_words, split_sentences, strip_markdown

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
MAX_PAGE_CHARS = 300_000
"""How much of a page is read: a longer one is a book or a list, whose start shows its subject."""
MAX_LINE_CHARS = 20_000
MIN_WORDS = 7
MAX_WORDS = 60
"""Bounds of a statement: shorter ones are labels, longer ones are lists or unsplit text."""

_SEARCH_ENGINES = re.compile(r"(?:.*\.)?(?:google|bing|duckduckgo|yahoo|baidu|yandex)(?:\.\w+)+")
_ERROR_PAGE = re.compile(
    r"\b(?:page not found|404|403 forbidden|access denied|just a moment|attention required|"
    r"are you a robot|captcha|page unavailable|error \d{3})\b",
    re.IGNORECASE,
)
_ENCYCLOPEDIA = re.compile(
    r"from wikipedia, the free encyclopedia|\bwikipedia\s*$|wikipedia article|"
    r"(?:material|text|content|article) (?:from|of) (?:the )?wikipedia",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]\n]{0,500})\]\([^()\n]{0,2000}\)")
_NOT_PROSE = re.compile(r"\s*(?:\||!\[|#{1,6}\s|={3,}|-{3,})")
_ITEM = re.compile(r"\s*(?:[*+-]|\d{1,3}[.)])\s")
_OPEN_END = re.compile(r"\A.{39,}[\w,;’'\-]\s*\Z")
_CONTINUATION = re.compile(r"\s*[a-zà-ÿ0-9(“\"]")
_END = re.compile(r"[^.…]\.[\"”’')\]]{0,3}\Z")
_BEGIN = re.compile(r"[\"“‘'(\[]{0,2}[A-Z0-9À-Ý]")
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"\"[^\"]{0,1000}\"|“[^“”]{0,1000}”")
_PERSONAL = re.compile(
    r"\b(?:[Yy]ou(?:r|rs|rself)?|[Ww]e|[Oo]urs?|us|[Mm]y|me|mine|[Ll]et['’]?s)\b"
    r"|\bI['’](?:m|ve|d|ll)\b|(?<!War )(?<!Part )\bI(?= [a-z])"
)
_BOILERPLATE = re.compile(
    r"\b(?:cookies?|subscri(?:be|bing|bers?|ptions?)|newsletters?|privacy policy|sign (?:up|in)|"
    r"log ?in|rights reserved|click|javascript|web ?browsers?|terms of (?:use|service)|"
    r"advertise(?:ment|rs)?|affiliate|copyright|©|e-?mail|follow us|download|permission|"
    r"web ?page|website uses|this (?:site|website|video|story|page|content|article)|"
    r"read more|all comments|comments? (?:section|below)|archived from|retrieved|"
    r"personal data|third[- ]part(?:y|ies)|consent|password|account)\b",
    re.IGNORECASE,
)
_MIN_LINK_SHARE = 0.55
"""Share of a line's characters in links from which it is a menu or a teaser."""
_MIN_FUNCTION_WORDS = 0.18
"""Share of words such as `the`, `of`, `was`: lists and other languages have fewer."""
_MAX_CAPITALS = 0.55
"""Share of capitalised words: headings and lists of names have more."""


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


def is_source(url: str, title: str, text: str, hosts: Sequence[str]) -> bool:
    """Whether a page is usable: no encyclopedia, copy of one, search page or error page.

    hosts: encyclopedias and mirrors, including their subdomains (languages).
    """
    key = normalise_url(url)
    if key is None:
        return False
    place = urlsplit(key)
    host = place.hostname or ""
    if is_on_host(key, hosts):
        return False
    if _SEARCH_ENGINES.fullmatch(host) and re.match(r"/(?:search|url|books/feeds|$)", place.path):
        return False
    if _ERROR_PAGE.search(title[:200]) or _ENCYCLOPEDIA.search(title[:300]):
        return False
    return not _ENCYCLOPEDIA.search(text[:3000]) and not _ENCYCLOPEDIA.search(text[-6000:])


def extract_statements(text: str) -> Iterator[str]:
    """Yield the plain statements of a page in order, without menus, notices, tables and lists."""
    for line in _unwrap_lines(text[:MAX_PAGE_CHARS].splitlines()):
        if not _NOT_PROSE.match(line) and _is_prose(line[:MAX_LINE_CHARS]):
            for sentence in split_sentences(strip_markdown(line[:MAX_LINE_CHARS])):
                plain = re.sub(r"\s+([.,;:])", r"\1", " ".join(sentence.split()))
                if is_statement(plain):
                    yield plain


def is_statement(sentence: str) -> bool:
    """Whether a sentence is an English statement about the world that addresses nobody."""
    words = _WORD.findall(sentence)
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return False
    if not (_BEGIN.match(sentence) and _END.search(sentence)):
        return False
    function = sum(word.lower() in load_stop_words() for word in words)
    capitals = sum(word[0].isupper() for word in words)
    if function < _MIN_FUNCTION_WORDS * len(words) or capitals > _MAX_CAPITALS * len(words):
        return False
    # If quotation marks and brackets are not paired, the sentence was cut.
    paired = all(sentence.count(one) == sentence.count(other) for one, other in ("“”", "()"))
    if _BOILERPLATE.search(sentence) or sentence.count('"') % 2 or not paired:
        return False
    return not _PERSONAL.search(_QUOTED.sub(" ", sentence))


def _unwrap_lines(lines: Sequence[str]) -> Iterator[str]:
    """Join lines that were wrapped within a sentence."""
    joined: list[str] = []
    for line in lines:
        if joined and not (_OPEN_END.search(joined[-1]) and _CONTINUATION.match(line)):
            yield " ".join(joined)
            joined = []
        joined.append(line.strip() if joined else line)
    if joined:
        yield " ".join(joined)


def _is_prose(line: str) -> bool:
    """Whether a line may hold sentences: long enough, and not mostly links."""
    if len(line) < 40 or (". " not in line and not line.rstrip("*_ \"”')").endswith(".")):
        return False
    labels = sum(len(match[1]) for match in _LINK.finditer(line))
    visible = len(_LINK.sub(r"\1", line).strip())
    item = _ITEM.match(line) is not None
    return labels < (_MIN_LINK_SHARE / 2 if item else _MIN_LINK_SHARE) * max(1, visible)

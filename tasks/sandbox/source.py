"""The source of an index, an edition or a corpus, and the index built from it.

A corpus is JSONL and WARC files, one or a folder of them, compressed or not, which are streamed. A
JSONL file has one page per line: `url` and `text`, and optionally `title`, `date` (the day of the
page's content), `language` and `final_url`; the names of ClueWeb22 and of `evergreen pages export`
are accepted too.
"""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from tasks.base import Frozen
from tasks.configuration.inversion import InversionSettings
from tasks.configuration.sandbox import SandboxSettings
from tasks.configuration.web import ReadingBounds
from tasks.extraction.urls import normalise_url
from tasks.files.opening import OutsideFile, SpecialFile, open_file
from tasks.sandbox.catalogue import Ban, CopyDetector
from tasks.sandbox.index import BuildResult, IndexBuilder, OnProgress
from tasks.sandbox.lance import MODEL
from tasks.sandbox.page import (
    MAX_TEXT_CHARS,
    OnMessage,
    SandboxError,
    ServedPage,
    clean_title,
    iterate_async,
    parse_day,
)
from tasks.sandbox.snapshot import (
    count_pages,
    read_articles,
    read_assignments,
    read_ban,
    read_pages,
)
from tasks.warehouse.location import LocationLike, parse_location
from tasks.warehouse.rows import content_sha, replace_surrogates

VERSION = "2"
"""Increase it when pages are split or marked differently: other versions' indexes are ignored."""
JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
WARC_SUFFIXES = (".warc", ".warc.gz")
MAX_LINE_BYTES = 64 << 20
FIELD_NAMES = {
    "url": ("url", "URL"),
    "text": ("text", "Clean-Text"),
    "title": ("title", "Title"),
    "date": ("date", "published_on", "fetched_at"),
    "language": ("language", "Language"),
    "final_url": ("final_url",),
}


class PageSource(Frozen):
    """The source of the pages, and the edition whose bans hold for them."""

    edition: str | None = None
    snapshot: Path | None = None
    """The edition's exported snapshot."""
    corpus: Path | None = None
    """JSONL and WARC files; None for the edition's own pages."""

    @property
    def name(self) -> str:
        corpus = corpus_name(self.corpus) if self.corpus else None
        return "+".join(name for name in (self.edition, corpus) if name)

    def read_ban(self) -> Ban | None:
        """Return what the edition's assignments ban; None, which bans nothing, for no edition."""
        return read_ban(self.snapshot) if self.snapshot else None

    def read_assignments(self) -> frozenset[str]:
        """Return the names of the edition's assignments."""
        return read_assignments(self.snapshot) if self.snapshot else frozenset()

    def read_articles(self) -> dict[str, str]:
        return read_articles(self.snapshot) if self.snapshot else {}

    def read_pages(
        self,
        bounds: ReadingBounds,
        on_skipped: Callable[[str], None],
        on_bad_date: Callable[[str], None],
    ) -> AsyncIterator[ServedPage]:
        if self.corpus:
            return read_corpus(self.corpus, bounds, on_skipped, on_bad_date)
        assert self.snapshot is not None
        return iterate_async(read_pages(self.snapshot))

    def count_pages(self) -> int | None:
        """Return about how many pages there are; None if that requires reading all of them."""
        return count_pages(self.snapshot) if self.snapshot and not self.corpus else None


def sandbox_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's indexes: `sandbox/<its name>` next to it."""
    return parse_location(warehouse).subfolder("sandbox")


async def build_index(
    source: PageSource,
    parent: Path,
    settings: SandboxSettings,
    inversion: InversionSettings,
    bounds: ReadingBounds,
    *,
    on_progress: OnProgress = lambda step, n_pages: None,
    on_skipped: Callable[[str], None] = lambda _: None,
    on_bad_date: Callable[[str], None] = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
) -> tuple[Path, BuildResult]:
    """Build or update the index of a source; return its folder in `parent` and the result.

    on_skipped: receives every page that cannot be served. on_bad_date: receives every unreadable
    date. on_wait: called before waiting for another process that builds the same index.

    Raises:
        SandboxError: the pages cannot be read, there are none, or the index cannot be written.
        ConfigurationError: an extra is not installed.
    """
    copies = CopyDetector(
        source.read_articles(), inversion.mirror_ngram_words, inversion.mirror_share
    )
    # All that determines the contents of an index.
    vectors = [MODEL, str(settings.approximate_from)] if settings.ranking != "bm25" else []
    hosts = sorted(inversion.mirror_hosts)
    sha = content_sha(VERSION, str(settings.passage_words), copies.sha, *hosts, *vectors)
    folder = parent / f"{source.name.replace('/', '_')}-{sha[:10]}"
    builder = IndexBuilder(
        folder, settings, copies, inversion.mirror_hosts, on_progress, on_skipped
    )
    result = await builder.build(source.read_pages(bounds, on_skipped, on_bad_date), on_wait)
    if not result.version.n_pages:
        raise SandboxError(_describe_empty(source))
    return folder, result


def _describe_empty(source: PageSource) -> str:
    if source.corpus:
        return (
            f"{source.corpus}: no page can be served. Expected lines with `url` and `text` "
            "(JSONL), or responses with status 200 and texts (WARC); see the messages above."
        )
    return (
        f"{source.edition} has no page that can be served. Fetch the pages that its reports cite "
        f"(`evergreen fetch --edition {source.edition}`), or name other pages with --corpus."
    )


def find_corpus_files(path: Path) -> list[Path]:
    """Return the files of a corpus, sorted by name.

    Raises:
        SandboxError: there are none.
    """
    known = (*JSONL_SUFFIXES, *WARC_SUFFIXES)
    found = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
    files = [file for file in found if file.name.lower().endswith(known) and not file.is_dir()]
    if not files:
        raise SandboxError(
            f"{path} is not a corpus; expected a file, or a folder of files, ending in "
            f"{', '.join(known)}."
        )
    return files


def corpus_name(path: Path) -> str:
    """Return a name for the index of a corpus: the path's last part and a hash of the path."""
    whole = path.resolve()
    stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in whole.name.partition(".")[0])
    return f"{stem[:60] or 'corpus'}-{content_sha(str(whole))[:6]}"


async def read_corpus(
    path: Path,
    bounds: ReadingBounds,
    on_skipped: OnMessage,
    on_bad_date: OnMessage = lambda _: None,
) -> AsyncIterator[ServedPage]:
    """Yield the pages of a corpus, file by file.

    bounds: for reading one page of a WARC file. on_skipped: receives what cannot be served.
    on_bad_date: receives unreadable dates; their pages are served without a date.

    Raises:
        SandboxError: there are no files, or one cannot be read.
    """
    for file in find_corpus_files(path):
        try:
            with open_file(file, within=None if file == path else path) as stream:
                if file.name.lower().endswith(WARC_SUFFIXES):
                    from tasks.sandbox.warc import read_warc  # its readers take a second to load

                    async for page in read_warc(file, stream, bounds, on_skipped, on_bad_date):
                        yield page
                else:
                    for page in _read_jsonl(file, stream, on_skipped, on_bad_date):
                        yield page
        except (OutsideFile, SpecialFile) as error:
            raise SandboxError(f"{file} is not read: {error}. Put the file itself there.") from None
        except (OSError, EOFError, zlib.error) as error:
            raise SandboxError(
                f"{file} cannot be read to its end ({error}). Download it again, or remove it "
                "from the corpus."
            ) from None


def _read_jsonl(
    file: Path, stream: BinaryIO, on_skipped: OnMessage, on_bad_date: OnMessage
) -> Iterator[ServedPage]:
    with gzip.open(stream) if file.suffix.lower() == ".gz" else stream as lines:
        for number, line in enumerate(_read_lines(lines), start=1):
            where = f"{file.name}:{number}"
            record = (
                _parse_line(line) if line is not None else f"longer than {MAX_LINE_BYTES:,} bytes"
            )
            page = _parse_page(record, where, on_bad_date) if isinstance(record, dict) else record
            if isinstance(page, ServedPage):
                yield page
            elif page:
                on_skipped(f"{where}: {page}")


def _read_lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes | None]:
    """Yield lines, and None for each line that is too long, which is not kept in memory."""
    while line := file.readline(MAX_LINE_BYTES):
        if line.endswith(b"\n") or len(line) < MAX_LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)
        yield None


def _parse_line(line: bytes) -> dict[str, Any] | str | None:
    """Return the object in a line, or why it has none; None for an empty line."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON"
    return record if isinstance(record, dict) else "not a JSON object"


def _parse_page(record: dict[str, Any], where: str, on_bad_date: OnMessage) -> ServedPage | str:
    """Return the page that an object describes, or why it is not a page."""
    url, text = _find_text(record, "url"), _find_text(record, "text")
    key = normalise_url(url)
    if key is None:
        return f"`url` is not an http(s) URL: {url[:100]!r}"
    if not text.strip():
        return "`text` is empty"
    final_url = normalise_url(_find_text(record, "final_url"))
    value = _find_date(record)
    day = parse_day(value) if value is not None else None
    if value is not None and day is None:
        on_bad_date(f"{where}: {str(value)[:100]!r}")
    return ServedPage(
        url=key,
        title=clean_title(_find_text(record, "title")),
        text=text[:MAX_TEXT_CHARS],
        language=_find_text(record, "language")[:20] or None,
        final_url=final_url if final_url != key else None,
        published_on=day,
    )


def _find_text(record: dict[str, Any], what: str) -> str:
    values = (record[name] for name in FIELD_NAMES[what] if isinstance(record.get(name), str))
    return replace_surrogates(next(values, ""))


def _find_date(record: dict[str, Any]) -> str | int | None:
    """Return the value of the date field, if there is one."""
    values = (record[name] for name in FIELD_NAMES["date"] if record.get(name) not in (None, ""))
    value = next(values, None)
    if isinstance(value, str):
        return replace_surrogates(value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if value is None or is_integer else f"a {type(value).__name__}"

"""Any other corpus: JSONL and WARC files, one or a folder of them, packed or not.

They are read as they come, never all at once. A JSONL file holds a page a line: `url` and `text`,
and where known `title`, `date` (the day the page is as of), `language` and `final_url`; ClueWeb22's
names and those of `evergreen pages export` are understood too.
"""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Any

from tasks.configuration.web import ReadingBounds
from tasks.extraction.urls import normalise_url
from tasks.sandbox.dates import read_day
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.page import MOST_CHARACTERS, OnMessage, ServedPage, title_of
from tasks.warehouse.rows import content_sha, storable

JSONL = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
WARC = (".warc", ".warc.gz")
MOST_LINE_BYTES = 64 << 20
NAMES = {
    "url": ("url", "URL"),
    "text": ("text", "Clean-Text"),
    "title": ("title", "Title"),
    "date": ("date", "published_on", "fetched_at"),
    "language": ("language", "Language"),
    "final_url": ("final_url",),
}


def corpus_files(path: Path) -> list[Path]:
    """The files of a corpus, by name.

    Raises:
        SandboxError: there are none.
    """
    known = (*JSONL, *WARC)
    found = [path] if path.is_file() else sorted(path.rglob("*")) if path.is_dir() else []
    files = [file for file in found if file.name.lower().endswith(known) and file.is_file()]
    if not files:
        raise SandboxError(
            f"{path}: there is no corpus; expected a file, or a folder of files, ending in "
            f"{', '.join(known)}."
        )
    return files


def corpus_name(path: Path) -> str:
    """A name for the index of a corpus: the path's last part, and what tells it from others."""
    whole = path.resolve()
    stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in whole.name.partition(".")[0])
    return f"{stem[:60] or 'corpus'}-{content_sha(str(whole))[:6]}"


async def corpus_pages(
    path: Path, bounds: ReadingBounds, left_out: OnMessage, no_day: OnMessage = lambda _: None
) -> AsyncIterator[ServedPage]:
    """The pages of a corpus, file by file.

    bounds: of reading one page of a WARC file. left_out: told of what cannot be served. no_day:
    told of dates that cannot be read; their pages are served without.

    Raises:
        SandboxError: there are no files, or one cannot be read.
    """
    for file in corpus_files(path):
        try:
            if file.name.lower().endswith(WARC):
                from tasks.sandbox.warc import warc_pages  # readers of pages take a second to load

                async for page in warc_pages(file, bounds, left_out, no_day):
                    yield page
            else:
                for page in _jsonl_pages(file, left_out, no_day):
                    yield page
        except (OSError, EOFError, zlib.error) as error:
            raise SandboxError(
                f"{file} cannot be read to its end ({error}). Fetch it again, or take it out of "
                "the corpus."
            ) from None


def _jsonl_pages(file: Path, left_out: OnMessage, no_day: OnMessage) -> Iterator[ServedPage]:
    with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as lines:
        for number, line in enumerate(_lines(lines), start=1):
            where = f"{file.name}:{number}"
            said = _record(line) if line is not None else f"longer than {MOST_LINE_BYTES:,} bytes"
            page = _page(said, where, no_day) if isinstance(said, dict) else said
            if isinstance(page, ServedPage):
                yield page
            elif page:
                left_out(f"{where}: {page}")


def _lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes | None]:
    """Lines; None for one that is too long, of which no more is kept than is read at once."""
    while line := file.readline(MOST_LINE_BYTES):
        if line.endswith(b"\n") or len(line) < MOST_LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MOST_LINE_BYTES)
        yield None


def _record(line: bytes) -> dict[str, Any] | str | None:
    """The object of one line, or why there is none; None for an empty line."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON"
    return record if isinstance(record, dict) else "not a JSON object"


def _page(record: dict[str, Any], where: str, no_day: OnMessage) -> ServedPage | str:
    """The page that an object describes, or why it is none."""
    url, text = _text(record, "url"), _text(record, "text")
    key = normalise_url(url)
    if key is None:
        return f"`url` is no http(s) address: {url[:100]!r}"
    if not text.strip():
        return "`text` is empty"
    final_url = normalise_url(_text(record, "final_url"))
    said = _date(record)
    day = read_day(said) if said is not None else None
    if said is not None and day is None:
        no_day(f"{where}: {str(said)[:100]!r}")
    return ServedPage(
        url=key,
        title=title_of(_text(record, "title")),
        text=text[:MOST_CHARACTERS],
        language=_text(record, "language")[:20] or None,
        final_url=final_url if final_url != key else None,
        published_on=day,
    )


def _text(record: dict[str, Any], what: str) -> str:
    values = (record[name] for name in NAMES[what] if isinstance(record.get(name), str))
    return storable(next(values, ""))


def _date(record: dict[str, Any]) -> str | int | None:
    """What stands where the date is expected, if anything does."""
    values = (record[name] for name in NAMES["date"] if record.get(name) not in (None, ""))
    said = next(values, None)
    if isinstance(said, str):
        return storable(said)
    whole = isinstance(said, int) and not isinstance(said, bool)
    return said if said is None or whole else f"a {type(said).__name__}"

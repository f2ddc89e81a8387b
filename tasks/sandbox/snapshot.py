"""Reading an edition from its exported snapshot, which works while a flow holds the warehouse."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from tasks.base import Frozen
from tasks.extraction.bans import InvalidBan, parse_bans
from tasks.sandbox.catalogue import Ban
from tasks.sandbox.page import MAX_TEXT_CHARS, SandboxError, ServedPage, clean_title
from tasks.warehouse.truths import TruthSettings

BATCH_ROWS = 100
"""Rows read at once; a page may have two million characters."""


def read_pages(snapshot: Path) -> Iterator[ServedPage]:
    """Yield the pages of an edition with status `ok` and a text, in the order of the file, without
    those that only agents that are given the articles' sources may read.

    Raises:
        SandboxError: there is no snapshot, or its file of pages cannot be read.
    """
    withheld = read_seeds(snapshot).withheld
    for row in read_rows(
        snapshot / "pages.parquet",
        ("url", "status", "title", "text", "language", "final_url", "published_on", "fetched_at"),
    ):
        if row["status"] == "ok" and row["text"] and row["url"] not in withheld:
            yield ServedPage(
                url=row["url"],
                title=clean_title(row["title"]),
                text=row["text"][:MAX_TEXT_CHARS],
                language=row["language"],
                final_url=row["final_url"],
                published_on=row["published_on"],
                fetched_at=row["fetched_at"],
            )


class SeedUrls(Frozen):
    """The pages of an edition that are given to agents, which so need not search."""

    given: frozenset[str] = frozenset()
    withheld: frozenset[str] = frozenset()
    """Those that no other agent cites, and that others must not get."""


def read_seeds(snapshot: Path) -> SeedUrls:
    """Return the edition's seed pages."""
    seeds = list(_read_later_table(snapshot, "seed_pages", ("agent", "url")))
    given = frozenset(row["url"] for row in seeds)
    agents = {row["agent"] for row in seeds}
    cited = {
        row["url"]
        for row in read_rows(snapshot / "citations.parquet", ("agent", "url"))
        if row["agent"] not in agents
    }
    return SeedUrls(given=given, withheld=given - cited)


def count_pages(snapshot: Path) -> int:
    """Count the rows of the file of pages, whatever their status."""
    with open_file(snapshot / "pages.parquet") as file:
        return int(file.metadata.num_rows)


def read_articles(snapshot: Path) -> dict[str, str]:
    """Return the texts of the edition's articles by name."""
    rows = read_rows(snapshot / "articles.parquet", ("article", "text"))
    return {row["article"]: row["text"] for row in rows}


def read_assignments(snapshot: Path) -> frozenset[str]:
    """Return the names of the edition's assignments."""
    rows = read_rows(snapshot / "assignments.parquet", ("assignment",))
    return frozenset(row["assignment"] for row in rows)


def read_ban(snapshot: Path) -> Ban:
    """Return what any assignment of the edition bans.

    All its articles are banned, also those without an assignment yet: they may get one later. So
    are the documents that people clicked, of which key points are made.

    Raises:
        SandboxError: a file or a ban cannot be read.
    """
    urls = {
        row["article"]: row["url"]
        for row in read_rows(snapshot / "articles.parquet", ("article", "url"))
    }
    banned = {f"article {name!r}": [url] for name, url in urls.items() if url}
    for row in read_rows(snapshot / "ground_truths.parquet", ("assignment", "settings")):
        settings = _parse_settings(snapshot, row["settings"])
        banned[f"assignment {row['assignment']!r}"] = list(settings.banned)
    pages = {row["url"] for row in _read_later_table(snapshot, "clicked_documents", ("url",))}
    hosts: set[str] = set()
    for place, entries in banned.items():
        try:
            named = parse_bans(entries)
        except InvalidBan as error:
            raise SandboxError(f"{snapshot}, {place}: {error}") from None
        pages.update(named.pages)
        hosts.update(named.hosts)
    return Ban(articles=tuple(sorted(urls)), pages=tuple(sorted(pages)), hosts=tuple(sorted(hosts)))


def _parse_settings(snapshot: Path, text: str) -> TruthSettings:
    try:
        return TruthSettings.model_validate_json(text)
    except ValidationError as error:
        raise SandboxError(
            f"{snapshot / 'ground_truths.parquet'}: a question's settings cannot be read "
            f"({error.error_count()} problems). Export the edition again."
        ) from None


def read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table of a snapshot.

    Raises:
        SandboxError: the file is missing or cannot be read, or lacks a column.
    """
    with open_file(path) as file:
        try:
            for batch in file.iter_batches(BATCH_ROWS, columns=list(columns)):
                if missing := set(columns) - set(batch.schema.names):
                    raise _unreadable_error(path, f"it has no column {', '.join(sorted(missing))}")
                yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise _unreadable_error(path, str(error)) from None


def _read_later_table(
    snapshot: Path, table: str, columns: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that earlier snapshots lack."""
    path = snapshot / f"{table}.parquet"
    return read_rows(path, columns) if path.exists() else iter(())


def open_file(path: Path) -> Any:
    """Open a table of a snapshot.

    Raises:
        SandboxError: the file is missing or cannot be read.
    """
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise SandboxError(
            f"{path} does not exist: the edition was not exported. Import or evaluate it first."
        ) from None
    except (OSError, pa.ArrowException) as error:
        raise _unreadable_error(path, str(error)) from None


def _unreadable_error(path: Path, reason: str) -> SandboxError:
    return SandboxError(f"{path} cannot be read ({reason}). Import or evaluate the edition again.")

"""What the sandbox reads of an edition: the files of its exported snapshot, so that a flow that
owns the warehouse is never in the way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from tasks.extraction.banned import UnreadableBan
from tasks.sandbox.bans import Ban, ban_of
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.page import MOST_CHARACTERS, ServedPage, title_of
from tasks.warehouse.truths import TruthSettings

AT_ONCE = 100
"""Pages that are read together; one may hold two million characters."""


def snapshot_pages(snapshot: Path) -> Iterator[ServedPage]:
    """The good pages of an edition, in the order of their addresses.

    Raises:
        SandboxError: there is no snapshot there, or its file of pages cannot be read.
    """
    for row in _rows(
        snapshot / "pages.parquet",
        ("url", "status", "title", "text", "language", "final_url", "published_on", "fetched_at"),
    ):
        if row["status"] == "ok" and row["text"]:
            yield ServedPage(
                url=row["url"],
                title=title_of(row["title"]),
                text=row["text"][:MOST_CHARACTERS],
                language=row["language"],
                final_url=row["final_url"],
                published_on=row["published_on"],
                fetched_at=row["fetched_at"],
            )


def count_pages(snapshot: Path) -> int:
    """The rows of the file of pages, good or not."""
    with _file(snapshot / "pages.parquet") as file:
        return int(file.metadata.num_rows)


def snapshot_articles(snapshot: Path) -> dict[str, str]:
    """The text of each of the edition's articles, by name."""
    rows = _rows(snapshot / "articles.parquet", ("article", "text"))
    return {row["article"]: row["text"] for row in rows}


def snapshot_bans(snapshot: Path) -> dict[str, Ban]:
    """What each assignment of the edition must not use.

    Raises:
        SandboxError: a file cannot be read, or what an assignment bans.
    """
    truths = {
        row["assignment"]: _settings(snapshot, row["settings"])
        for row in _rows(snapshot / "ground_truths.parquet", ("assignment", "settings"))
    }
    urls = {
        row["article"]: row["url"]
        for row in _rows(snapshot / "articles.parquet", ("article", "url"))
    }
    bans = {}
    for row in _rows(snapshot / "assignments.parquet", ("assignment", "article")):
        name, article = row["assignment"], row["article"]
        own = [urls[article]] if urls.get(article) else []
        try:
            bans[name] = ban_of(article, [*own, *truths.get(name, TruthSettings()).banned])
        except UnreadableBan as error:
            raise SandboxError(f"{snapshot}, assignment {name!r}: {error}") from None
    return bans


def _settings(snapshot: Path, text: str) -> TruthSettings:
    try:
        return TruthSettings.model_validate_json(text)
    except ValidationError as error:
        raise SandboxError(
            f"{snapshot / 'ground_truths.parquet'}: what a question bans cannot be read "
            f"({error.error_count()} problems). Export the edition again."
        ) from None


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    with _file(path) as file:
        try:
            for batch in file.iter_batches(AT_ONCE, columns=list(columns)):
                if missing := set(columns) - set(batch.schema.names):
                    raise _unreadable(path, f"it has no column {', '.join(sorted(missing))}")
                yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(path, str(error)) from None


def _file(path: Path) -> Any:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise SandboxError(
            f"{path} is not there: the edition has not been exported. Import or evaluate it first."
        ) from None
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, str(error)) from None


def _unreadable(path: Path, said: str) -> SandboxError:
    return SandboxError(f"{path} cannot be read ({said}). Import or evaluate the edition again.")

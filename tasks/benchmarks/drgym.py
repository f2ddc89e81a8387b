"""DeepResearchGym and Researchy Questions as they are published, from a user's own copy.

- a folder with `queries.jsonl` (id, query) and `key_points.jsonl` (id, question, key_points), or
  either file alone;
- the folder `key_point` of the published repository, or the repository itself: a file a query,
  `<id>_aggregated.json` (else `<id>_deduplicated.json`, else `<id>.json`), with question and
  key_points;
- a file of Researchy Questions, Parquet or JSON lines (id, question, DocStream: the documents that
  people clicked). Of these the queries with the most clicked documents are taken, as published.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, StrictInt
from pydantic import StringConstraints as Constrained

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedQuery
from tasks.benchmarks.rows import checked, read_rows, read_value
from tasks.warehouse.rows import storable

LAYOUT = "drgym"
TOP = 1_000
"""Queries taken of Researchy Questions, as in the paper."""
POINTS_FILE, QUERIES_FILE, POINTS_FOLDER = "key_points.jsonl", "queries.jsonl", "key_point"
COLUMNS = ("id", "question (or query)", "key_points or DocStream")
MOST_POINTS = 5_000
"""Of one query; published: 130."""
MOST_CHARS = 20_000
"""Of a query or a point."""
_POINTS_OF = re.compile(r"(?P<id>.+?)(?P<kind>_aggregated|_deduplicated|)\.json")
_KINDS = ("_aggregated", "_deduplicated", "")
"""Of the published files, the last step of merging first."""


def _text(value: object) -> object:
    """Ids are numbers in some copies."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return storable(value) if isinstance(value, str) else value


Id = Annotated[
    str,
    BeforeValidator(_text),
    Constrained(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"),
]
"""It names the assignment and the files of its reports."""
Text = Annotated[
    str,
    BeforeValidator(_text),
    Constrained(strict=True, pattern=r"\S", max_length=MOST_CHARS, strip_whitespace=True),
]


class _Read(Frozen):
    """A part of a row; keys that are not known here are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Point(_Read):
    point_content: Text
    original_point_number: tuple[StrictInt, ...] = ()


class _Row(_Read):
    id: Id
    query: Text | None = Field(None, validation_alias=AliasChoices("query", "question"))
    key_points: Annotated[tuple[_Point, ...], Field(max_length=MOST_POINTS)] | None = None
    clicked: tuple[Any, ...] | None = Field(None, validation_alias="DocStream")
    """The documents that people clicked."""


class PublishedQueries(Frozen):
    """What a copy holds."""

    queries: tuple[PublishedQuery, ...]
    """By key."""
    known: int
    """Queries in the copy; more than are taken where `top` says so."""


def read_drgym(path: Path, top: int | None = None) -> PublishedQueries:
    """The queries of a published copy.

    top: how many, by clicked documents, ties by id; None: all, of Researchy Questions TOP.

    Raises:
        EditionError: none of these layouts, a row that cannot be read, or `top` where no clicked
            documents are known; names the file and the row.
    """
    rows = _joined(path)
    unread = [key for key, row in rows.items() if row.query is None]
    if unread:
        raise EditionError(f"{path}: id {unread[0]!r} has no `query` or `question`.")
    known = len(rows)
    clicked = [row for row in rows.values() if row.clicked is not None]
    if clicked:
        ranked = sorted(rows.values(), key=lambda row: (-len(row.clicked or ()), row.id))
        rows = {row.id: row for row in ranked[: TOP if top is None else top]}
    elif top is not None:
        raise EditionError(
            f"{path} does not say which documents people clicked (DocStream), so --top has nothing "
            "to go by. Leave --top out: all its queries are taken; or name a file of Researchy "
            "Questions."
        )
    return PublishedQueries(queries=tuple(_query(rows[key]) for key in sorted(rows)), known=known)


def _query(row: _Row) -> PublishedQuery:
    points = row.key_points
    return PublishedQuery(
        key=row.id,
        query=row.query or "",
        points=None
        if points is None
        else tuple((point.point_content, point.original_point_number) for point in points),
    )


def _joined(path: Path) -> dict[str, _Row]:
    """The rows of all files of a copy, by id; the words of a query are those of the first file."""
    found: dict[str, _Row] = {}
    for rows in _files(path):
        for key, row in rows.items():
            before = found.get(key)
            if before is None:
                found[key] = row
            elif row.key_points is not None:
                found[key] = before.model_copy(update={"key_points": row.key_points})
    if not found:
        raise EditionError(f"{path} holds no queries.")
    return found


def _files(path: Path) -> Iterator[dict[str, _Row]]:
    if not path.exists():
        raise EditionError(f"{path}: there is no such file or folder. Name your copy.")
    if path.is_file():
        yield _rows(path)
        return
    parts = [path / name for name in (QUERIES_FILE, POINTS_FILE) if (path / name).is_file()]
    if parts:
        yield from map(_rows, parts)
        return
    folder = path / POINTS_FOLDER if (path / POINTS_FOLDER).is_dir() else path
    files = _merged_files(folder)
    if not files:
        raise EditionError(
            f"{path}: expected {QUERIES_FILE} and {POINTS_FILE}, files such as "
            f"{POINTS_FOLDER}/<id>_aggregated.json, or a file of Researchy Questions (Parquet or "
            "JSON lines with id, question, DocStream)."
        )
    yield {key: checked(file, {**_object(file), "id": key}, _Row) for key, file in files.items()}


def _merged_files(folder: Path) -> dict[str, Path]:
    """The file of each query's key points that was merged most."""
    found: dict[str, tuple[int, Path]] = {}
    for file in sorted(folder.glob("*.json")):
        named = _POINTS_OF.fullmatch(file.name)
        if named is None or not file.is_file():
            continue
        if not file.resolve().is_relative_to(folder.resolve()):
            raise EditionError(f"{file} leads out of its folder. Put a copy of the file there.")
        place = (_KINDS.index(named["kind"]), file)
        found[named["id"]] = min(found.get(named["id"], place), place)
    return {key: file for key, (_, file) in sorted(found.items())}


def _object(file: Path) -> Mapping[str, Any]:
    value = read_value(file)
    if not isinstance(value, dict) or "key_points" not in value:
        raise EditionError(f"{file}: expected an object with `question` and `key_points`.")
    return value


def _rows(file: Path) -> dict[str, _Row]:
    listed = read_rows(file, COLUMNS)
    rows = [
        checked(f"{file}: row {number}", row, _Row) for number, row in enumerate(listed, start=1)
    ]
    twice = [key for key, n in Counter(row.id for row in rows).items() if n > 1]
    if twice:
        raise EditionError(f"{file}: id {twice[0]!r} stands there twice. Remove one.")
    return {row.id: row for row in rows}

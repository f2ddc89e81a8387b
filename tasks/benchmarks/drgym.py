"""Reader of DeepResearchGym and Researchy Questions. The user's copy is one of these:

- a folder with `queries.jsonl` (id, query) and `key_points.jsonl` (id, question, key_points), or
  either file alone;
- the folder `key_point` of the published repository, or the repository itself, with one file per
  query, `<id>_aggregated.json` (else `<id>_deduplicated.json`, else `<id>.json`), with question and
  key_points;
- a file of Researchy Questions, Parquet or JSON lines (id, question, DocStream: the documents that
  people clicked, each with Url and Click_Cnt; `url`, `URL`, `clicks` and `click_cnt` will do).
  As published, the queries with the most clicked documents are used.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
    ValidationError,
)

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedDocument, PublishedQuery, PublishedSet
from tasks.benchmarks.rows import (
    PublishedRow,
    TrimmedText,
    index_rows,
    read_rows,
    read_value,
    validate_row,
)
from tasks.extraction.urls import normalise_url
from tasks.files.opening import list_files

SET = PublishedSet(layout="drgym", title="DeepResearchGym")
TOP = 1_000
"""The number of queries used from Researchy Questions, as in the paper."""
POINTS_FILE, QUERIES_FILE, POINTS_FOLDER = "key_points.jsonl", "queries.jsonl", "key_point"
MOST_POINTS = 5_000
"""The most key points of a query; published: 130."""
_POINTS_FILE_NAME = re.compile(r"(?P<id>.+?)(?P<kind>_aggregated|_deduplicated|)\.json")
_KINDS = ("_aggregated", "_deduplicated", "")
"""The kinds of published files, most merged first."""

_FROM_NUMBER = BeforeValidator(lambda value: str(value) if type(value) is int else value)
"""Makes a number a text: some copies have numeric ids, queries or key points."""
Id = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"), _FROM_NUMBER
]
"""The assignment's id, also used as file name of its reports."""
_Text = Annotated[TrimmedText, _FROM_NUMBER]


class _DrgymPoint(PublishedRow):
    point_content: _Text
    original_point_number: tuple[StrictInt, ...] = ()


class _DrgymRow(PublishedRow):
    id: Id
    query: _Text | None = Field(None, validation_alias=AliasChoices("query", "question"))
    key_points: Annotated[tuple[_DrgymPoint, ...], Field(max_length=MOST_POINTS)] | None = None
    clicked: tuple[Any, ...] | None = Field(None, validation_alias="DocStream")
    """The documents that people clicked."""


class _DrgymDocument(Frozen):
    """An entry of DocStream; its other fields are not used."""

    model_config = ConfigDict(extra="ignore")

    url: str = Field(validation_alias=AliasChoices("Url", "url", "URL"))
    clicks: int | None = Field(
        None, ge=0, validation_alias=AliasChoices("Click_Cnt", "click_cnt", "Clicks", "clicks")
    )


class PublishedQueries(Frozen):
    """The queries of a copy."""

    queries: tuple[PublishedQuery, ...]
    """The queries used, sorted by key."""
    n_available: int
    """The number of queries in the copy."""


def read_drgym(path: Path, top: int | None = None) -> PublishedQueries:
    """Read the queries of a published copy.

    top: use this many, by clicked documents, ties by id. None: all, or TOP of Researchy Questions.

    Raises:
        EditionError: another format, an invalid row, or `top` without clicked documents; names the
            file and the row.
    """
    rows = _merge_files(path)
    unread = [key for key, row in rows.items() if row.query is None]
    if unread:
        raise EditionError(f"{path}: id {unread[0]!r} has no `query` or `question`.")
    n_available = len(rows)
    clicked = [row for row in rows.values() if row.clicked is not None]
    if clicked:
        ranked = sorted(rows.values(), key=lambda row: (-len(row.clicked or ()), row.id))
        rows = {row.id: row for row in ranked[: TOP if top is None else top]}
    elif top is not None:
        raise EditionError(
            f"{path} has no clicked documents (DocStream) to rank by, so --top cannot be used. "
            "Leave out --top to use all queries, or name a file of Researchy Questions."
        )
    queries = tuple(_make_query(rows[key]) for key in sorted(rows))
    return PublishedQueries(queries=queries, n_available=n_available)


def read_clicked_documents(path: Path) -> dict[str, tuple[PublishedDocument, ...]]:
    """Read the clicked documents of each query from a file of Researchy Questions.

    Raises:
        EditionError: another format, or a file without clicked documents.
    """
    found = {
        key: _list_documents(row.clicked)
        for key, row in _read_rows(path).items()
        if row.clicked is not None
    }
    if not any(found.values()):
        raise EditionError(
            f"{path}: no query has clicked documents. Expected a file of Researchy Questions: "
            "Parquet or JSON lines with id, question and DocStream, a list of objects with Url."
        )
    return found


def _list_documents(entries: Sequence[Any]) -> tuple[PublishedDocument, ...]:
    """Return the entries that name an http(s) address, without those that name none."""
    found = []
    for entry in entries:
        try:
            document = _DrgymDocument.model_validate(entry)
        except ValidationError:
            continue
        if normalise_url(document.url):
            found.append(PublishedDocument(url=document.url, clicks=document.clicks))
    return tuple(found)


def _make_query(row: _DrgymRow) -> PublishedQuery:
    points = row.key_points
    return PublishedQuery(
        key=row.id,
        query=row.query or "",
        documents=_list_documents(row.clicked or ()),
        points=None
        if points is None
        else tuple((point.point_content, point.original_point_number) for point in points),
    )


def _merge_files(path: Path) -> dict[str, _DrgymRow]:
    """Merge the rows of all files by id; a query's text is that of the first file."""
    found: dict[str, _DrgymRow] = {}
    for rows in _read_files(path):
        for key, row in rows.items():
            before = found.get(key)
            if before is None:
                found[key] = row
            elif row.key_points is not None:
                found[key] = before.model_copy(update={"key_points": row.key_points})
    if not found:
        raise EditionError(f"{path} has no queries.")
    return found


def _read_files(path: Path) -> Iterator[dict[str, _DrgymRow]]:
    if not path.exists():
        raise EditionError(f"{path}: there is no such file or folder. Name your copy.")
    if not path.is_dir():
        yield _read_rows(path)
        return
    parts = [path / name for name in (QUERIES_FILE, POINTS_FILE) if (path / name).exists()]
    if parts:
        yield from (_read_rows(part, path) for part in parts)
        return
    folder = path / POINTS_FOLDER if (path / POINTS_FOLDER).is_dir() else path
    files = _find_point_files(folder)
    if not files:
        raise EditionError(
            f"{path}: expected {QUERIES_FILE} and {POINTS_FILE}, files such as "
            f"{POINTS_FOLDER}/<id>_aggregated.json, or a file of Researchy Questions (Parquet or "
            "JSON lines with id, question, DocStream)."
        )
    rows = {}
    for key, file in files.items():
        value = read_value(file, within=path)
        if not isinstance(value, dict) or "key_points" not in value:
            raise EditionError(f"{file}: expected an object with `question` and `key_points`.")
        rows[key] = validate_row(file, {**value, "id": key}, _DrgymRow)
    yield rows


def _find_point_files(folder: Path) -> dict[str, Path]:
    """Find the most merged file of each query's key points."""
    found: dict[str, tuple[int, Path]] = {}
    for file in list_files(folder):
        named = _POINTS_FILE_NAME.fullmatch(file.name)
        if named is None:
            continue
        place = (_KINDS.index(named["kind"]), file)
        found[named["id"]] = min(found.get(named["id"], place), place)
    return {key: file for key, (_, file) in sorted(found.items())}


def _read_rows(file: Path, within: Path | None = None) -> dict[str, _DrgymRow]:
    rows = read_rows(file, _DrgymRow, within=within)
    return index_rows(file, rows, "id") if rows else {}

"""DeepResearch Bench II as it is published: a task a line, with its rubric.

A user's own copy of `tasks_and_rubrics.jsonl` (JSON lines, JSON or Parquet). A task's key is
`idx-N`, as its reports are named; an item's id is its dimension with its place there, such as
`info_recall-12`, so that two items of the same text stay two.
"""

from pathlib import Path
from typing import Annotated

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
)

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery
from tasks.benchmarks.rows import checked, read_rows
from tasks.warehouse.rows import storable
from tasks.warehouse.rubrics import Blocked, BundleSettings

LAYOUT = "drb2"
PROTOCOL = "rubric_bench"
COLUMNS = ("idx", "language", "theme", "prompt", "content")
ALLOWED = ("1", "0", "-1")
MOST_ITEMS = 5_000
"""Of one dimension; published: 158."""
MOST_CHARS = 20_000
"""Of one item, title, name or address; published: 603."""


def _stored(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MOST_CHARS, pattern=r"\S"),
    BeforeValidator(_stored),
]
LongText = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=10 * MOST_CHARS, pattern=r"\S"),
    BeforeValidator(_stored),
]
Items = Annotated[tuple[Text, ...], Field(max_length=MOST_ITEMS)]


class _Read(Frozen):
    """A part of a row; keys that are not known here (`license`, `id`) are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Rubric(_Read):
    model_config = ConfigDict(frozen=True, extra="forbid")

    info_recall: Items
    analysis: Items
    presentation: Items


class _Blocked(_Read):
    title: Annotated[
        str, StringConstraints(strict=True, max_length=MOST_CHARS), BeforeValidator(_stored)
    ] = ""
    authors: Items = ()
    urls: Items = ()


class _Content(_Read):
    task: LongText
    rubric: _Rubric
    blocked: _Blocked


class _Row(_Read):
    idx: Annotated[StrictInt, Field(ge=0, le=999_999)]
    language: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]{2,3}$")]
    theme: Text
    prompt: LongText
    content: _Content


def read_drb2(path: Path) -> list[PublishedQuery]:
    """Every task of a published file, by number.

    Raises:
        EditionError: no such file, not in this format, or a row that cannot be read; names the
            file, the row and the field.
    """
    found: dict[int, tuple[int, PublishedQuery]] = {}
    for number, row in enumerate(read_rows(path, COLUMNS), start=1):
        read = checked(f"{path}: row {number}", row, _Row)
        if read.idx in found:
            raise EditionError(
                f"{path}: row {number}: `idx` {read.idx} stands in row {found[read.idx][0]} "
                "already. Remove one."
            )
        found[read.idx] = number, _query(path, number, read)
    if not found:
        raise EditionError(f"{path} holds no rows; expected a task each ({', '.join(COLUMNS)}).")
    return [query for _, (_, query) in sorted(found.items())]


def _query(path: Path, number: int, row: _Row) -> PublishedQuery:
    items = tuple(
        PublishedItem(
            item=f"{dimension}-{place}", dimension=dimension, text=text, allowed=ALLOWED, points=1
        )
        for dimension in _Rubric.model_fields
        for place, text in enumerate(getattr(row.content.rubric, dimension), start=1)
    )
    if not items:
        raise EditionError(f"{path}: row {number}: `content.rubric` holds no items.")
    blocked = Blocked.model_validate(row.content.blocked.model_dump())
    return PublishedQuery(
        key=f"idx-{row.idx}",
        query=row.content.task,
        asked=row.prompt,
        items=items,
        settings=BundleSettings(
            language=row.language,
            theme=row.theme,
            blocked=None if blocked == Blocked() else blocked,
        ),
    )

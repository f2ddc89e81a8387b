"""Reader of DeepResearch Bench II: one task per line, with its rubric.

It reads the user's copy of `tasks_and_rubrics.jsonl` (JSON lines, JSON or Parquet). A task's key is
`idx-N`, like its reports' names. An item's id is its dimension and place, such as `info_recall-12`,
so that items with equal texts stay distinct.
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
from tasks.benchmarks.rows import read_rows, validate_row
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.rubrics import BlockedSource, BundleSettings

LAYOUT = "drb2"
PROTOCOL = "rubric_bench"
COLUMNS = ("idx", "language", "theme", "prompt", "content")
ALLOWED_SCORES = ("1", "0", "-1")
MOST_ITEMS = 5_000
"""The most items of one dimension; published: 158."""
MOST_CHARS = 20_000
"""The most characters of an item, title, name or URL; published: 603."""


def _to_storable(value: object) -> object:
    return replace_surrogates(value) if isinstance(value, str) else value


Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MOST_CHARS, pattern=r"\S"),
    BeforeValidator(_to_storable),
]
LongText = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=10 * MOST_CHARS, pattern=r"\S"),
    BeforeValidator(_to_storable),
]
Items = Annotated[tuple[Text, ...], Field(max_length=MOST_ITEMS)]


class _Drb2Part(Frozen):
    """A part of a row; unknown keys (`license`, `id`) are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Drb2Rubric(_Drb2Part):
    model_config = ConfigDict(frozen=True, extra="forbid")

    info_recall: Items
    analysis: Items
    presentation: Items


class _Drb2Blocked(_Drb2Part):
    title: Annotated[
        str, StringConstraints(strict=True, max_length=MOST_CHARS), BeforeValidator(_to_storable)
    ] = ""
    authors: Items = ()
    urls: Items = ()


class _Drb2Content(_Drb2Part):
    task: LongText
    rubric: _Drb2Rubric
    blocked: _Drb2Blocked


class _Drb2Row(_Drb2Part):
    idx: Annotated[StrictInt, Field(ge=0, le=999_999)]
    language: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]{2,3}$")]
    theme: Text
    prompt: LongText
    content: _Drb2Content


def read_drb2(path: Path) -> list[PublishedQuery]:
    """Read all tasks of a published file, by number.

    Raises:
        EditionError: no such file, another format, or an invalid row; names the file, the row and
            the field.
    """
    found: dict[int, tuple[int, PublishedQuery]] = {}
    for number, row in enumerate(read_rows(path, COLUMNS), start=1):
        read = validate_row(f"{path}: row {number}", row, _Drb2Row)
        if read.idx in found:
            raise EditionError(
                f"{path}: row {number}: `idx` {read.idx} is already in row {found[read.idx][0]}. "
                "Remove one."
            )
        found[read.idx] = number, _make_query(path, number, read)
    if not found:
        raise EditionError(f"{path} has no rows; expected a task per row ({', '.join(COLUMNS)}).")
    return [query for _, (_, query) in sorted(found.items())]


def _make_query(path: Path, number: int, row: _Drb2Row) -> PublishedQuery:
    items = tuple(
        PublishedItem(
            item=f"{dimension}-{place}",
            dimension=dimension,
            text=text,
            allowed=ALLOWED_SCORES,
            points=1,
        )
        for dimension in _Drb2Rubric.model_fields
        for place, text in enumerate(getattr(row.content.rubric, dimension), start=1)
    )
    if not items:
        raise EditionError(f"{path}: row {number}: `content.rubric` has no items.")
    blocked = BlockedSource.model_validate(row.content.blocked.model_dump())
    return PublishedQuery(
        key=f"idx-{row.idx}",
        query=row.content.task,
        agent_query=row.prompt,
        items=items,
        settings=BundleSettings(
            language=row.language,
            theme=row.theme,
            blocked=None if blocked == BlockedSource() else blocked,
        ),
    )

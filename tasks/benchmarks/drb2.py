"""Reader of DeepResearch Bench II: one task per line, with its rubric.

It reads the user's copy of `tasks_and_rubrics.jsonl` (JSON lines, JSON or Parquet). A task's key is
`idx-N`, like its reports' names. An item's id is its dimension and place, such as `info_recall-12`,
so that items with equal texts stay distinct.
"""

from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.benchmarks.rows import (
    MAX_TEXT_CHARS,
    STORABLE,
    LanguageCode,
    PublishedRow,
    PublishedText,
    TaskNumber,
    index_rows,
    read_rows,
)
from tasks.warehouse.rubrics import BlockedSource, BundleSettings

PROTOCOL = "rubric_bench"
SET = PublishedSet(layout="drb2", title="DeepResearch Bench II", protocol=PROTOCOL)
ALLOWED_SCORES = ("1", "0", "-1")
MOST_ITEMS = 5_000
"""The most items of one dimension; published: 158."""

LongText = Annotated[
    str, StringConstraints(strict=True, max_length=10 * MAX_TEXT_CHARS, pattern=r"\S"), STORABLE
]
Items = Annotated[tuple[PublishedText, ...], Field(max_length=MOST_ITEMS)]


class _Drb2Rubric(PublishedRow):
    model_config = ConfigDict(frozen=True, extra="forbid")

    info_recall: Items
    analysis: Items
    presentation: Items


class _Drb2Blocked(PublishedRow):
    title: Annotated[str, StringConstraints(strict=True, max_length=MAX_TEXT_CHARS), STORABLE] = ""
    authors: Items = ()
    urls: Items = ()


class _Drb2Content(PublishedRow):
    task: LongText
    rubric: _Drb2Rubric
    blocked: _Drb2Blocked


class _Drb2Row(PublishedRow):
    idx: TaskNumber
    language: LanguageCode
    theme: PublishedText
    prompt: LongText
    content: _Drb2Content


def read_drb2(path: Path) -> list[PublishedQuery]:
    """Read all tasks of a published file, by number.

    Raises:
        EditionError: no such file, another format, or an invalid row; names the file, the row and
            the field.
    """
    rows = index_rows(path, read_rows(path, _Drb2Row), "idx")
    return [_make_query(path, row) for row in rows.values()]


def _make_query(path: Path, row: _Drb2Row) -> PublishedQuery:
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
        raise EditionError(f"{path}: idx {row.idx}: `content.rubric` has no items.")
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

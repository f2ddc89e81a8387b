"""DeepResearch Bench as it is published: tasks, criteria with weights, and reference reports.

A user's own clone of the repository, its folder `data`, or a folder that holds the three files.
They belong together by their prompts, as in the published code. A task's key is `task-N`; a
criterion's id is its dimension with its place there, such as `insight-3`.
"""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery
from tasks.benchmarks.rows import checked, read_rows
from tasks.warehouse.rows import storable
from tasks.warehouse.rubrics import BundleSettings

LAYOUT = "deepresearch_bench"
PROTOCOL = "race"
QUERIES = ("prompt_data/query.jsonl", "query.jsonl")
CRITERIA = ("criteria_data/criteria.jsonl", "criteria.jsonl")
REFERENCES = ("test_data/cleaned_data/reference.jsonl", "reference.jsonl")
DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
SCORES = tuple(str(score) for score in range(11))
"""What a criterion's scores lie between; halves are allowed too."""
MOST_CRITERIA = 200
"""Of one dimension; published: about ten."""
MOST_CHARS = 20_000
"""Of a prompt, criterion or explanation."""
MOST_REPORT_CHARS = 2_000_000


def _stored(value: object) -> object:
    return storable(value).strip() if isinstance(value, str) else value


Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MOST_CHARS),
    BeforeValidator(_stored),
]
Weight = Annotated[float, Field(strict=True, ge=0, le=1_000_000, allow_inf_nan=False)]
Number = Annotated[int, Field(strict=True, ge=0, le=999_999)]


class _Read(Frozen):
    """A part of a row; keys that are not known here (`comment`) are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Task(_Read):
    id: Number
    language: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]{2,3}$")] | None = None
    topic: Text | None = None
    prompt: Text


class _Criterion(_Read):
    criterion: Text
    explanation: Text | None = None
    weight: Weight


Criteria = Annotated[tuple[_Criterion, ...], Field(min_length=1, max_length=MOST_CRITERIA)]


class _Dimensions(_Read):
    comprehensiveness: Criteria
    insight: Criteria
    instruction_following: Criteria
    readability: Criteria


class _Weights(_Read):
    comprehensiveness: Weight
    insight: Weight
    instruction_following: Weight
    readability: Weight


class _Measure(_Read):
    prompt: Text
    dimension_weight: _Weights
    criterions: _Dimensions


class _Reference(_Read):
    prompt: Text
    article: Annotated[
        str,
        StringConstraints(strict=True, min_length=1, max_length=MOST_REPORT_CHARS, pattern=r"\S"),
        BeforeValidator(_stored),
    ]


RowT = TypeVar("RowT", _Task, _Measure, _Reference)


def read_deepresearch_bench(folder: Path) -> list[PublishedQuery]:
    """Every task of a copy, by number; some may have no criteria or no reference in it.

    Raises:
        EditionError: a file is missing, or a row cannot be read; names the file, row and field.
    """
    tasks = _rows(_file(folder, QUERIES), _Task)
    measures = {row.prompt: row for row in _rows(_file(folder, CRITERIA), _Measure)}
    references = {row.prompt: row.article for row in _rows(_file(folder, REFERENCES), _Reference)}
    by_number: dict[int, _Task] = {}
    for task in tasks:
        if task.id in by_number:
            raise EditionError(f"{_file(folder, QUERIES)}: two tasks have the id {task.id}.")
        by_number[task.id] = task
    return [
        _query(task, measures.get(task.prompt), references.get(task.prompt))
        for _, task in sorted(by_number.items())
    ]


def _file(folder: Path, places: tuple[str, ...]) -> Path:
    found = [path for root in (folder / "data", folder) for place in places
             if (path := root / place).is_file()]  # fmt: skip
    if not found:
        raise EditionError(
            f"{folder} holds no {places[0]}. Name your clone of the repository, or a folder with "
            "query.jsonl, criteria.jsonl and reference.jsonl."
        )
    return found[0]


def _rows(path: Path, model: type[RowT]) -> list[RowT]:
    rows = read_rows(path, tuple(model.model_fields))
    return [checked(f"{path}: row {n}", row, model) for n, row in enumerate(rows, start=1)]


def _query(task: _Task, measure: _Measure | None, reference: str | None) -> PublishedQuery:
    weights = measure.dimension_weight.model_dump() if measure else {}
    return PublishedQuery(
        key=f"task-{task.id}",
        query=task.prompt,
        items=tuple(_items(measure)) if measure else (),
        settings=BundleSettings(
            language=task.language, theme=task.topic, dimension_weights=weights
        ),
        reference=reference,
    )


def _items(measure: _Measure) -> list[PublishedItem]:
    return [
        PublishedItem(
            item=f"{dimension}-{place}",
            dimension=dimension,
            text=criterion.criterion,
            allowed=SCORES,
            points=10,
            weight=criterion.weight,
            explanation=criterion.explanation,
        )
        for dimension in DIMENSIONS
        for place, criterion in enumerate(getattr(measure.criterions, dimension), start=1)
    ]

"""Reader of DeepResearch Bench: tasks, weighted criteria, and reference reports.

It reads the user's clone of the repository, its folder `data`, or a folder with the three files.
Their rows are joined by prompt, as in the published code. A task's key is `task-N`; a criterion's
id is its dimension and place, such as `insight-3`.
"""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery
from tasks.benchmarks.rows import read_rows, validate_row
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.rubrics import BundleSettings

LAYOUT = "deepresearch_bench"
PROTOCOL = "race"
QUERIES = ("prompt_data/query.jsonl", "query.jsonl")
CRITERIA = ("criteria_data/criteria.jsonl", "criteria.jsonl")
REFERENCES = ("test_data/cleaned_data/reference.jsonl", "reference.jsonl")
DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
SCORES = tuple(str(score) for score in range(11))
"""The scores of a criterion; halves are allowed too."""
MOST_CRITERIA = 200
"""The most criteria of one dimension; published: about ten."""
MOST_CHARS = 20_000
"""The most characters of a prompt, criterion or explanation."""
MOST_REPORT_CHARS = 2_000_000


def _to_storable(value: object) -> object:
    return replace_surrogates(value).strip() if isinstance(value, str) else value


Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MOST_CHARS),
    BeforeValidator(_to_storable),
]
Weight = Annotated[float, Field(strict=True, ge=0, le=1_000_000, allow_inf_nan=False)]
Number = Annotated[int, Field(strict=True, ge=0, le=999_999)]


class _RacePart(Frozen):
    """A part of a row; unknown keys (`comment`) are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _RaceTask(_RacePart):
    id: Number
    language: Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]{2,3}$")] | None = None
    topic: Text | None = None
    prompt: Text


class _RaceCriterion(_RacePart):
    criterion: Text
    explanation: Text | None = None
    weight: Weight


Criteria = Annotated[tuple[_RaceCriterion, ...], Field(min_length=1, max_length=MOST_CRITERIA)]


class _RaceDimensions(_RacePart):
    comprehensiveness: Criteria
    insight: Criteria
    instruction_following: Criteria
    readability: Criteria


class _RaceWeights(_RacePart):
    comprehensiveness: Weight
    insight: Weight
    instruction_following: Weight
    readability: Weight


class _RaceCriteria(_RacePart):
    prompt: Text
    dimension_weight: _RaceWeights
    criterions: _RaceDimensions


class _RaceReference(_RacePart):
    prompt: Text
    article: Annotated[
        str,
        StringConstraints(strict=True, min_length=1, max_length=MOST_REPORT_CHARS, pattern=r"\S"),
        BeforeValidator(_to_storable),
    ]


RowT = TypeVar("RowT", _RaceTask, _RaceCriteria, _RaceReference)


def read_deepresearch_bench(folder: Path) -> list[PublishedQuery]:
    """Read all tasks, by number; some may have no criteria or no reference.

    Raises:
        EditionError: a file is missing or a row is invalid; names the file, row and field.
    """
    tasks = _read_rows(_find_file(folder, QUERIES), _RaceTask)
    measures = {row.prompt: row for row in _read_rows(_find_file(folder, CRITERIA), _RaceCriteria)}
    references = {
        row.prompt: row.article
        for row in _read_rows(_find_file(folder, REFERENCES), _RaceReference)
    }
    by_number: dict[int, _RaceTask] = {}
    for task in tasks:
        if task.id in by_number:
            raise EditionError(f"{_find_file(folder, QUERIES)}: two tasks have the id {task.id}.")
        by_number[task.id] = task
    return [
        _make_query(task, measures.get(task.prompt), references.get(task.prompt))
        for _, task in sorted(by_number.items())
    ]


def _find_file(folder: Path, places: tuple[str, ...]) -> Path:
    found = [path for root in (folder / "data", folder) for place in places
             if (path := root / place).is_file()]  # fmt: skip
    if not found:
        raise EditionError(
            f"{folder} has no {places[0]}. Name your clone of the repository, or a folder with "
            "query.jsonl, criteria.jsonl and reference.jsonl."
        )
    return found[0]


def _read_rows(path: Path, model: type[RowT]) -> list[RowT]:
    rows = read_rows(path, tuple(model.model_fields))
    return [validate_row(f"{path}: row {n}", row, model) for n, row in enumerate(rows, start=1)]


def _make_query(
    task: _RaceTask, measure: _RaceCriteria | None, reference: str | None
) -> PublishedQuery:
    weights = measure.dimension_weight.model_dump() if measure else {}
    return PublishedQuery(
        key=f"task-{task.id}",
        query=task.prompt,
        items=tuple(_make_items(measure)) if measure else (),
        settings=BundleSettings(
            language=task.language, theme=task.topic, dimension_weights=weights
        ),
        reference=reference,
    )


def _make_items(measure: _RaceCriteria) -> list[PublishedItem]:
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

"""Reader of DeepResearch Bench: tasks, weighted criteria, and reference reports.

It reads the user's clone of the repository, its folder `data`, or a folder with the three files.
Their rows are joined by prompt, as in the published code. A task's key is `task-N`; a criterion's
id is its dimension and place, such as `insight-3`.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.benchmarks.rows import (
    STORABLE,
    LanguageCode,
    PublishedRow,
    TaskNumber,
    TrimmedText,
    index_rows,
    read_rows,
)
from tasks.warehouse.rubrics import BundleSettings

PROTOCOL = "race"
SET = PublishedSet(layout="deepresearch_bench", title="DeepResearch Bench", protocol=PROTOCOL)
QUERIES = ("prompt_data/query.jsonl", "query.jsonl")
CRITERIA = ("criteria_data/criteria.jsonl", "criteria.jsonl")
REFERENCES = ("test_data/cleaned_data/reference.jsonl", "reference.jsonl")
SCORES = tuple(str(score) for score in range(11))
"""The scores of a criterion; halves are allowed too."""
MOST_CRITERIA = 200
"""The most criteria of one dimension; published: about ten."""
MOST_REPORT_CHARS = 2_000_000

Weight = Annotated[float, Field(strict=True, ge=0, le=1_000_000, allow_inf_nan=False)]


class _RaceTask(PublishedRow):
    id: TaskNumber
    language: LanguageCode | None = None
    topic: TrimmedText | None = None
    prompt: TrimmedText


class _RaceCriterion(PublishedRow):
    criterion: TrimmedText
    explanation: TrimmedText | None = None
    weight: Weight


Criteria = Annotated[tuple[_RaceCriterion, ...], Field(min_length=1, max_length=MOST_CRITERIA)]


class _RaceDimensions(PublishedRow):
    comprehensiveness: Criteria
    insight: Criteria
    instruction_following: Criteria
    readability: Criteria


class _RaceWeights(PublishedRow):
    comprehensiveness: Weight
    insight: Weight
    instruction_following: Weight
    readability: Weight


class _RaceCriteria(PublishedRow):
    prompt: TrimmedText
    dimension_weight: _RaceWeights
    criterions: _RaceDimensions


class _RaceReference(PublishedRow):
    prompt: TrimmedText
    article: Annotated[
        str,
        StringConstraints(
            strict=True, max_length=MOST_REPORT_CHARS, pattern=r"\S", strip_whitespace=True
        ),
        STORABLE,
    ]


def read_deepresearch_bench(folder: Path) -> list[PublishedQuery]:
    """Read all tasks, by number; some may have no criteria or no reference.

    Raises:
        EditionError: a file is missing or a row is invalid; names the file, row and field.
    """
    queries = _find_file(folder, QUERIES)
    tasks = index_rows(queries, read_rows(queries, _RaceTask, within=folder), "id")
    criteria = read_rows(_find_file(folder, CRITERIA), _RaceCriteria, within=folder)
    references = read_rows(_find_file(folder, REFERENCES), _RaceReference, within=folder)
    criteria_by_prompt = {row.prompt: row for row in criteria}
    reference_by_prompt = {row.prompt: row.article for row in references}
    return [
        _make_query(task, criteria_by_prompt.get(task.prompt), reference_by_prompt.get(task.prompt))
        for task in tasks.values()
    ]


def _find_file(folder: Path, places: tuple[str, ...]) -> Path:
    found = [
        path
        for root in (folder / "data", folder)
        for place in places
        if (path := root / place).exists()
    ]
    if not found:
        raise EditionError(
            f"{folder} has no {places[0]}. Name your clone of the repository, or a folder with "
            "query.jsonl, criteria.jsonl and reference.jsonl."
        )
    return found[0]


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
        for dimension in _RaceDimensions.model_fields
        for place, criterion in enumerate(getattr(measure.criterions, dimension), start=1)
    ]

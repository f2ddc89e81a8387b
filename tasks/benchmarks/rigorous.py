"""Reader of Rigorous Bench: rubrics for all reports, and entries with a bundle each.

It reads the user's copy as JSON, `{"grr": [...], "entries": [...]}`, or as JSON lines, one entry
per line, with the general rubrics in another file. A rubric is an object `{"rubric": text, "yes":
2, "no": 0}`, with `partial` between the two if it is ternary, or a text that ends in `Yes=2, No=0`.
A uid begins with the two digits of its domain.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictInt,
    StringConstraints,
    model_validator,
)

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery, PublishedSet
from tasks.benchmarks.rows import (
    JSON_LINES,
    MAX_TEXT_CHARS,
    STORABLE,
    PublishedRow,
    PublishedText,
    format_value,
    index_rows,
    read_value,
    validate_row,
    validate_rows,
)
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rubrics import BundleSettings

PROTOCOL = "rigorous"
SET = PublishedSet(layout="rigorous", title="Rigorous Bench", protocol=PROTOCOL)
QUERY, GENERAL = "query", "general"
"""The dimensions: the entry's own rubrics, and those for all reports."""
QUERY_POINTS, GENERAL_POINTS = 30, 73
LEAST_RUBRICS = 8
"""The fewest rubrics of an entry's own."""
MOST_ITEMS = 500
_VALUED = re.compile(
    r"(?P<rubric>.*?\S)\s+(?P<values>[A-Za-z]{1,20}\s?=\s?\d{1,3}"
    r"(?:\s?[,;]\s?[A-Za-z]{1,20}\s?=\s?\d{1,3}){1,2})\s*\.?\s*",
    re.S,
)


def _check_url(url: str) -> str:
    if normalise_url(url) is None:
        form = "a web address that begins with http:// or https://"
        raise ValueError(f"expected {form}; found {format_value(url)}")
    return url


Keyword = Annotated[str, StringConstraints(strict=True, max_length=200, pattern=r"\S"), STORABLE]
Link = Annotated[PublishedText, AfterValidator(_check_url)]
Points = Annotated[StrictInt, Field(ge=0, le=999)]


class PublishedRubric(Frozen):
    """A rubric with its points."""

    n: int | None = None
    """Its number, which is ignored: its place counts."""
    rubric: PublishedText
    yes: Points
    partial: Points | None = None
    no: Points

    @property
    def allowed(self) -> tuple[str, ...]:
        """The values that a judge may give, highest first."""
        values = (self.yes, *(() if self.partial is None else (self.partial,)), self.no)
        return tuple(map(str, values))

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        values = [int(value) for value in self.allowed]
        if self.no or values != sorted({*values}, reverse=True):
            raise ValueError("expected decreasing values from `yes` to a `no` of 0")
        return self


def _parse_rubric_text(value: object) -> object:
    """Turn a rubric with its values at the end of its text into an object."""
    if not isinstance(value, str) or not (found := _VALUED.fullmatch(value[:MAX_TEXT_CHARS])):
        return value
    given = sorted((int(n) for n in re.findall(r"\d+", found["values"])), reverse=True)
    partial = given[1] if len(given) == 3 else None
    return {"rubric": found["rubric"], "yes": given[0], "partial": partial, "no": given[-1]}


Rubrics = Annotated[
    tuple[Annotated[PublishedRubric, BeforeValidator(_parse_rubric_text)], ...],
    Field(min_length=1, max_length=MOST_ITEMS),
]


def find_points_problem(rubrics: Sequence[PublishedRubric], expected: int) -> str | None:
    """Return that rubrics are not worth `expected` points in total, or None."""
    points = sum(rubric.yes for rubric in rubrics)
    if points == expected:
        return None
    return f"the rubrics are worth {points} points; expected {expected}. Correct their values"


def find_rubrics_problem(rubrics: Sequence[PublishedRubric]) -> str | None:
    """Return that an entry's rubrics are too few, or not worth 30 points, or None."""
    if len(rubrics) < LEAST_RUBRICS:
        return f"{len(rubrics)} rubrics; an entry needs at least {LEAST_RUBRICS}"
    return find_points_problem(rubrics, QUERY_POINTS)


def _check_entry_rubrics(rubrics: tuple[PublishedRubric, ...]) -> tuple[PublishedRubric, ...]:
    if problem := find_rubrics_problem(rubrics):
        raise ValueError(problem)
    return rubrics


def _check_general_rubrics(rubrics: tuple[PublishedRubric, ...]) -> tuple[PublishedRubric, ...]:
    if problem := find_points_problem(rubrics, GENERAL_POINTS):
        raise ValueError(problem)
    return rubrics


class _GeneralRubrics(PublishedRow):
    grr: Annotated[Rubrics, AfterValidator(_check_general_rubrics)]


class PublishedEntry(PublishedRow):
    """A query with its bundle."""

    uid: Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9]{2}[A-Za-z0-9_-]{1,60}$")]
    query: PublishedText
    qsr: Annotated[Rubrics, AfterValidator(_check_entry_rubrics)]
    tsl: Annotated[tuple[Link, ...], Field(max_length=MOST_ITEMS)]
    fak: Annotated[tuple[Keyword, ...], Field(max_length=MOST_ITEMS)]
    fdk: Annotated[tuple[Keyword, ...], Field(max_length=MOST_ITEMS)]

    @property
    def domain(self) -> str:
        return self.uid[:2]


def read_rigorous(
    path: Path, domains: Mapping[str, str], general: Path | None = None
) -> list[PublishedQuery]:
    """Read all entries of a published file, by uid.

    Args:
        domains: names of the domains' codes; a code without a name is its own name.
        general: the file with the general rubrics, if `path` has none.

    Raises:
        EditionError: no such file, another format, or an invalid entry; names the file, the entry
            and the field.
    """
    content = read_value(path)
    listed = content.get("entries") if isinstance(content, dict) else content
    where = f"{path}: `entries`" if isinstance(content, dict) else path
    entries = validate_rows(where, listed, PublishedEntry, "uid")
    common = read_general(general or path)
    return [
        PublishedQuery(
            key=entry.uid,
            query=entry.query,
            items=(*make_rubric_items(QUERY, entry.qsr), *common),
            settings=BundleSettings(
                theme=domains.get(entry.domain, entry.domain),
                focus_keywords=entry.fak,
                deviation_keywords=entry.fdk,
                trusted_links=entry.tsl,
            ),
        )
        for entry in index_rows(path, entries, "uid").values()
    ]


def read_general(path: Path) -> tuple[PublishedItem, ...]:
    """Read the general rubrics of a published file.

    Raises:
        EditionError: like `read_rigorous`.
    """
    content = None if path.suffix in JSON_LINES else read_value(path)
    if not isinstance(content, dict) or "grr" not in content:
        raise EditionError(
            f"{path} has no general rubrics (`grr`). Name the file that has them with --general."
        )
    return make_rubric_items(GENERAL, validate_row(path, content, _GeneralRubrics).grr)


def make_rubric_items(
    dimension: str, rubrics: Sequence[PublishedRubric]
) -> tuple[PublishedItem, ...]:
    """Make items of one dimension from rubrics, numbered by place."""
    return tuple(
        PublishedItem(
            item=f"{dimension}-{place}",
            dimension=dimension,
            text=rubric.rubric,
            allowed=rubric.allowed,
            points=rubric.yes,
        )
        for place, rubric in enumerate(rubrics, start=1)
    )

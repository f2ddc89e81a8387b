"""Reader of Rigorous Bench: rubrics for all reports, and entries with a bundle each.

It reads the user's copy as JSON, `{"grr": [...], "entries": [...]}`, or as JSON lines, one entry
per line, with the general rubrics in another file. A rubric is an object `{"rubric": text, "yes":
2, "no": 0}`, with `partial` between the two if it is ternary, or a text that ends in `Yes=2, No=0`.
A uid begins with the two digits of its domain.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from tasks.base import Frozen
from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedItem, PublishedQuery
from tasks.benchmarks.rows import JSON_LINES, read_rows, read_value, validate_row, validation_error
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import replace_surrogates
from tasks.warehouse.rubrics import BundleSettings

LAYOUT = PROTOCOL = "rigorous"
QUERY, GENERAL = "query", "general"
"""The dimensions: the entry's own rubrics, and those for all reports."""
QUERY_POINTS, GENERAL_POINTS = 30, 73
LEAST_RUBRICS = 8
"""The fewest rubrics of an entry's own."""
FIELDS = ("uid", "query", "qsr", "tsl", "fak", "fdk")
MOST_CHARS, MOST_ITEMS = 20_000, 500
_VALUED = re.compile(
    r"(?P<rubric>.*?\S)\s+(?P<values>[A-Za-z]{1,20}\s?=\s?\d{1,3}"
    r"(?:\s?[,;]\s?[A-Za-z]{1,20}\s?=\s?\d{1,3}){1,2})\s*\.?\s*",
    re.S,
)


def _to_storable(value: object) -> object:
    return replace_surrogates(value) if isinstance(value, str) else value


def _check_url(url: str) -> str:
    if normalise_url(url) is None:
        raise ValueError("expected a web address that begins with http:// or https://")
    return url


Text = Annotated[
    str,
    StringConstraints(strict=True, max_length=MOST_CHARS, pattern=r"\S"),
    BeforeValidator(_to_storable),
]
Keyword = Annotated[
    str,
    StringConstraints(strict=True, max_length=200, pattern=r"\S"),
    BeforeValidator(_to_storable),
]
Link = Annotated[Text, AfterValidator(_check_url)]
Points = Annotated[StrictInt, Field(ge=0, le=999)]


class PublishedRubric(Frozen):
    """A rubric with its points."""

    n: int | None = None
    """Its number, which is ignored: its place counts."""
    rubric: Text
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
    if not isinstance(value, str) or not (found := _VALUED.fullmatch(value[:MOST_CHARS])):
        return value
    given = sorted((int(n) for n in re.findall(r"\d+", found["values"])), reverse=True)
    partial = given[1] if len(given) == 3 else None
    return {"rubric": found["rubric"], "yes": given[0], "partial": partial, "no": given[-1]}


Rubrics = Annotated[
    tuple[Annotated[PublishedRubric, BeforeValidator(_parse_rubric_text)], ...],
    Field(min_length=1, max_length=MOST_ITEMS),
]
GENERAL_RUBRICS: TypeAdapter[tuple[PublishedRubric, ...]] = TypeAdapter(Rubrics)


class PublishedEntry(Frozen):
    """A query with its bundle; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    uid: Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9]{2}[A-Za-z0-9_-]{1,60}$")]
    query: Text
    qsr: Rubrics
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
    entries = [
        _parse_entry(path, number, row) for number, row in enumerate(_read_rows(path), start=1)
    ]
    common = make_rubric_items(GENERAL, _load_general(general or path))
    found: dict[str, PublishedQuery] = {}
    for entry in entries:
        if entry.uid in found:
            raise EditionError(f"{path}: entry {entry.uid!r} is there twice. Remove one.")
        found[entry.uid] = PublishedQuery(
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
    if not found:
        raise EditionError(f"{path} has no entries; expected {', '.join(FIELDS)} in each.")
    return [found[uid] for uid in sorted(found)]


def read_general(path: Path) -> tuple[PublishedItem, ...]:
    """Read the general rubrics of a published file.

    Raises:
        EditionError: like `read_rigorous`.
    """
    return make_rubric_items(GENERAL, _load_general(path))


def _read_rows(path: Path) -> Sequence[Mapping[str, Any]]:
    if path.suffix in JSON_LINES:
        return read_rows(path, FIELDS)
    content = read_value(path)
    rows = content.get("entries") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise EditionError(f"{path}: `entries`: expected a list, with {', '.join(FIELDS)} in each.")
    return rows


def _load_general(path: Path) -> tuple[PublishedRubric, ...]:
    content = None if path.suffix in JSON_LINES else read_value(path)
    if not isinstance(content, dict) or "grr" not in content:
        raise EditionError(
            f"{path} has no general rubrics (`grr`). Name the file that has them with --general."
        )
    try:
        rubrics = GENERAL_RUBRICS.validate_python(content["grr"])
    except ValidationError as error:
        raise validation_error(path, error, "grr") from None
    check_points(f"{path}: `grr`", rubrics, GENERAL_POINTS)
    return rubrics


def _parse_entry(path: Path, number: int, row: Mapping[str, Any]) -> PublishedEntry:
    uid = row.get("uid")
    where = f"{path}: entry {uid[:80]!r}" if isinstance(uid, str) else f"{path}: entry {number}"
    entry = validate_row(where, row, PublishedEntry)
    check_rubrics(f"{where}: `qsr`", entry.qsr)
    return entry


def check_rubrics(where: str, rubrics: Sequence[PublishedRubric]) -> None:
    """Raise EditionError if an entry's rubrics are too few, or not worth 30 points."""
    if len(rubrics) < LEAST_RUBRICS:
        raise EditionError(
            f"{where}: {len(rubrics)} rubrics; an entry needs at least {LEAST_RUBRICS}."
        )
    check_points(where, rubrics, QUERY_POINTS)


def check_points(where: str, rubrics: Sequence[PublishedRubric], expected: int) -> None:
    """Raise EditionError if the rubrics are not worth `expected` points in total."""
    points = sum(rubric.yes for rubric in rubrics)
    if points != expected:
        raise EditionError(
            f"{where}: the rubrics are worth {points} points; expected {expected}. Correct their "
            "values."
        )


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

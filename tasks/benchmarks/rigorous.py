"""Rigorous Bench as it is published: rubrics for all reports, and entries with a bundle each.

A user's own copy as JSON, `{"grr": [...], "entries": [...]}`, or as JSON lines, an entry a line,
with the general rubrics in another file. A rubric is an object `{"rubric": text, "yes": 2,
"no": 0}`, with `partial` between the two where it is ternary, or a text that ends in `Yes=2, No=0`.
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
from tasks.benchmarks.rows import JSON_LINES, checked, read_rows, read_value, unreadable
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import storable
from tasks.warehouse.rubrics import BundleSettings

LAYOUT = PROTOCOL = "rigorous"
QUERY, GENERAL = "query", "general"
"""Dimensions: the entry's own rubrics, and those of all reports."""
QUERY_POINTS, GENERAL_POINTS = 30, 73
LEAST_RUBRICS = 8
"""Of an entry's own."""
FIELDS = ("uid", "query", "qsr", "tsl", "fak", "fdk")
MOST_CHARS, MOST_ITEMS = 20_000, 500
_VALUED = re.compile(
    r"(?P<rubric>.*?\S)\s+(?P<values>[A-Za-z]{1,20}\s?=\s?\d{1,3}"
    r"(?:\s?[,;]\s?[A-Za-z]{1,20}\s?=\s?\d{1,3}){1,2})\s*\.?\s*",
    re.S,
)


def _stored(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


def _address(url: str) -> str:
    if normalise_url(url) is None:
        raise ValueError("expected a web address that begins with http:// or https://")
    return url


Text = Annotated[
    str,
    StringConstraints(strict=True, max_length=MOST_CHARS, pattern=r"\S"),
    BeforeValidator(_stored),
]
Keyword = Annotated[
    str, StringConstraints(strict=True, max_length=200, pattern=r"\S"), BeforeValidator(_stored)
]
Link = Annotated[Text, AfterValidator(_address)]
Points = Annotated[StrictInt, Field(ge=0, le=999)]


class PublishedRubric(Frozen):
    """One rubric with what it can be worth."""

    n: int | None = None
    """Its number; its place is what counts."""
    rubric: Text
    yes: Points
    partial: Points | None = None
    no: Points

    @property
    def allowed(self) -> tuple[str, ...]:
        """The values it may be given, the highest first."""
        values = (self.yes, *(() if self.partial is None else (self.partial,)), self.no)
        return tuple(map(str, values))

    @model_validator(mode="after")
    def _falling(self) -> Self:
        values = [int(value) for value in self.allowed]
        if self.no or values != sorted({*values}, reverse=True):
            raise ValueError("expected values that fall from `yes` to a `no` of 0")
        return self


def _from_text(value: object) -> object:
    """A rubric whose values stand at the end of its text, as an object."""
    if not isinstance(value, str) or not (found := _VALUED.fullmatch(value[:MOST_CHARS])):
        return value
    given = sorted((int(n) for n in re.findall(r"\d+", found["values"])), reverse=True)
    partial = given[1] if len(given) == 3 else None
    return {"rubric": found["rubric"], "yes": given[0], "partial": partial, "no": given[-1]}


Rubrics = Annotated[
    tuple[Annotated[PublishedRubric, BeforeValidator(_from_text)], ...],
    Field(min_length=1, max_length=MOST_ITEMS),
]
GENERAL_RUBRICS: TypeAdapter[tuple[PublishedRubric, ...]] = TypeAdapter(Rubrics)


class PublishedEntry(Frozen):
    """One query with its bundle; fields that are not known here are left alone."""

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
    """Every entry of a published file, by uid.

    domains: names of domains' codes; a code without one is its own name.
    general: the file that holds the general rubrics, where `path` does not.

    Raises:
        EditionError: no such file, not in this format, or an entry that cannot be read; names
            the file, the entry and the field.
    """
    entries = [_entry(path, number, row) for number, row in enumerate(_rows(path), start=1)]
    common = rubric_items(GENERAL, _general(general or path))
    found: dict[str, PublishedQuery] = {}
    for entry in entries:
        if entry.uid in found:
            raise EditionError(f"{path}: entry {entry.uid!r} stands there twice. Remove one.")
        found[entry.uid] = PublishedQuery(
            key=entry.uid,
            query=entry.query,
            items=(*rubric_items(QUERY, entry.qsr), *common),
            settings=BundleSettings(
                theme=domains.get(entry.domain, entry.domain),
                focus_keywords=entry.fak,
                deviation_keywords=entry.fdk,
                trusted_links=entry.tsl,
            ),
        )
    if not found:
        raise EditionError(f"{path} holds no entries; expected {', '.join(FIELDS)} each.")
    return [found[uid] for uid in sorted(found)]


def read_general(path: Path) -> tuple[PublishedItem, ...]:
    """The general rubrics of a published file.

    Raises:
        EditionError: as `read_rigorous`.
    """
    return rubric_items(GENERAL, _general(path))


def _rows(path: Path) -> Sequence[Mapping[str, Any]]:
    if path.suffix in JSON_LINES:
        return read_rows(path, FIELDS)
    content = read_value(path)
    rows = content.get("entries") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise EditionError(f"{path}: `entries`: expected a list of {', '.join(FIELDS)} each.")
    return rows


def _general(path: Path) -> tuple[PublishedRubric, ...]:
    content = None if path.suffix in JSON_LINES else read_value(path)
    if not isinstance(content, dict) or "grr" not in content:
        raise EditionError(
            f"{path} holds no general rubrics (`grr`). Name the file that does with --general."
        )
    try:
        rubrics = GENERAL_RUBRICS.validate_python(content["grr"])
    except ValidationError as error:
        raise unreadable(path, error, "grr") from None
    check_points(f"{path}: `grr`", rubrics, GENERAL_POINTS)
    return rubrics


def _entry(path: Path, number: int, row: Mapping[str, Any]) -> PublishedEntry:
    uid = row.get("uid")
    where = f"{path}: entry {uid[:80]!r}" if isinstance(uid, str) else f"{path}: entry {number}"
    entry = checked(where, row, PublishedEntry)
    check_rubrics(f"{where}: `qsr`", entry.qsr)
    return entry


def check_rubrics(where: str, rubrics: Sequence[PublishedRubric]) -> None:
    """Raise EditionError for rubrics of one entry that are too few, or not worth 30 points."""
    if len(rubrics) < LEAST_RUBRICS:
        raise EditionError(
            f"{where}: {len(rubrics)} rubrics; an entry has at least {LEAST_RUBRICS}."
        )
    check_points(where, rubrics, QUERY_POINTS)


def check_points(where: str, rubrics: Sequence[PublishedRubric], expected: int) -> None:
    """Raise EditionError for rubrics that are not worth so many points together."""
    points = sum(rubric.yes for rubric in rubrics)
    if points != expected:
        raise EditionError(
            f"{where}: the rubrics are worth {points} points; expected {expected}. Correct their "
            "values."
        )


def rubric_items(dimension: str, rubrics: Sequence[PublishedRubric]) -> tuple[PublishedItem, ...]:
    """Rubrics as items of one dimension, numbered by their places."""
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

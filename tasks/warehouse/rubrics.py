"""What reports to research queries are measured by: rubrics with their settings, key points."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, NonNegativeFloat, TypeAdapter

from tasks.base import Frozen
from tasks.warehouse.rows import Row, canonical_values, content_sha

ALLOWED = TypeAdapter(tuple[str, ...])
"""How `Rubric.allowed` is read and written."""
SPANS = TypeAdapter(tuple[str, ...])
"""How `KeyPoint.spans` is read and written."""
MERGED = TypeAdapter(tuple[int, ...])
"""How `KeyPoint.merged_from` is read and written."""


class Rubric(Row):
    """One thing a report is checked for."""

    table: ClassVar[str] = "rubrics"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment", "protocol", "item")

    edition: str
    assignment: str
    protocol: str
    number: int
    """0-based, in the publisher's order."""
    item: str
    """Unique among the items of one assignment and protocol; the same at every import."""
    dimension: str
    """The group that the protocol scores together."""
    text: str
    allowed: str
    """JSON of ALLOWED: the values a judge may give, e.g. `["2", "0"]`."""
    points: float
    """The most it can be worth."""
    weight: float = 1.0
    """Within its dimension, where the protocol weighs items."""
    explanation: str | None = None
    """What the publisher says of how it is to be judged."""


class Blocked(Frozen):
    """A work that evidence must not rest on: the source the rubric was made from."""

    title: str = ""
    authors: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


class BundleSettings(Frozen):
    """What goes along with one assignment's rubric; what its protocol does not use is empty."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    language: str | None = None
    """ISO 639-1."""
    theme: str | None = None
    """The publisher's own category: a theme, a domain, a topic."""
    blocked: Blocked | None = None
    focus_keywords: tuple[str, ...] = ()
    """What the report should speak of (focus-anchor keywords)."""
    deviation_keywords: tuple[str, ...] = ()
    """What it should not drift to (focus-deviation keywords)."""
    trusted_links: tuple[str, ...] = ()
    dimension_weights: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    draft: bool = False
    """Made by a model and not yet reviewed by a person."""


BundleSource = Literal["published", "drafted"]


class RubricBundle(Row):
    """The rubric of one assignment under one protocol, as a whole."""

    table: ClassVar[str] = "rubric_bundles"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment", "protocol")

    edition: str
    assignment: str
    protocol: str
    source: BundleSource
    """Whose: its publisher's, or a model's draft."""
    settings: str
    """JSON of BundleSettings."""
    n_items: int
    """Of the rubric."""
    bundle_sha: str
    """Of items and settings, but for what they are filed under (language and theme, which no
    judge sees): a part of the cell's key."""


class PointSet(Row):
    """How the key points of one assignment were obtained; written with them."""

    table: ClassVar[str] = "point_sets"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment")

    edition: str
    assignment: str
    source: Literal["published", "judge"]
    """Who made them."""
    extractor_version: str
    """What made them, with its version."""
    input_sha: str
    """Of the documents (or published records) they were made from."""
    output_sha: str
    """Of the points: a part of the cell's key."""
    n_points: int
    """0 is an answer: there are none, and the assignment has no recall of them."""
    n_found: int
    """Before merging."""
    n_spans: int
    """That the judge quoted."""
    n_verbatim: int
    """Of those, that do stand in their document; the others are dropped."""


class KeyPoint(Row):
    """A point that helps to answer a query, as its documents make it."""

    table: ClassVar[str] = "key_points"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment", "number")

    edition: str
    assignment: str
    number: int
    """1-based, as published."""
    text: str
    merged_from: str = "[]"
    """JSON of MERGED: the numbers of the points it was merged from."""
    spans: str = "[]"
    """JSON of SPANS: where its documents say it, word for word."""


def rubric_bundle(
    rubrics: Sequence[Rubric], settings: BundleSettings, source: BundleSource
) -> RubricBundle:
    """The row of one assignment's rubric as a whole, with its sha. rubrics: at least one."""
    first = rubrics[0]
    judged_by = canonical_values(settings, {"language", "theme"}, exclude_defaults=True)
    return RubricBundle(
        edition=first.edition,
        assignment=first.assignment,
        protocol=first.protocol,
        source=source,
        settings=settings.model_dump_json(exclude_defaults=True),
        n_items=len(rubrics),
        bundle_sha=content_sha(
            judged_by,
            *(canonical_values(r, exclude={"edition", "assignment", "protocol"}) for r in rubrics),
        ),
    )


def points_sha(points: Sequence[KeyPoint]) -> str:
    """What a cell rests on of an assignment's key points: numbers and texts."""
    return content_sha(*(f"{point.number} {point.text}" for point in points))

"""Rows of rubrics and key points, which reports on research queries are judged by."""

from collections.abc import Sequence
from typing import Literal

from pydantic import ConfigDict, Field, NonNegativeFloat, TypeAdapter

from tasks.base import Frozen
from tasks.warehouse.rows import Row, canonical_values, content_sha

ALLOWED_VALUES = TypeAdapter(tuple[str, ...])
"""The type of `Rubric.allowed`."""
SPANS = TypeAdapter(tuple[str, ...])
"""The type of `KeyPoint.spans`."""
MERGED_FROM = TypeAdapter(tuple[int, ...])
"""The type of `KeyPoint.merged_from`."""


class Rubric(Row):
    """One item of a rubric."""

    table = "rubrics"
    key = ("edition", "assignment", "protocol", "item")

    edition: str
    assignment: str
    protocol: str
    number: int
    """0-based, in the publisher's order."""
    item: str
    """The item's id, unique for its assignment and protocol, and stable across imports."""
    dimension: str
    """The group of items that the protocol scores together."""
    text: str
    allowed: str
    """JSON list of the values a judge may give, e.g. `["2", "0"]`."""
    points: float
    """The maximum of points."""
    weight: float = 1.0
    """The weight within its dimension, if the protocol weights items."""
    explanation: str | None = None
    """The publisher's explanation of how to judge it."""


class BlockedSource(Frozen):
    """A work that reports must not use as evidence: the source of the rubric."""

    title: str = ""
    authors: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


class BundleSettings(Frozen):
    """The settings of one assignment's rubric; those that its protocol does not use are empty."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    language: str | None = None
    """ISO 639-1 code."""
    theme: str | None = None
    """The publisher's category: a theme, domain or topic."""
    blocked: BlockedSource | None = None
    focus_keywords: tuple[str, ...] = ()
    """Terms that the report should discuss (focus-anchor keywords)."""
    deviation_keywords: tuple[str, ...] = ()
    """Terms that it should not drift to (focus-deviation keywords)."""
    trusted_links: tuple[str, ...] = ()
    dimension_weights: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    draft: bool = False
    """Whether a model drafted it and nobody has reviewed it."""


BundleSource = Literal["published", "drafted"]


class RubricBundle(Row):
    """The whole rubric of one assignment under one protocol."""

    table = "rubric_bundles"
    key = ("edition", "assignment", "protocol")

    edition: str
    assignment: str
    protocol: str
    source: BundleSource
    """Who wrote it: the publisher, or a model."""
    settings: str
    """JSON of the settings (`language`, `theme`, `blocked`, keywords, `draft`, …)."""
    n_items: int
    """Items of the rubric."""
    bundle_sha: str
    """Sha-256 of items and settings, without language and theme, which no judge sees: part of the
    cell's key."""


class PointSet(Row):
    """How the key points of one assignment were made."""

    table = "point_sets"
    key = ("edition", "assignment")

    edition: str
    assignment: str
    source: Literal["published", "judge"]
    """Who made them."""
    extractor_version: str
    """The extractor and its version."""
    input_sha: str
    """Sha-256 of the documents or published records they were made from."""
    output_sha: str
    """Sha-256 of the points: part of the cell's key."""
    n_points: int
    """The number of key points. 0: there are none, so the assignment has no recall of them."""
    n_found: int
    """The number of points before merging."""
    n_spans: int
    """Spans that the judge quoted."""
    n_verbatim: int
    """Of these, spans that their document contains; the others are dropped."""


class ClickedDocument(Row):
    """A page that people clicked when they searched for a query: key points are made of it. It is
    fetched as cited pages are, but it is none: no board counts it, and no agent is served it."""

    table = "clicked_documents"
    key = ("edition", "assignment", "url")

    edition: str
    assignment: str
    url: str
    """The normalised URL: the page's key in the archive."""
    raw_url: str
    clicks: int | None = None
    """How often people clicked it; null if that is not published."""


class KeyPoint(Row):
    """A point from documents that helps to answer a query."""

    table = "key_points"
    key = ("edition", "assignment", "number")

    edition: str
    assignment: str
    number: int
    """1-based, as published."""
    text: str
    merged_from: str = "[]"
    """JSON list of the numbers of the points it was merged from."""
    spans: str = "[]"
    """JSON list of verbatim passages from its documents."""


def make_rubric_bundle(
    rubrics: Sequence[Rubric], settings: BundleSettings, source: BundleSource
) -> RubricBundle:
    """Make the bundle row of one assignment's rubric. rubrics: at least one."""
    first = rubrics[0]
    judged = canonical_values(settings, {"language", "theme"}, exclude_defaults=True)
    return RubricBundle(
        edition=first.edition,
        assignment=first.assignment,
        protocol=first.protocol,
        source=source,
        settings=settings.model_dump_json(exclude_defaults=True),
        n_items=len(rubrics),
        bundle_sha=content_sha(
            judged,
            *(canonical_values(r, exclude={"edition", "assignment", "protocol"}) for r in rubrics),
        ),
    )


def hash_key_points(points: Sequence[KeyPoint]) -> str:
    """Return the sha-256 of key points' numbers and texts: part of the cell's key."""
    return content_sha(*(f"{point.number} {point.text}" for point in points))

"""Rows of ground truths: the claims that answers to a question are compared with."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat, TypeAdapter

from tasks.base import Frozen
from tasks.warehouse.rows import Row, canonical_json, canonical_values, content_sha

QuestionCategory = Literal[
    "scifacts-materials",
    "scifacts-geo",
    "novel-datasets-identification",
    "novel-datasets-identi-extraction",
    "novel-datasets-peer",
    "prior-art",
    "entities",
    "flights",
]
"""The eight published categories, as LiveDRBench names them."""


class TruthClaim(Frozen):
    """One true claim: a value with its sub-claims.

    Source: LiveDRBench, which scores answers as nested claims.
    """

    value: str
    name: str = ""
    """The parent's property that has this value, e.g. `paper_title`; empty in a plain list."""
    also: tuple[str, ...] = ()
    """Other correct values."""
    weight: PositiveFloat = 1.0
    sub_claims: tuple["TruthClaim", ...] = ()
    sources: tuple[str, ...] = ()
    """URLs accepted as support."""
    sentence: str | None = None
    """The article's sentence it is from, verbatim; null if unknown."""


TRUTHS = TypeAdapter(tuple[TruthClaim, ...])
"""The type of `GroundTruth.truths`."""


class EvalInfo(BaseModel):
    """A publisher's scoring settings. Unknown keys are kept but not used."""

    model_config = ConfigDict(frozen=True, extra="allow")

    primary_keys: tuple[str, ...] = ()
    """Keys that identify a row."""
    ignore_keys: tuple[str, ...] = ()
    """Keys that are neither requested nor scored."""
    main_claims: tuple[str, ...] = ()
    """Keys that must be correct for the rest of a row (or of the answer) to count."""
    evaluation_note: Any = None


class TruthSettings(BaseModel):
    """The settings of one question's ground truth."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str = ""
    """The question as judges see it, without the instructions to agents."""
    published: tuple[Any, ...] | None = None
    """The ground truths in the publisher's form, for its scoring; null if not published."""
    eval_info: EvalInfo = EvalInfo()
    needed_queries: tuple[str, ...] = ()
    """Searches needed to find the answer; empty if unknown."""
    banned: tuple[str, ...] = ()
    """Pages (URLs) and hosts, including subdomains, that agents must not use."""


class GroundTruth(Row):
    """The ground truth of one `find_claims` assignment; never shown to agents."""

    table = "ground_truths"
    key = ("edition", "assignment")

    edition: str
    assignment: str
    category: QuestionCategory
    """LiveDRBench's category."""
    source: Literal["published", "inverted"]
    """Published, or made from an article by problem inversion."""
    truths: str
    """JSON list of nested claims (`value`, `name`, `also`, `sub_claims`, `sources`, …)."""
    settings: str
    """JSON of further settings for matching and scoring (`question`, `eval_info`, `banned`, …)."""
    n_claims: int
    """Claims and sub-claims at all levels."""
    truth_sha: str
    """Sha-256 of truths and settings: part of the cell's key."""


def make_ground_truth(
    edition: str,
    assignment: str,
    category: QuestionCategory,
    source: Literal["published", "inverted"],
    truths: Sequence[TruthClaim],
    settings: TruthSettings,
) -> GroundTruth:
    """Make the row of one question's ground truth."""
    stored = TRUTHS.dump_json(tuple(truths)).decode()
    kept = settings.model_dump_json(exclude_defaults=True)
    return GroundTruth(
        edition=edition,
        assignment=assignment,
        category=category,
        source=source,
        truths=stored,
        settings=kept,
        n_claims=count_claims(truths),
        truth_sha=content_sha(
            canonical_json(TRUTHS.dump_python(tuple(truths), mode="json", by_alias=True)),
            canonical_values(settings, exclude_defaults=True),
        ),
    )


def count_claims(truths: Sequence[TruthClaim]) -> int:
    """Count claims and sub-claims at all levels."""
    return sum(1 + count_claims(truth.sub_claims) for truth in truths)

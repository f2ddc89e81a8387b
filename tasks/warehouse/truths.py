"""What is true: the claims that an answer to a question is measured against."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

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
    """One true claim: a value, with the sub-claims that must hold of it.

    Source: LiveDRBench, which scores answers as nested claims.
    """

    value: str
    name: str = ""
    """What the value is of its parent, e.g. `paper_title`; empty for a plain list of answers."""
    also: tuple[str, ...] = ()
    """Other values that are as true."""
    weight: PositiveFloat = 1.0
    sub_claims: tuple["TruthClaim", ...] = ()
    sources: tuple[str, ...] = ()
    """URLs that are accepted as support."""
    sentence: str | None = None
    """The article's sentence it was taken from, word for word; null where nobody says."""


TRUTHS = TypeAdapter(tuple[TruthClaim, ...])
"""How `GroundTruth.truths` is read and written."""


class EvalInfo(BaseModel):
    """A publisher's own scoring settings. Keys that are not known here are kept, not used."""

    model_config = ConfigDict(frozen=True, extra="allow")

    primary_keys: tuple[str, ...] = ()
    """By which rows are told apart."""
    ignore_keys: tuple[str, ...] = ()
    """Neither asked for nor counted."""
    main_claims: tuple[str, ...] = ()
    """Keys without which nothing else of a row (or of the whole answer) counts."""
    evaluation_note: Any = None


class TruthSettings(BaseModel):
    """What goes along with the truths of one question."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str = ""
    """As the judge of an answer sees it, without the instructions to the agent."""
    published: tuple[Any, ...] | None = None
    """The ground truths in the publisher's form, for its own scoring; null where nobody
    published them."""
    eval_info: EvalInfo = EvalInfo()
    needed_queries: tuple[str, ...] = ()
    """What has to be searched for to find the answer; empty where nobody says."""
    banned: tuple[str, ...] = ()
    """What must not be used: addresses of pages, and hosts with all below them."""


class GroundTruth(Row):
    """What is true for one assignment of kind `find_claims`. Never shown to an agent."""

    table: ClassVar[str] = "ground_truths"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment")

    edition: str
    assignment: str
    category: QuestionCategory
    """One of LiveDRBench's."""
    source: Literal["published", "inverted"]
    """Published, or made by turning an article around."""
    truths: str
    """JSON of TRUTHS."""
    settings: str
    """JSON of TruthSettings: what else matching and scoring go by; `{}` where there is nothing."""
    n_claims: int
    """Claims and sub-claims at all levels."""
    truth_sha: str
    """Sha of truths and settings: a part of the cell's key."""


def ground_truth(
    edition: str,
    assignment: str,
    category: QuestionCategory,
    source: Literal["published", "inverted"],
    truths: Sequence[TruthClaim],
    settings: TruthSettings,
) -> GroundTruth:
    """The row of one question's truth, with its count and sha."""
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
    """Claims and sub-claims at all levels."""
    return sum(1 + count_claims(truth.sub_claims) for truth in truths)

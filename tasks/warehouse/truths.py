"""What is true: the claims that an answer to a question is measured against."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat, TypeAdapter

from tasks.warehouse.rows import Row

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


class TruthClaim(BaseModel):
    """One true claim: a value, with the sub-claims that must hold of it.

    Source: LiveDRBench, which scores answers as nested claims.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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


class GroundTruth(Row):
    """What is true for one assignment of kind `find_claims`. Never shown to an agent."""

    table: ClassVar[str] = "ground_truths"
    key: ClassVar[tuple[str, ...]] = ("edition", "assignment")

    edition: str
    assignment: str
    category: QuestionCategory
    source: Literal["published", "inverted"]
    truths: str
    """JSON of TRUTHS."""
    settings: str
    """JSON: the publisher's own scoring settings (`eval_info`); `{}` where there are none."""
    n_claims: int
    """Claims and sub-claims at all levels."""
    truth_sha: str
    """Sha of truths and settings: a part of the cell's key."""

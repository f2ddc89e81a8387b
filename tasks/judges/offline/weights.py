"""The fitted weights of the offline judge, read from their file.

`python -m tests.rigs.fit_offline_judge` writes the file. The sha of the weights and of the
background's counts takes the place of a prompt sha: others are another judge.
"""

from datetime import date
from pathlib import Path

from pydantic import Field

from tasks.configuration.folders import find_file
from tasks.configuration.loading import ConfigModel, load_config
from tasks.judges.offline.background import load_background
from tasks.warehouse.rows import canonical_values, content_sha

WEIGHTS_FILE = find_file("judges/offline_lexical.yaml")
WEIGHTS_VERSION = 2
"""Raised when the meaning of a feature changes: other versions do not fit the code."""


NOTES = frozenset(
    {"fitted_on", "data", "regularisation", "held_out", "padded", "controls", "shared_edition"}
)
"""Keys of the file that document the weights and are not part of their sha."""


class FeatureWeights(ConfigModel):
    """Non-negative weights of the features (shares 0-1), in logits."""

    passage: float = Field(ge=0)
    characters: float = Field(ge=0)
    bigrams: float = Field(ge=0)
    entities: float = Field(ge=0)
    numbers: float = Field(ge=0)


class FamilyValues(ConfigModel):
    """A value per family of decisions, which differ in the strictness of the recorded judge."""

    key_point_in_report: float
    fact_in_report: float
    claim_in_article: float
    claim_in_page: float


class HeldOutAgreement(ConfigModel):
    """Agreement with recorded verdicts on held-out items: positive against all others."""

    n: int = Field(gt=0)
    positive: int = Field(ge=0)
    accuracy: float = Field(ge=0, le=1)
    majority: float = Field(ge=0, le=1)
    """Accuracy of always giving the more frequent label."""
    kappa: float = Field(ge=-1, le=1)


class PaddedAgreement(ConfigModel):
    """Held-out key points in reports, and in the same with nine times as many others' sentences."""

    share: float = Field(ge=0, le=1)
    """Share of the key points found."""
    share_padded: float = Field(ge=0, le=1)
    kappa: float = Field(ge=-1, le=1)
    kappa_padded: float = Field(ge=-1, le=1)


class ControlFigures(ConfigModel):
    """Reference articles as reports on themselves: as they are, denied, with other numbers."""

    facts: int = Field(gt=0)
    lost: int = Field(ge=0)
    """Facts not found in their own article."""
    vetoed: int = Field(ge=0)
    """Those of them that a veto took back."""
    denied: int = Field(ge=0)
    """Found facts whose own evidence was denied."""
    denied_taken_back: int = Field(ge=0)
    renumbered: int = Field(ge=0)
    """Found facts whose own evidence got another number in the place of one of theirs."""
    renumbered_taken_back: int = Field(ge=0)


class AgentFigures(ConfigModel):
    """Coverage of an agent's reports of the shared edition, in percent."""

    counted: float
    soft: float
    """Mean probability."""
    counted_all: float
    """By all claims, also those that cite the target article."""
    soft_all: float
    published: float
    """By the paper's judge, over its 100 articles."""


class EditionFigures(ConfigModel):
    """Agents of the shared edition."""

    spearman: float = Field(ge=-1, le=1)
    """Rank correlation of `soft_all` with `published`."""
    agents: dict[str, AgentFigures]


class OfflineWeights(ConfigModel):
    """The contents of the weights file."""

    version: int = Field(ge=WEIGHTS_VERSION, le=WEIGHTS_VERSION)
    fitted_on: date
    data: str
    """The data of the fit, in words."""
    regularisation: float = Field(ge=0)
    intercepts: FamilyValues
    weights: FeatureWeights
    thresholds: FamilyValues
    """The lowest probability that counts as supported."""
    held_out: dict[str, HeldOutAgreement] = Field(default_factory=dict)
    padded: PaddedAgreement | None = None
    """None, here and below: not measured."""
    controls: ControlFigures | None = None
    shared_edition: EditionFigures | None = None


def load_weights(path: Path = WEIGHTS_FILE) -> tuple[OfflineWeights, str]:
    """Return the weights and the sha-256 (hex) of them, without `NOTES`, and of the stems' file.

    Raises:
        ConfigurationError: the message names the file, the key and what was expected.
    """
    weights = load_config(path, OfflineWeights)
    values = canonical_values(weights, exclude=NOTES)
    return weights, content_sha(values, load_background().sha)

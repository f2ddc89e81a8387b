"""The fitted weights of the offline judge, read from their file.

`python -m tests.rigs.fit_offline_judge` writes the file. The sha of the weights takes the place of
a prompt sha: other weights are another judge.
"""

from datetime import date
from pathlib import Path

from pydantic import Field

from tasks.configuration.loading import CONFIGS, ConfigModel, load_config
from tasks.warehouse.rows import canonical_values, content_sha

WEIGHTS_FILE = CONFIGS / "judges" / "offline_lexical.yaml"
WEIGHTS_VERSION = 1
"""Raised when the meaning of a feature changes: other versions do not fit the code."""


NOTES = frozenset({"fitted_on", "data", "regularisation", "held_out"})
"""Keys of the file that document the weights and are not part of their sha."""


class FeatureWeights(ConfigModel):
    """Non-negative weights of the features (shares 0-1), in logits."""

    whole: float = Field(ge=0)
    top_10: float = Field(ge=0)
    top_3: float = Field(ge=0)
    window: float = Field(ge=0)
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
    held_out: dict[str, HeldOutAgreement]


def load_weights(path: Path = WEIGHTS_FILE) -> tuple[OfflineWeights, str]:
    """Return the weights and their sha-256 (hex), which leaves out `NOTES`.

    Raises:
        ConfigurationError: the message names the file, the key and what was expected.
    """
    weights = load_config(path, OfflineWeights)
    return weights, content_sha(canonical_values(weights, exclude=NOTES))

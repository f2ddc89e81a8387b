"""The fitted weights of the offline judge, read from their file.

`python -m tasks.judges.offline.fit` writes the file; the judge reads it. The sha of the weights
stands in for a prompt's sha: other weights are another judge.
"""

from datetime import date
from pathlib import Path

from pydantic import Field

from tasks.configuration.loading import CONFIGS, Configured, load
from tasks.warehouse.rows import canonical_values, content_sha

WEIGHTS_FILE = CONFIGS / "judges" / "offline_lexical.yaml"
WEIGHTS_VERSION = 1
"""Changes with the meaning of a feature: weights of another version do not fit the code."""


NOTES = frozenset({"fitted_on", "data", "regularisation", "held_out"})
"""Keys of the file that say where the weights come from and how good they are."""


class Weights(Configured):
    """Non-negative weights of the features (shares 0-1), in logits."""

    whole: float = Field(ge=0)
    top_10: float = Field(ge=0)
    top_3: float = Field(ge=0)
    window: float = Field(ge=0)
    characters: float = Field(ge=0)
    bigrams: float = Field(ge=0)
    entities: float = Field(ge=0)
    numbers: float = Field(ge=0)


class Families(Configured):
    """One value per family of decisions: they differ in how strict the recorded judge was."""

    key_point_in_report: float
    fact_in_report: float
    claim_in_article: float
    claim_in_page: float


class Agreement(Configured):
    """Agreement with recorded verdicts on held-out items, two classes: positive and the rest."""

    n: int = Field(gt=0)
    positive: int = Field(ge=0)
    accuracy: float = Field(ge=0, le=1)
    majority: float = Field(ge=0, le=1)
    """Accuracy of always giving the more frequent label."""
    kappa: float = Field(ge=-1, le=1)


class OfflineWeights(Configured):
    """All the offline judge knows."""

    version: int = Field(ge=WEIGHTS_VERSION, le=WEIGHTS_VERSION)
    fitted_on: date
    data: str
    """What it was fitted to."""
    regularisation: float = Field(ge=0)
    intercepts: Families
    weights: Weights
    thresholds: Families
    """Probability from which an item counts as supported."""
    held_out: dict[str, Agreement]


def read_weights(path: Path = WEIGHTS_FILE) -> tuple[OfflineWeights, str]:
    """The weights and the sha-256 (hex) of what decides by them: not of notes on their origin.

    Raises:
        ConfigurationError: naming the file, the key and what was expected there.
    """
    weights = load(path, OfflineWeights)
    return weights, content_sha(canonical_values(weights, exclude=NOTES))

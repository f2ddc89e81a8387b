"""The fitted weights of the offline judge, read from their file.

`python -m tasks.judges.fit_offline` writes the file; the judge reads it. Its sha stands in
for a prompt's sha: other weights are another judge.
"""

from datetime import date
from hashlib import sha256
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from tasks.judges.decisions import Frozen

WEIGHTS_FILE = Path(__file__).resolve().parents[2] / "configs" / "judges" / "offline_lexical.yaml"


class UnreadableWeights(ValueError):
    """The weights file is missing or not what the judge expects."""


class Weights(Frozen):
    """Non-negative weights of the features (shares 0-1), in logits."""

    whole: float = Field(ge=0)
    top_10: float = Field(ge=0)
    top_3: float = Field(ge=0)
    window: float = Field(ge=0)
    characters: float = Field(ge=0)
    bigrams: float = Field(ge=0)
    entities: float = Field(ge=0)
    numbers: float = Field(ge=0)


class Families(Frozen):
    """One value per family of decisions: they differ in how strict the recorded judge was."""

    key_point_in_report: float
    fact_in_report: float
    claim_in_article: float
    claim_in_page: float


class Agreement(Frozen):
    """Agreement with recorded verdicts on held-out items, two classes: positive and the rest."""

    n: int = Field(gt=0)
    positive: int = Field(ge=0)
    accuracy: float = Field(ge=0, le=1)
    majority: float = Field(ge=0, le=1)
    """Accuracy of always giving the more frequent label."""
    kappa: float = Field(ge=-1, le=1)


class OfflineWeights(Frozen):
    """All the offline judge knows."""

    version: int
    fitted_on: date
    data: str
    """What it was fitted to."""
    seed: int
    regularisation: float = Field(ge=0)
    intercepts: Families
    weights: Weights
    thresholds: Families
    """Probability from which an item counts as supported."""
    held_out: dict[str, Agreement]


def read_weights(path: Path = WEIGHTS_FILE) -> tuple[OfflineWeights, str]:
    """The weights and the sha-256 (hex) of their file.

    Raises:
        UnreadableWeights: naming the file, the field and what to do.
    """
    try:
        data = path.read_bytes()
        return OfflineWeights.model_validate(yaml.safe_load(data)), sha256(data).hexdigest()
    except OSError as error:
        raise UnreadableWeights(
            f"{path}: cannot be read ({error.strerror}). Fit it again with"
            " `python -m tasks.judges.fit_offline ../shared/data --write`."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError, ValidationError) as error:
        raise UnreadableWeights(
            f"{path}: not a weights file of the offline judge: {error}. Restore it, or fit it"
            " again with `python -m tasks.judges.fit_offline ../shared/data --write`."
        ) from error

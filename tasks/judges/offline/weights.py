"""The fitted weights of the offline judge, and how rare a stem is in a fixed background of texts,
whatever text is being judged; both read from their files.

`python -m tests.rigs.fit_offline_judge` writes the files. The sha of the weights and of the
background's counts takes the place of a prompt sha: others are another judge.

The table of stems counts the documents of the shared edition (articles and reports) that hold a
stem. Only stems of several subjects are listed: a stem of one subject, like one that the background
has never seen, counts as rare.
"""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from hashlib import sha256
from math import log
from pathlib import Path

from pydantic import Field

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import find_file
from tasks.configuration.loading import ConfigModel, load_config
from tasks.warehouse.rows import canonical_values, content_sha

WEIGHTS_FILE = find_file("judges/offline_lexical.yaml")
WEIGHTS_VERSION = 2
"""Raised when the meaning of a feature changes: other versions do not fit the code."""


NOTES = frozenset(
    {"fitted_on", "data", "regularisation", "held_out", "padded", "controls", "shared_edition"}
)
"""Keys of the file that document the weights and are not part of their sha."""
STEMS_FILE = find_file("judges/offline_stems.txt")
UNLISTED_COUNT = 10
"""Documents that a stem outside the table is taken to stand in: the fewest of a listed one."""


@dataclass(frozen=True, slots=True)
class Background:
    """Document counts of stems, with the sha-256 of their file."""

    n_documents: int
    counts: dict[str, int]
    sha: str

    def idf(self, stem: str) -> float:
        """Return the inverse document frequency of a stem, above 0."""
        count = self.counts.get(stem, UNLISTED_COUNT)
        return log(1 + (self.n_documents - count + 0.5) / (count + 0.5))


@lru_cache(maxsize=4)
def load_background(path: Path = STEMS_FILE) -> Background:
    """Read the table: the number of documents, then a line `stem count` for each stem.

    Raises:
        ConfigurationError: the file is missing or malformed.
    """
    try:
        content = path.read_bytes()
        lines = [line for line in content.decode().splitlines() if not line.startswith("#")]
        counts = {stem: int(count) for stem, count in map(str.split, lines[1:])}
        return Background(int(lines[0]), counts, sha256(content).hexdigest())
    except (OSError, ValueError, IndexError) as error:
        raise ConfigurationError(
            f"{path}: expected a number of documents and lines `stem count` ({error}). Restore the "
            "file from the project's configs/judges."
        ) from None


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

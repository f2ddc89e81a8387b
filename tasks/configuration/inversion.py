"""`configs/inversion.yaml` and `configs/drafting.yaml`: how questions are made from articles, and
how bundles are drafted from them.
"""

from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.warehouse.rows import canonical_values, content_sha

Share = Annotated[float, Field(ge=0, le=1)]


class WordBounds(ConfigModel):
    """Limits on a text's number of words."""

    least: PositiveInt
    most: PositiveInt

    @model_validator(mode="after")
    def _ordered(self) -> "WordBounds":
        if self.least > self.most:
            raise ValueError(f"expected least ≤ most; found {self.least} and {self.most}")
        return self


class InversionSettings(ConfigModel):
    """The settings of problem inversion. Shares and F1 are 0-1."""

    version: PositiveInt
    """Increase it when the code changes so that articles must be inverted again."""
    source: str
    seed: int
    """Determines the order of the articles."""

    targets_per_article: PositiveInt
    least_properties: PositiveInt
    """The fewest properties of a target."""
    properties_at_first: PositiveInt
    """Properties used in the first question; the others refine it."""
    least_sentence_words: PositiveInt
    """The fewest words of a passage that a claim is based on."""

    pose_rounds: PositiveInt
    """The most attempts to pose a question that passes the checks."""
    refinement_rounds: NonNegativeInt
    most_other_answers: NonNegativeInt
    """The most answers of the judge that are added to the ground truth; with more the question is
    not unique."""

    question_words: WordBounds
    ngram_words: Annotated[int, Field(ge=2)]
    most_ngram_share: Share
    """The largest share of the question's n-grams that the article may contain."""
    longest_common_run: PositiveInt
    """The longest run of words that the question may share with the article."""

    main_claim_suffices: bool
    """Whether one correct main claim answers the question in a probe, whatever its F1."""
    most_closed_book_f1: Share
    most_page_f1: Share
    pages_per_question: NonNegativeInt
    page_chars: PositiveInt
    """The most characters of one page that a judge is shown."""

    queries_least: NonNegativeInt
    units_about: NonNegativeInt
    units_tolerance: Share
    """How far a number may be below `units_about`, as a share of it."""
    minutes_above: Annotated[float, Field(ge=0)]

    mirror_hosts: tuple[str, ...]
    mirror_ngram_words: Annotated[int, Field(ge=2)]
    mirror_share: Annotated[PositiveFloat, Field(le=1)]
    banned: tuple[str, ...]
    """What agents must not use; their prompt lists it."""

    @model_validator(mode="after")
    def _consistent(self) -> "InversionSettings":
        if self.properties_at_first > self.least_properties:
            raise ValueError(
                "properties_at_first: expected at most least_properties "
                f"({self.least_properties}); found {self.properties_at_first}"
            )
        return self

    @property
    def units_least(self) -> float:
        """The fewest information units; with fewer a question is too easy."""
        return self.units_about * (1 - self.units_tolerance)

    @property
    def sha(self) -> str:
        """The sha-256 of the settings: part of every question's key."""
        return content_sha(canonical_values(self, exclude={"seed", "source"}))


def load_inversion(configs: ConfigSource = CONFIGS) -> InversionSettings:
    """Load the settings.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    return load_merged("inversion.yaml", InversionSettings, configs)


class DraftingSettings(ConfigModel):
    """The settings of drafting. Shares are 0-1."""

    version: PositiveInt
    source: str

    facts_shown: PositiveInt
    rubrics_wanted: PositiveInt
    rubric_rounds: PositiveInt
    """The most requests for rubrics until enough pass the checks."""
    rubric_words: WordBounds
    most_points: PositiveInt

    keywords_wanted: PositiveInt
    keyword_rounds: PositiveInt
    keyword_words: PositiveInt
    """The most words in a keyword."""

    links_most: PositiveInt
    most_closed_book_share: Share
    """If an answer from memory gets a larger share of the points, the bundle is too easy."""


def load_drafting(configs: ConfigSource = CONFIGS) -> DraftingSettings:
    """Load the settings.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    return load_merged("drafting.yaml", DraftingSettings, configs)

"""How questions are made out of articles: `configs/inversion.yaml`."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from tasks.configuration.loading import CONFIGS, Configured, load
from tasks.warehouse.rows import canonical_values, content_sha

Share = Annotated[float, Field(ge=0, le=1)]


class WordBounds(Configured):
    """How many words a text may have."""

    least: PositiveInt
    most: PositiveInt

    @model_validator(mode="after")
    def _ordered(self) -> "WordBounds":
        if self.least > self.most:
            raise ValueError(f"expected least ≤ most; found {self.least} and {self.most}")
        return self


class InversionSettings(Configured):
    """Bounds of problem inversion. Shares and F1 are 0-1."""

    version: PositiveInt
    """Raise it when a change of code must have articles inverted anew."""
    source: str
    seed: int
    """Decides the order in which articles have their turn."""

    targets_per_article: PositiveInt
    least_properties: PositiveInt
    """Properties that a target must have."""
    properties_at_first: PositiveInt
    """Those that the first question asks by; the others refine it."""
    least_sentence_words: PositiveInt
    """A passage of the article that a claim rests on has at least so many."""

    pose_rounds: PositiveInt
    """Times that a question is posed until it passes the checks."""
    refinement_rounds: NonNegativeInt
    most_other_answers: NonNegativeInt
    """Answers of the judge that may join the ground truth; with more it is not unique."""

    question_words: WordBounds
    ngram_words: Annotated[int, Field(ge=2)]
    most_ngram_share: Share
    """Of the question's n-grams, those that stand in the article."""
    longest_common_run: PositiveInt
    """Words in a row that the question may share with the article."""

    main_claim_suffices: bool
    """Whether a probe that states one main claim has answered the question, whatever its F1."""
    most_closed_book_f1: Share
    most_page_f1: Share
    pages_per_question: NonNegativeInt
    page_chars: PositiveInt
    """What a judge is shown of one page at most."""

    queries_least: NonNegativeInt
    units_about: NonNegativeInt
    units_tolerance: Share
    """How far below `units_about` still is about it, as a share of it."""
    minutes_above: Annotated[float, Field(ge=0)]

    mirror_hosts: tuple[str, ...]
    mirror_ngram_words: Annotated[int, Field(ge=2)]
    mirror_share: Annotated[PositiveFloat, Field(le=1)]
    banned: tuple[str, ...]
    """Said to agents: what they must not use."""

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
        """Information units below which a question is too easy."""
        return self.units_about * (1 - self.units_tolerance)

    @property
    def sha(self) -> str:
        """A part of every question's key: other bounds make other questions."""
        return content_sha(canonical_values(self, exclude={"seed", "source"}))


def load_inversion(configs: Path = CONFIGS) -> InversionSettings:
    """The settings.

    Raises:
        ConfigurationError: the file is missing or malformed; says which key.
    """
    return load(configs / "inversion.yaml", InversionSettings)

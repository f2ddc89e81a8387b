"""How bundles are drafted from articles: `configs/drafting.yaml`."""

from pathlib import Path

from pydantic import PositiveInt

from tasks.configuration.inversion import Share, WordBounds
from tasks.configuration.loading import CONFIGS, Configured, load


class DraftingSettings(Configured):
    """Bounds of drafting. Shares are 0-1."""

    version: PositiveInt
    source: str

    facts_shown: PositiveInt
    rubrics_wanted: PositiveInt
    rubric_rounds: PositiveInt
    """Times that rubrics are asked for until enough stand the checks."""
    rubric_words: WordBounds
    most_points: PositiveInt

    keywords_wanted: PositiveInt
    keyword_rounds: PositiveInt
    keyword_words: PositiveInt
    """In one keyword at most."""

    links_most: PositiveInt
    most_closed_book_share: Share
    """Of the points that an answer from memory gets; with more a bundle is too easy."""


def load_drafting(configs: Path = CONFIGS) -> DraftingSettings:
    """The settings.

    Raises:
        ConfigurationError: the file is missing or malformed; says which key.
    """
    return load(configs / "drafting.yaml", DraftingSettings)

"""`configs/drafting.yaml`: how bundles are drafted from articles."""

from pydantic import PositiveInt

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.inversion import Share, WordBounds
from tasks.configuration.loading import ConfigModel, load_merged


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

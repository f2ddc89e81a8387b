"""`configs/style/words_to_watch.yaml`: words that encyclopedic prose avoids."""

from pathlib import Path

from pydantic import Field

from tasks.configuration.folders import find_file
from tasks.configuration.loading import ConfigModel, load_config

WORDS_FILE = find_file("style/words_to_watch.yaml")


class WordsToWatch(ConfigModel):
    """Words and phrases that encyclopedic prose avoids, by category."""

    guideline: str
    """URL of the guideline that the lists follow."""
    version: int
    categories: dict[str, tuple[str, ...]] = Field(min_length=1)


def load_words_to_watch(path: Path = WORDS_FILE) -> WordsToWatch:
    """Load the lists of words.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    return load_config(path, WordsToWatch)

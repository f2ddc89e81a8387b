"""The words encyclopedic prose avoids, by category."""

from pathlib import Path

from pydantic import Field

from tasks.configuration.loading import CONFIGS, Configured, load

WORDS_FILE = CONFIGS / "style" / "words_to_watch.yaml"


class WordsToWatch(Configured):
    """Words and phrases that encyclopedic prose avoids, by category."""

    guideline: str
    """Address of the guideline the lists follow."""
    version: int
    categories: dict[str, tuple[str, ...]] = Field(min_length=1)


def load_words_to_watch(path: Path = WORDS_FILE) -> WordsToWatch:
    """The lists of words.

    Raises:
        ConfigurationError: the file is missing or malformed; says which key.
    """
    return load(path, WordsToWatch)

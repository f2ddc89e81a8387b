"""`configs/wikipedia.yaml`: which wiki, how politely, and what counts."""

import os
from pathlib import Path

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured, load


class WikiRequests(Configured):
    """How a wiki is asked."""

    most_at_once: PositiveInt = 3
    per_second: PositiveFloat = 1.0
    maxlag_seconds: NonNegativeInt = 5
    tries: PositiveInt = 8
    first_wait_seconds: PositiveFloat = 2.0
    """Doubled each time, with jitter; a server's hint is never undercut."""
    longest_wait_seconds: PositiveFloat = 120.0
    """A server that asks for more means later: the collection stops, and goes on when run again."""
    timeout_seconds: PositiveFloat = 60.0
    largest_answer_bytes: PositiveInt = 64 * 1024 * 1024


class CollectionRules(Configured):
    """Which of the wiki's pages may come into an edition."""

    version: PositiveInt
    margin: PositiveInt = 10
    """Pages in a row beyond an edge of the window that must lie outside it."""
    list_titles: tuple[str, ...] = ()
    list_descriptions: tuple[str, ...] = ()
    """Short descriptions begin so; compared without case."""
    fewest_words: NonNegativeInt = 0


class WikipediaSettings(Configured):
    api_url: str
    operator: str | None = None
    operator_env: str
    good_articles: str
    """The category's title."""
    pageviews_url: str | None = None
    """Null: views are not asked for."""
    pageviews_project: str
    licence: str
    licence_url: str
    window_months: PositiveInt = 6
    articles: PositiveInt = 100
    requests: WikiRequests = WikiRequests()
    rules: CollectionRules

    def named_operator(self) -> str:
        """Who runs this, for the User-Agent.

        Raises:
            ConfigurationError: nobody is named.
        """
        operator = (os.environ.get(self.operator_env) or self.operator or "").strip()
        if not operator:
            raise ConfigurationError(
                f"configs/wikipedia.yaml: `operator` is empty. Wikimedia asks everybody who "
                "collects automatically to say whom to write to: set it to a mail address or a "
                f"page of yours, or set the variable {self.operator_env}."
            )
        if not operator.isprintable() or not operator.isascii():
            raise ConfigurationError(
                "configs/wikipedia.yaml: `operator` goes into an HTTP header: expected one line of "
                f"plain ASCII, found {operator[:60]!r}."
            )
        return operator


def load_wikipedia(configs: Path = CONFIGS) -> WikipediaSettings:
    return load(configs / "wikipedia.yaml", WikipediaSettings)

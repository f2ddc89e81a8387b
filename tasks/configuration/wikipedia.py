"""`configs/wikipedia.yaml`: the wiki, the limits on requests, and the rules for articles; and
`configs/good_article_topics.yaml`: main categories of the topics on talk pages."""

import os
from functools import lru_cache
from typing import Annotated, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.credentials import PlainAddress


class WikiRequests(ConfigModel):
    """Limits on requests to a wiki."""

    most_at_once: PositiveInt = 3
    per_second: PositiveFloat = 1.0
    maxlag_seconds: NonNegativeInt = 5
    tries: PositiveInt = 8
    first_wait_seconds: PositiveFloat = 2.0
    """Doubled each time, with jitter; a server's hint is never undercut."""
    longest_wait_seconds: PositiveFloat = 120.0
    """If a server asks for a longer wait the collection stops; the next run continues it."""
    timeout_seconds: PositiveFloat = 60.0
    largest_answer_bytes: PositiveInt = 64 * 1024 * 1024


class CollectionRules(ConfigModel):
    """The rules for articles of an edition."""

    version: PositiveInt
    margin: PositiveInt = 10
    """Consecutive pages beyond an edge of the window that must be outside it."""
    list_titles: tuple[str, ...] = ()
    list_descriptions: tuple[str, ...] = ()
    """Beginnings of lists' short descriptions, case-insensitive."""
    fewest_words: NonNegativeInt = 0
    machine_written: tuple[str, ...] = Field(default=(), max_length=50)
    """Templates by which editors tag suspected machine-written text; the wiki knows their aliases.
    At most 50, as a request can name no more."""
    reassessment: tuple[str, ...] = ()
    """Templates of a reassessment on talk pages; it is over when their `status` is set."""
    tag_boxes: tuple[str, ...] = ()
    """Templates that hold maintenance tags."""
    not_maintenance: tuple[str, ...] | None = None
    """Templates with a month as `date` that are no maintenance tags; `*` stands for any text. Null:
    tags are not recorded."""


class ExcludedManifest(ConfigModel):
    """The manifest of an edition elsewhere, whose articles are left out."""

    manifest: PlainAddress
    """A file, relative to the current folder, or an address."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Its hash, as `evergreen edition show` prints it."""


class WikipediaSettings(ConfigModel):
    api_url: PlainAddress
    operator: str | None = None
    operator_env: str
    good_articles: str
    """The category's title."""
    pageviews_url: PlainAddress | None = None
    """Null: page views are not requested."""
    pageviews_project: str
    licence: str
    licence_url: str
    window_months: PositiveInt = 6
    articles: PositiveInt = 100
    """The most articles of an edition."""
    fewest_articles: PositiveInt = 6
    """With fewer, or fewer than were asked for, an edition is not frozen."""
    exclude: tuple[ExcludedManifest, ...] = ()
    requests: WikiRequests = WikiRequests()
    rules: CollectionRules

    def get_operator(self) -> str:
        """Return the operator for the User-Agent.

        Raises:
            ConfigurationError: no operator is set, or it cannot be sent.
        """
        operator = (os.environ.get(self.operator_env) or self.operator or "").strip()
        if not operator:
            raise ConfigurationError(
                "configs/wikipedia.yaml: `operator` is empty. Wikimedia requires a contact for "
                "automated requests: set it to an email address or a page of yours, or set the "
                f"variable {self.operator_env}."
            )
        if not operator.isprintable() or not operator.isascii():
            raise ConfigurationError(
                "configs/wikipedia.yaml: `operator` is sent in an HTTP header: expected one line "
                f"of plain ASCII, found {operator[:60]!r}."
            )
        return operator


def load_wikipedia(configs: ConfigSource = CONFIGS) -> WikipediaSettings:
    return load_merged("wikipedia.yaml", WikipediaSettings, configs)


UNKNOWN = "unknown"


class Topics(ConfigModel):
    version: PositiveInt
    categories: dict[str, tuple[str, ...]]
    descriptions: dict[str, str] = Field(default_factory=dict)
    """Category → what belongs to it; judges of writing see it beside the category's name."""

    @model_validator(mode="after")
    def _describe_known_categories(self) -> Self:
        if unknown := sorted(self.descriptions.keys() - self.categories.keys()):
            raise ValueError(f"descriptions: {', '.join(unknown)} is not one of the categories")
        return self


@lru_cache
def _load_topics(configs: ConfigSource) -> Topics:
    return load_merged("good_article_topics.yaml", Topics, configs)


@lru_cache
def _load_categories(configs: ConfigSource) -> dict[str, str]:
    topics = _load_topics(configs).categories
    names = {topic.casefold(): name for name, of_name in topics.items() for topic in of_name}
    return names | {name.casefold(): name for name in topics}


def find_category(topic: str | None, configs: ConfigSource = CONFIGS) -> str:
    """Return the main category of a topic, or UNKNOWN."""
    return _load_categories(configs).get(" ".join((topic or "").casefold().split()), UNKNOWN)


def load_descriptions(configs: ConfigSource = CONFIGS) -> dict[str, str]:
    """Return category → its description, for those that have one."""
    return dict(_load_topics(configs).descriptions)

"""Main categories of good articles, from the topics that talk pages name."""

from functools import lru_cache
from pathlib import Path

from pydantic import PositiveInt

from tasks.configuration.loading import CONFIGS, Configured, load

UNKNOWN = "unknown"


class Topics(Configured):
    version: PositiveInt
    categories: dict[str, tuple[str, ...]]


@lru_cache
def _categories(configs: Path) -> dict[str, str]:
    found = load(configs / "good_article_topics.yaml", Topics).categories
    names = {topic.casefold(): name for name, topics in found.items() for topic in topics}
    return names | {name.casefold(): name for name in found}


def category_of(topic: str | None, configs: Path = CONFIGS) -> str:
    """The main category of a topic; UNKNOWN where it is none of them."""
    return _categories(configs).get(" ".join((topic or "").casefold().split()), UNKNOWN)

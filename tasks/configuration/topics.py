"""`configs/good_article_topics.yaml`: main categories of the topics on talk pages."""

from functools import lru_cache
from pathlib import Path

from pydantic import PositiveInt

from tasks.configuration.loading import CONFIGS, ConfigModel, load_config

UNKNOWN = "unknown"


class Topics(ConfigModel):
    version: PositiveInt
    categories: dict[str, tuple[str, ...]]


@lru_cache
def _load_categories(configs: Path) -> dict[str, str]:
    topics = load_config(configs / "good_article_topics.yaml", Topics).categories
    names = {topic.casefold(): name for name, of_name in topics.items() for topic in of_name}
    return names | {name.casefold(): name for name in topics}


def find_category(topic: str | None, configs: Path = CONFIGS) -> str:
    """Return the main category of a topic, or UNKNOWN."""
    return _load_categories(configs).get(" ".join((topic or "").casefold().split()), UNKNOWN)

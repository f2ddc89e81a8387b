"""`configs/good_article_topics.yaml`: main categories of the topics on talk pages."""

from functools import lru_cache
from typing import Self

from pydantic import Field, PositiveInt, model_validator

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged

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

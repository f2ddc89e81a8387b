"""Writing criteria, weighted criteria by dimension for articles without criteria of their own, and
words that encyclopedic prose avoids.

Writing criteria come from this project's file or any file in the published layout: both are lists
of categories. The published layout nests some criteria in subcategories, whose descriptions are
ignored.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, StringConstraints

from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import ConfigModel, check_unique, load_config

OWN_CRITERIA = {
    "short": "criteria/wikipedia_good_article.yaml",
    "full": "criteria/wikipedia_good_article_full.yaml",
}
"""The 39 criteria as in the published repository's file, and as in the paper's tables."""


class _Lenient(BaseModel):
    # A published file may have more fields than we need.
    model_config = ConfigDict(frozen=True, extra="ignore")


class WritingCriterion(_Lenient):
    id: str
    """The published id, e.g. `ww_cc_1`."""
    index: int
    text: str
    guideline: str | None = None
    """URL of the Wikipedia guideline behind it."""


class _Subcategory(_Lenient):
    criteria: tuple[WritingCriterion, ...] = ()


class CriteriaCategory(_Lenient):
    id: str
    name: str = ""
    """Its name for the judge; its id unless given."""
    description: str = ""
    criteria: tuple[WritingCriterion, ...] = ()
    subcategories: tuple[_Subcategory, ...] = ()

    @property
    def all_criteria(self) -> tuple[WritingCriterion, ...]:
        """Its own and nested criteria, by index."""
        nested = [c for sub in self.subcategories for c in sub.criteria]
        return tuple(sorted((*self.criteria, *nested), key=lambda criterion: criterion.index))


class WritingCriteria(_Lenient):
    name: str
    version: str | int
    categories: tuple[CriteriaCategory, ...] = Field(min_length=1)


def load_criteria(file: str, configs: ConfigSource = CONFIGS) -> WritingCriteria:
    """Load the criteria called `file`: `short`, `full`, or a path (absolute, or relative to
    `configs/`).

    Raises:
        ConfigurationError: the file cannot be read or is invalid, or an id is used twice.
    """
    path = find_file(OWN_CRITERIA.get(file, file), configs)
    criteria = load_config(path, WritingCriteria)
    check_unique(path, [c.id for of in criteria.categories for c in of.all_criteria])
    return criteria


Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class WeightedCriterion(ConfigModel):
    id: Id
    weight: PositiveFloat
    """The weight within its dimension."""
    text: str


class WeightedDimension(ConfigModel):
    id: Id
    weight: PositiveFloat
    criteria: tuple[WeightedCriterion, ...] = Field(min_length=1)


class WeightedCriteria(ConfigModel):
    name: str
    dimensions: tuple[WeightedDimension, ...] = Field(min_length=1)


def load_weighted_criteria(file: str, configs: ConfigSource = CONFIGS) -> WeightedCriteria:
    """Load the criteria in `file`, a path relative to `configs/` or an absolute one.

    Raises:
        ConfigurationError: the file cannot be read or is invalid, or an id is used twice.
    """
    path = find_file(file, configs)
    loaded = load_config(path, WeightedCriteria)
    check_unique(path, [dimension.id for dimension in loaded.dimensions])
    check_unique(path, [c.id for dimension in loaded.dimensions for c in dimension.criteria])
    return loaded


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

"""Weighted criteria by dimension, for articles without criteria of their own."""

from typing import Annotated

from pydantic import Field, PositiveFloat, StringConstraints

from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import ConfigModel, check_unique, load_config

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

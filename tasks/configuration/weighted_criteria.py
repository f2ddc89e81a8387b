"""Weighted criteria by dimensions, for articles that come without criteria of their own."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, PositiveFloat, StringConstraints

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured, load

Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class WeightedCriterion(Configured):
    id: Id
    weight: PositiveFloat
    """Within its dimension."""
    text: str


class WeightedDimension(Configured):
    id: Id
    weight: PositiveFloat
    criteria: tuple[WeightedCriterion, ...] = Field(min_length=1)


class WeightedCriteria(Configured):
    name: str
    dimensions: tuple[WeightedDimension, ...] = Field(min_length=1)


def load_weighted_criteria(file: str, configs: Path = CONFIGS) -> WeightedCriteria:
    """The criteria in `file`: a path relative to `configs/`, or an absolute one.

    Raises:
        ConfigurationError: unreadable, not such a file, or with an id used twice.
    """
    path = configs / file
    found = load(path, WeightedCriteria)
    dimensions = [dimension.id for dimension in found.dimensions]
    criteria = [criterion.id for dimension in found.dimensions for criterion in dimension.criteria]
    for ids in (dimensions, criteria):
        if twice := sorted({each for each in ids if ids.count(each) > 1}):
            raise ConfigurationError(f"{path}: ids used twice: {', '.join(twice)}.")
    return found

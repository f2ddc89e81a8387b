"""Writing criteria: this project's file, or any file in the published layout.

Both are lists of categories; the published one nests some criteria in subcategories and
carries descriptions, which are read past.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, load


class _Lenient(BaseModel):
    # A file somebody else published may say more than we need.
    model_config = ConfigDict(frozen=True, extra="ignore")


class WritingCriterion(_Lenient):
    id: str
    """The published id, e.g. `ww_cc_1`."""
    index: int
    text: str
    guideline: str | None = None
    """Address of the Wikipedia guideline it rests on."""


class _Subcategory(_Lenient):
    criteria: tuple[WritingCriterion, ...] = ()


class CriteriaCategory(_Lenient):
    id: str
    criteria: tuple[WritingCriterion, ...] = ()
    subcategories: tuple[_Subcategory, ...] = ()

    @property
    def all_criteria(self) -> tuple[WritingCriterion, ...]:
        """Own and nested criteria in the order of their index."""
        nested = [c for sub in self.subcategories for c in sub.criteria]
        return tuple(sorted((*self.criteria, *nested), key=lambda criterion: criterion.index))


class WritingCriteria(_Lenient):
    name: str
    version: str | int
    categories: tuple[CriteriaCategory, ...] = Field(min_length=1)


def load_criteria(file: str, configs: Path = CONFIGS) -> WritingCriteria:
    """The criteria in `file`: a path relative to `configs/`, or an absolute one.

    Raises:
        ConfigurationError: unreadable, not a criteria file, or with an id used twice.
    """
    path = configs / file
    criteria = load(path, WritingCriteria)
    ids = [c.id for category in criteria.categories for c in category.all_criteria]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise ConfigurationError(f"{path}: criterion ids used twice: {', '.join(twice)}.")
    return criteria

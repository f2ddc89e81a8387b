"""Own rubrics: YAML files that work as protocols, without code."""

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt, StringConstraints, model_validator

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, list_files
from tasks.configuration.loading import ConfigModel, find_repeated, load_config

RUBRIC_SUFFIXES = (".yaml", ".yml")
RUBRICS_VARIABLE = "EVERGREEN_RUBRICS"
"""The environment variable that lists rubric files, as PATH lists folders."""
GRADE, KEY_POINT = "grade", "key_point"
OVERALL = "score"
"""The overall metric; no dimension may have this name."""
STYLE_FIGURES = (
    "words", "lead_words", "lead_share", "sections", "section_depth", "citations_per_100_words",
    "flesch", "words_to_watch",
)  # fmt: skip
"""Style figures that an item may set bounds for; see `tasks.metrics.style.measure_style`."""
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,59}", re.ASCII)


def _validate_check(name: str) -> str:
    if name not in (GRADE, KEY_POINT, *STYLE_FIGURES):
        raise ValueError(f"expected one of {', '.join((GRADE, KEY_POINT, *STYLE_FIGURES))}")
    return name


Check = Annotated[str, AfterValidator(_validate_check)]
ItemId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,80}$")]
DimensionId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
Bound = Annotated[float, Field(strict=True, allow_inf_nan=False)]
ValueNumber = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=-1_000, le=1_000, multiple_of=0.001)
]


class ItemEntry(ConfigModel):
    """One item of a rubric."""

    id: ItemId
    text: Text
    """The requirement; for a key point, a sentence that the report should support."""
    check: Check = GRADE
    """How to judge the item: `grade` (a model gives an allowed value), `key_point` (any judge: does
    the report support the sentence?), or a style figure such as `flesch`, without a judge."""
    allowed: tuple[ValueNumber, ...] = Field(default=(0, 1), min_length=2, max_length=20)
    """The values that a model may give; the lowest is worth nothing, the highest the full
    weight."""
    instructions: str = Field(default="", max_length=4_000)
    """Instructions to the model on judging this item."""
    at_least: Bound | None = None
    at_most: Bound | None = None
    """The bounds for a style figure."""
    weight: float = Field(default=1, strict=True, gt=0, le=1_000_000)
    dimension: DimensionId | None = None

    @model_validator(mode="after")
    def _fits_its_check(self) -> "ItemEntry":
        if self.check != GRADE and {"allowed", "instructions"} & self.model_fields_set:
            raise ValueError("`allowed` and `instructions` are for items that a model grades")
        low, high = self.at_least, self.at_most
        bounds = low is not None or high is not None
        if bounds != (self.check in STYLE_FIGURES):
            raise ValueError("a style figure needs `at_least` or `at_most`; other items have none")
        if low is not None and high is not None and low > high:
            raise ValueError(f"no report has at least {low:g} and at most {high:g}")
        if self.dimension == OVERALL:
            raise ValueError(
                f"`dimension` {OVERALL!r} is the name of the overall score; choose another"
            )
        if len({*self.allowed}) < len(self.allowed):
            raise ValueError("`allowed` has a value twice")
        return self


class RubricEntry(ConfigModel):
    """A whole rubric."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    assignments: Literal["articles", "research", "both"] = "both"
    """The reports it judges: articles, or reports on research queries."""
    items_per_call: PositiveInt = Field(default=20, le=200)
    """Graded items in one call."""
    items: tuple[ItemEntry, ...] = Field(min_length=1, max_length=2_000)

    @model_validator(mode="after")
    def _has_different_ids(self) -> "RubricEntry":
        if twice := find_repeated([item.id for item in self.items]):
            raise ValueError(f"ids used twice: {', '.join(twice[:5])}")
        return self

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions, in the order of the items."""
        return tuple(dict.fromkeys(item.dimension for item in self.items if item.dimension))


def load_rubric(file: Path) -> RubricEntry:
    """Load a rubric.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    return load_config(file, RubricEntry)


def list_rubric_files() -> list[Path]:
    """Return the files that EVERGREEN_RUBRICS lists, whether or not they exist."""
    return [Path(each) for each in os.environ.get(RUBRICS_VARIABLE, "").split(os.pathsep) if each]


def list_rubric_names() -> list[str]:
    """Return the names of the rubrics in EVERGREEN_RUBRICS and `configs/rubrics`."""
    files = [*list_rubric_files(), *list_files("rubrics", RUBRIC_SUFFIXES).values()]
    return sorted({file.stem for file in files})


def find_rubric_file(name: str, configs: ConfigSource = CONFIGS) -> Path | None:
    """Find the file of the rubric `name`, in EVERGREEN_RUBRICS or `configs/rubrics`; else None."""
    if not _NAME.fullmatch(name):
        return None
    own = list_files("rubrics", RUBRIC_SUFFIXES, configs).values()
    found = (file for file in (*list_rubric_files(), *own) if file.stem == name and file.is_file())
    return next(found, None)


def register_rubric(file: Path, taken: Collection[str]) -> str:
    """Register a rubric so that `find_rubric_file` finds it, also in child processes, and return
    its name.

    Raises:
        ConfigurationError: the file is not a rubric, or its name is invalid or already in use.
    """
    name = file.stem
    if not _NAME.fullmatch(name) or name in taken:
        problem = "is a built-in protocol's" if name in taken else "cannot be a protocol's"
        raise ConfigurationError(
            f"{file}: the name {name[:80]!r} {problem}. Rename the file: letters, digits, - and _, "
            "60 at most."
        )
    load_rubric(file)
    whole = file.resolve()
    before = find_rubric_file(name)
    if before is not None and before.resolve() != whole:
        raise ConfigurationError(
            f"{file}: {before} is a rubric with the same name, so their scores would replace each "
            "other. Rename one of them."
        )
    if before is None:
        if os.pathsep in str(whole):
            raise ConfigurationError(f"{file}: its path contains {os.pathsep!r}. Move the file.")
        os.environ[RUBRICS_VARIABLE] = os.pathsep.join(
            filter(None, (os.environ.get(RUBRICS_VARIABLE), str(whole)))
        )
    return name

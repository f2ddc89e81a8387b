"""A rubric of one's own: a YAML file that is a protocol, without code."""

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt, StringConstraints, model_validator

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured, load

RUBRIC_SUFFIXES = (".yaml", ".yml")
FILES = "EVERGREEN_RUBRICS"
"""The environment variable that lists files of rubrics, as PATH lists folders."""
GRADE, KEY_POINT = "grade", "key_point"
OVERALL = "score"
"""What all items make together: no dimension's name."""
STYLE_FIGURES = (
    "words", "lead_words", "lead_share", "sections", "section_depth", "citations_per_100_words",
    "flesch", "words_to_watch",
)  # fmt: skip
"""Of a report's text, that an item may set bounds to; see `tasks.metrics.style.diagnose`."""
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,59}", re.ASCII)


def _known_check(name: str) -> str:
    if name not in (GRADE, KEY_POINT, *STYLE_FIGURES):
        raise ValueError(f"expected one of {', '.join((GRADE, KEY_POINT, *STYLE_FIGURES))}")
    return name


Check = Annotated[str, AfterValidator(_known_check)]
ItemId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,80}$")]
DimensionId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
Bound = Annotated[float, Field(strict=True, allow_inf_nan=False)]
ValueNumber = Annotated[
    float, Field(strict=True, allow_inf_nan=False, ge=-1_000, le=1_000, multiple_of=0.001)
]


class ItemEntry(Configured):
    """One thing a report is checked for."""

    id: ItemId
    text: Text
    """What is asked of the report; for a key point, a sentence that it should support."""
    check: Check = GRADE
    """What decides: `grade` (a model, by the allowed values), `key_point` (any judge: does the
    report support the sentence?), or a style figure, e.g. `flesch`, that needs no judge."""
    allowed: tuple[ValueNumber, ...] = Field(default=(0, 1), min_length=2, max_length=20)
    """What a model may give; lowest and highest are worth nothing and all of the weight."""
    instructions: str = Field(default="", max_length=4_000)
    """To the model, how this item is to be judged."""
    at_least: Bound | None = None
    at_most: Bound | None = None
    """Of a style figure."""
    weight: float = Field(default=1, strict=True, gt=0, le=1_000_000)
    dimension: DimensionId | None = None

    @model_validator(mode="after")
    def _fits_its_check(self) -> "ItemEntry":
        if self.check != GRADE and {"allowed", "instructions"} & self.model_fields_set:
            raise ValueError("`allowed` and `instructions` are for items that a model grades")
        low, high = self.at_least, self.at_most
        bounds = low is not None or high is not None
        if bounds != (self.check in STYLE_FIGURES):
            raise ValueError("`at_least` and `at_most` belong to a style figure, at least one")
        if low is not None and high is not None and low > high:
            raise ValueError(f"no report has at least {low:g} and at most {high:g}")
        if self.dimension == OVERALL:
            raise ValueError(
                f"`dimension` {OVERALL!r} is what the overall score is called; name it otherwise"
            )
        if len({*self.allowed}) < len(self.allowed):
            raise ValueError("`allowed` has a value twice")
        return self


class RubricEntry(Configured):
    """A rubric as a whole."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    assignments: Literal["articles", "research", "both"] = "both"
    """Which reports it is for: articles that were to be written, answers to research queries."""
    items_per_call: PositiveInt = Field(default=20, le=200)
    """Graded items that a model is asked about at once."""
    items: tuple[ItemEntry, ...] = Field(min_length=1, max_length=2_000)

    @model_validator(mode="after")
    def _has_different_ids(self) -> "RubricEntry":
        ids = [item.id for item in self.items]
        if twice := sorted({each for each in ids if ids.count(each) > 1}):
            raise ValueError(f"ids used twice: {', '.join(twice[:5])}")
        return self

    @property
    def dimensions(self) -> tuple[str, ...]:
        """In the order in which the items name them."""
        return tuple(dict.fromkeys(item.dimension for item in self.items if item.dimension))


def load_rubric(file: Path) -> RubricEntry:
    """A rubric's file.

    Raises:
        ConfigurationError: naming the file, the key and what was expected there.
    """
    return load(file, RubricEntry)


def listed_files() -> list[Path]:
    """The files that EVERGREEN_RUBRICS lists, whether or not they are there."""
    return [Path(each) for each in os.environ.get(FILES, "").split(os.pathsep) if each]


def rubric_file(name: str, configs: Path = CONFIGS) -> Path | None:
    """Where the rubric `name` lies: among the files of EVERGREEN_RUBRICS, or in
    `configs/rubrics`; None: there is none."""
    if not _NAME.fullmatch(name):
        return None
    own = [configs / "rubrics" / f"{name}{suffix}" for suffix in RUBRIC_SUFFIXES]
    found = (file for file in (*listed_files(), *own) if file.stem == name and file.is_file())
    return next(found, None)


def remember(file: Path, taken: Collection[str], configs: Path = CONFIGS) -> str:
    """The name of a rubric's file, by which `rubric_file` finds it from now on, also in processes
    that are started by this one.

    Raises:
        ConfigurationError: it is no rubric, or its name cannot be a protocol's, or is one's.
    """
    name = file.stem
    if not _NAME.fullmatch(name) or name in taken:
        said = "is a built-in protocol's" if name in taken else "cannot be a protocol's"
        raise ConfigurationError(
            f"{file}: the name {name[:80]!r} {said}. Rename the file: letters, digits, - and _, "
            "60 at most."
        )
    load_rubric(file)
    whole = file.resolve()
    before = rubric_file(name, configs)
    if before is not None and before.resolve() != whole:
        raise ConfigurationError(
            f"{file}: {before} is a rubric of the same name; their scores would replace each "
            "other. Rename one of them."
        )
    if before is None:
        if os.pathsep in str(whole):
            raise ConfigurationError(f"{file}: its path holds {os.pathsep!r}. Move the file.")
        os.environ[FILES] = os.pathsep.join(filter(None, (os.environ.get(FILES), str(whole))))
    return name

"""The base classes of all reply forms, and texts that are cleaned as they are parsed."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from tasks.judges.text import collapse_whitespace

MAX_CHARS = 2_000
"""Longer texts are no name, value or question: they are cut, and then fail the checks."""
MAX_ITEMS = 50
"""Items of a list in an answer; further ones are ignored."""


class ReplyModel(BaseModel):
    """A part of a reply. Extra keys are ignored, but the schema does not allow them."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )


ResultT = TypeVar("ResultT", bound=ReplyModel)
ItemT = TypeVar("ItemT")


class ItemResults(ReplyModel, Generic[ResultT]):
    """A reply with a result for each item that was asked for."""

    results: list[ResultT]


def clean_line(text: str) -> str:
    """Return a model's text on one line, cut to MAX_CHARS."""
    return collapse_whitespace(text)[:MAX_CHARS]


def _clean_lines(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the cleaned lines without empty and duplicate ones."""
    lines = (clean_line(text) for text in texts[:MAX_ITEMS])
    return tuple(dict.fromkeys(line for line in lines if line))


Line = Annotated[str, AfterValidator(clean_line)]
Lines = Annotated[tuple[str, ...], AfterValidator(_clean_lines)]
Limited = Annotated[tuple[ItemT, ...], AfterValidator(lambda items: items[:MAX_ITEMS])]

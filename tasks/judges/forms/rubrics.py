"""Reply forms for grading rubric items and keywords.

Models write keys in the schema's alphabetical order: evidence and reason come before the score.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from tasks.judges.forms.form import ReplyModel

MAX_VALUE = 1_000_000
"""Bound of the absolute value of a score; see `ItemValue` in `judges.research`."""


def _as_text(value: object) -> object:
    """Return a number as text: models without an enforced schema write 1 for "1"."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_VALUE:
        return f"{value + 0:g}"
    return value.strip() if isinstance(value, str) else value


class ItemGrade(ReplyModel):
    evidence: str
    """Sentences quoted from the report; may be empty."""
    item: str
    """The item's id, or its text if the request echoes texts."""
    reason: str
    score: Annotated[str, BeforeValidator(_as_text)]
    """One of the item's allowed values."""


class ItemGrades(ReplyModel):
    results: list[ItemGrade]


RUBRIC_FORMS: tuple[type[ReplyModel], ...] = (ItemGrades,)


class KeywordRating(ReplyModel):
    keyword: int
    """The keyword's number, 1-based."""
    reason: str
    score: Literal["1", "2", "3", "4", "5"]


class KeywordRatings(ReplyModel):
    results: list[KeywordRating]


KEYWORD_FORMS: tuple[type[ReplyModel], ...] = (KeywordRatings,)

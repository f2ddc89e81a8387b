"""The form in which models grade the items of a rubric.

Models write keys in the alphabetical order of the schema: evidence and reason come before what
they are for.
"""

from typing import Annotated

from pydantic import BeforeValidator

from tasks.judges.forms.form import ReplyModel

MOST = 1_000_000
"""Of a value, either way; see ItemValue of the decisions."""


def _as_text(value: object) -> object:
    """A number as values are written: models that are held to no schema say 1 for "1"."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST:
        return f"{value + 0:g}"
    return value.strip() if isinstance(value, str) else value


class ItemGrade(ReplyModel):
    evidence: str
    """Sentences of the report, word for word; empty where there are none."""
    item: str
    """Its id; where texts are echoed, its text."""
    reason: str
    score: Annotated[str, BeforeValidator(_as_text)]
    """One of the item's allowed values."""


class ItemGrades(ReplyModel):
    results: list[ItemGrade]


RUBRIC_FORMS: tuple[type[ReplyModel], ...] = (ItemGrades,)

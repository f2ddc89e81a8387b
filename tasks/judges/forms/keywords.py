"""Reply form for rating keywords; keys come in alphabetical order, the reason first."""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class KeywordRating(ReplyModel):
    keyword: int
    """The keyword's number, 1-based."""
    reason: str
    score: Literal["1", "2", "3", "4", "5"]


class KeywordRatings(ReplyModel):
    results: list[KeywordRating]


KEYWORD_FORMS: tuple[type[ReplyModel], ...] = (KeywordRatings,)

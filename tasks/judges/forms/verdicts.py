"""Reply forms for decisions: a result for each item that was asked for.

Models write keys in the schema's alphabetical order: evidence, passage and reason come before the
verdict.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict

from tasks.judges.forms.form import ItemResults, Line, ReplyModel

MAX_VALUE = 1_000_000
"""Bound of the absolute value of a score; see `ItemValue` in `judges.research`."""


class ClaimVerdict(ReplyModel):
    item: int
    reason: str
    evidence: list[int]
    """1-based numbers of the evidence behind the verdict."""
    verdict: Literal["consistent", "inconsistent", "not_support"]


class PageVerdict(ReplyModel):
    statement: int
    reason: str
    passage: str
    """Quoted from the page; empty if nothing supports or contradicts."""
    verdict: Literal["support", "not_support", "conflict"]


class CitationVerdict(ReplyModel):
    passage: str
    """Quoted from the page; empty if it has nothing of the statement."""
    reason: str
    statement: int
    verdict: Literal["supported", "unsupported", "unknown"]


class SupportVerdict(ReplyModel):
    statement: int
    passage: str
    """Quoted from the pages; empty if nothing supports the claim."""
    reason: str
    verdict: Literal["full", "partial", "none"]


class PointVerdict(ReplyModel):
    passage: str
    """Quoted from the report; empty if the point is omitted."""
    point: int
    reason: str
    verdict: Literal["supported", "omitted", "contradicted"]


class CriterionVerdict(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2"]


class CriterionVerdictOrTie(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2", "tie"]


class PairScore(ReplyModel):
    # Scores must be finite numbers; "7" and true are not accepted.
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    criterion: str
    reason: str
    score_1: float
    """Score of article 1, 0 to 10."""
    score_2: float


class Rating(ReplyModel):
    criterion: str
    reason: str
    score: Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]


class ClaimMatch(ReplyModel):
    claim: int
    reason: str
    truth: int
    """1-based number of the true claim that it states; 0 if it states none."""


class ValueGrade(ReplyModel):
    item: int
    reason: str
    score: Literal["0", "1", "2", "3"]


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


class KeywordRating(ReplyModel):
    keyword: int
    """The keyword's number, 1-based."""
    reason: str
    score: Literal["1", "2", "3", "4", "5"]


class RubricVerdict(ReplyModel):
    reason: Line
    rubric: int
    """The rubric's number, 1-based."""
    verdict: Literal["keep", "drop"]


ClaimVerdicts = ItemResults[ClaimVerdict]
PageVerdicts = ItemResults[PageVerdict]
CitationVerdicts = ItemResults[CitationVerdict]
SupportVerdicts = ItemResults[SupportVerdict]
PointVerdicts = ItemResults[PointVerdict]
CriterionVerdicts = ItemResults[CriterionVerdict]
CriterionVerdictsOrTies = ItemResults[CriterionVerdictOrTie]
PairScores = ItemResults[PairScore]
Ratings = ItemResults[Rating]
ClaimMatches = ItemResults[ClaimMatch]
ValueGrades = ItemResults[ValueGrade]
ItemGrades = ItemResults[ItemGrade]
KeywordRatings = ItemResults[KeywordRating]
RubricVerdicts = ItemResults[RubricVerdict]

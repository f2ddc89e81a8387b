"""Reply forms for verifying claims and comparing articles (Wiki Live Challenge)."""

from typing import Literal

from tasks.judges.forms.form import ReplyModel


class ClaimVerdict(ReplyModel):
    item: int
    reason: str
    evidence: list[int]
    """1-based numbers of the evidence behind the verdict."""
    verdict: Literal["consistent", "inconsistent", "not_support"]


class ClaimVerdicts(ReplyModel):
    results: list[ClaimVerdict]


class PageVerdict(ReplyModel):
    statement: int
    reason: str
    passage: str
    """Quoted from the page; empty if nothing supports or contradicts."""
    verdict: Literal["support", "not_support", "conflict"]


class PageVerdicts(ReplyModel):
    results: list[PageVerdict]


class CriterionVerdict(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2"]


class CriterionVerdicts(ReplyModel):
    results: list[CriterionVerdict]


class CriterionVerdictOrTie(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2", "tie"]


class CriterionVerdictsOrTies(ReplyModel):
    results: list[CriterionVerdictOrTie]

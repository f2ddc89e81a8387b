"""Reply forms for checking citations (FACT) and scoring two articles (RACE).

Models write keys in the schema's alphabetical order: passage and reason come before the verdict.
"""

from typing import Literal

from pydantic import ConfigDict

from tasks.judges.forms.form import ReplyModel


class CitationVerdict(ReplyModel):
    passage: str
    """Quoted from the page; empty if it has nothing of the statement."""
    reason: str
    statement: int
    verdict: Literal["supported", "unsupported", "unknown"]


class CitationVerdicts(ReplyModel):
    results: list[CitationVerdict]


class PairScore(ReplyModel):
    # Scores must be finite numbers; "7" and true are not accepted.
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    criterion: str
    reason: str
    score_1: float
    """Score of article 1, 0 to 10."""
    score_2: float


class PairScores(ReplyModel):
    results: list[PairScore]

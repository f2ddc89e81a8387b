"""The forms in which models check citations (FACT) and score two articles (RACE).

Models write keys in the alphabetical order of the schema: passage and reason come before what
they are for.
"""

from typing import Literal

from pydantic import ConfigDict

from tasks.judges.forms.form import ReplyModel


class CitationVerdict(ReplyModel):
    passage: str
    """Word for word from the page; empty where it holds nothing of the statement."""
    reason: str
    statement: int
    verdict: Literal["supported", "unsupported", "unknown"]


class CitationVerdicts(ReplyModel):
    results: list[CitationVerdict]


class PairScore(ReplyModel):
    # Neither "7" nor true is a score, nor what is no finite number.
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    criterion: str
    reason: str
    score_1: float
    """Of article 1, 0 to 10."""
    score_2: float


class PairScores(ReplyModel):
    results: list[PairScore]

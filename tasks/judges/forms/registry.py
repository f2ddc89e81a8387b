"""The reply forms of each protocol."""

from tasks.judges.drafting import DraftedKeywords
from tasks.judges.forms.form import ReplyModel
from tasks.judges.forms.schemas import render_schema
from tasks.judges.forms.steps import (
    ReplyAlternatives,
    ReplyAnswers,
    ReplyClaims,
    ReplyFacts,
    ReplyMergedPoints,
    ReplyPoints,
    ReplyQuestion,
    ReplyReport,
    ReplyRubrics,
    ReplyTargets,
)
from tasks.judges.forms.verdicts import (
    CitationVerdicts,
    ClaimMatches,
    ClaimVerdicts,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    ItemGrades,
    KeywordRatings,
    PageVerdicts,
    PairScores,
    PointVerdicts,
    Ratings,
    RubricVerdicts,
    SupportVerdicts,
    ValueGrades,
)
from tasks.judges.inversion import Effort
from tasks.warehouse.rows import content_sha

FORMS: dict[str, tuple[type[ReplyModel], ...]] = {
    "wiki_fact": (ClaimVerdicts, PageVerdicts),
    "wiki_writing": (CriterionVerdicts, CriterionVerdictsOrTies),
    "extraction": (ReplyFacts, ReplyClaims),
    "research_extraction": (ReplyClaims,),
    "claim_discovery": (ClaimMatches, ValueGrades),
    "rubric_bench": (ItemGrades,),
    "rigorous": (ItemGrades, KeywordRatings),
    "own_rubric": (ItemGrades, PointVerdicts),
    "race": (PairScores,),
    "fact": (CitationVerdicts,),
    "inversion": (ReplyTargets, ReplyQuestion, ReplyAlternatives, ReplyAnswers, Effort),
    "drafting": (ReplyRubrics, RubricVerdicts, DraftedKeywords, ReplyReport),
    "research_gym": (PointVerdicts, SupportVerdicts, Ratings),
    "key_points": (ReplyPoints, ReplyMergedPoints),
}
"""The reply forms of each protocol's steps."""


def forms_sha(protocol: str) -> str:
    """Return the sha of a protocol's forms: part of every prompt sha, as forms change requests."""
    return content_sha(*(render_schema(form) for form in FORMS.get(protocol, ())))

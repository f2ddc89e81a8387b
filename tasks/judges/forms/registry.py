"""The reply forms of each protocol."""

from tasks.judges.forms.claims import CLAIM_FORMS
from tasks.judges.forms.deepresearch import CitationVerdicts, PairScores
from tasks.judges.forms.drafting import DRAFTING_FORMS
from tasks.judges.forms.extraction import ReplyClaims, ReplyFacts
from tasks.judges.forms.form import ReplyModel
from tasks.judges.forms.inversion import INVERSION_FORMS
from tasks.judges.forms.points import KEY_POINT_FORMS, PointVerdicts, Ratings, SupportVerdicts
from tasks.judges.forms.rubrics import KEYWORD_FORMS, RUBRIC_FORMS
from tasks.judges.forms.schemas import render_schema
from tasks.judges.forms.wiki import (
    ClaimVerdicts,
    CriterionVerdicts,
    CriterionVerdictsOrTies,
    PageVerdicts,
)
from tasks.warehouse.rows import content_sha

FORMS: dict[str, tuple[type[ReplyModel], ...]] = {
    "wiki_fact": (ClaimVerdicts, PageVerdicts),
    "wiki_writing": (CriterionVerdicts, CriterionVerdictsOrTies),
    "extraction": (ReplyFacts, ReplyClaims),
    "claim_discovery": CLAIM_FORMS,
    "rubric_bench": RUBRIC_FORMS,
    "rigorous": (*RUBRIC_FORMS, *KEYWORD_FORMS),
    "own_rubric": (*RUBRIC_FORMS, PointVerdicts),
    "race": (PairScores,),
    "fact": (CitationVerdicts,),
    "inversion": INVERSION_FORMS,
    "drafting": DRAFTING_FORMS,
    "research_gym": (PointVerdicts, SupportVerdicts, Ratings),
    "key_points": KEY_POINT_FORMS,
}
"""The reply forms of each protocol's steps."""


def forms_sha(protocol: str) -> str:
    """Return the sha of a protocol's forms: part of every prompt sha, as forms change requests."""
    return content_sha(*(render_schema(form) for form in FORMS.get(protocol, ())))

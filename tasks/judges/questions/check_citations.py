"""Does a page hold what the claims that cite it say?"""

from typing import ClassVar, Literal

from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.questions.page_questions import verify_statements
from tasks.judges.replies import ItemResults, ReplyModel


class CitationVerdict(ReplyModel):
    passage: str
    """Quoted from the page; empty if it has nothing of the statement."""
    reason: str
    statement: int
    verdict: Literal["supported", "unsupported", "unknown"]


class CheckCitations(DecisionRequest):
    """Does the page hold what the claims that cite it say? Labels: `supported` (all or a part of
    it), `unsupported` (nothing), `unknown` (the page has no content to judge by). Source:
    DeepResearch Bench, FACT; in other protocols a part counts as nothing or as half."""

    action: ClassVar[str] = "check citations"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[CitationVerdict],)

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "fact/check_citations"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        return await verify_statements(model, self)

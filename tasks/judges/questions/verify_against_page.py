"""Does a page support each claim that cites it?"""

from typing import ClassVar, Literal

from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.questions.page_questions import verify_statements
from tasks.judges.replies import ItemResults, ReplyModel


class PageVerdict(ReplyModel):
    statement: int
    reason: str
    passage: str
    """Quoted from the page; empty if nothing supports or contradicts."""
    verdict: Literal["support", "not_support", "conflict"]


class VerifyAgainstPage(DecisionRequest):
    """Does the page support each claim that cites it? Labels: support, not_support, conflict."""

    action: ClassVar[str] = "verify claims against a page"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[PageVerdict],)

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "wiki_fact/verify_against_page"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        return await verify_statements(model, self)

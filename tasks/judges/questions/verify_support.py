"""How far do all cited pages together support each claim?"""

from typing import ClassVar, Literal

from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.questions.page_questions import verify_statements
from tasks.judges.replies import ItemResults, ReplyModel


class SupportVerdict(ReplyModel):
    statement: int
    passage: str
    """Quoted from the pages; empty if nothing supports the claim."""
    reason: str
    verdict: Literal["full", "partial", "none"]


class VerifySupport(DecisionRequest):
    """How far do the cited pages, taken together, support each claim? Labels: `full` (all key
    aspects), `partial`, `none`. Source: DeepResearchGym, citation precision."""

    action: ClassVar[str] = "grade the support of claims"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[SupportVerdict],)

    claims: tuple[str, ...]
    """Claims that cite exactly these pages."""
    pages: tuple[str, ...]
    """Their texts, without URLs."""
    prompt: str = "research_gym/verify_support"

    @property
    def page(self) -> str:
        """All pages as one text."""
        return "\n\n".join(self.pages)

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        return await verify_statements(model, self)

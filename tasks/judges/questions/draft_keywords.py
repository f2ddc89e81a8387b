"""Which words must a report on a subject cover?"""

from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.questions.draft_rubrics import number_facts
from tasks.judges.replies import Lines, ReplyModel


class DraftedKeywords(ReplyModel):
    """Keywords that a report should cover, and those of drifted reports."""

    deviation: Lines
    focus: Lines


class DraftKeywords(StepRequest[DraftedKeywords]):
    """Which words must a report on this subject cover, and which show that it has drifted?"""

    forms = (DraftedKeywords,)

    title: str
    facts: tuple[str, ...]
    n_keywords: int
    problems: tuple[str, ...] = ()
    prompt: str = "drafting/draft_keywords"

    async def ask(self, model: PromptedModel) -> StepAnswer[DraftedKeywords]:
        """Draft keywords, the best of each kind first."""
        return await model.answer_step(
            self, DraftedKeywords, lambda reply: reply, facts=number_facts(self.facts)
        )

"""What does a judge write on a subject from memory?"""

from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import ReplyModel

MAX_REPORT_CHARS = 60_000
"""Longer reports are cut: a report from memory has a few pages."""


class ReplyReport(ReplyModel):
    report: str


class WriteClosedBook(StepRequest[str]):
    """Write a report on the subject from memory alone."""

    forms = (ReplyReport,)

    title: str
    prompt: str = "drafting/write_closed_book"

    async def ask(self, model: PromptedModel) -> StepAnswer[str]:
        """Write the report; empty if the model knows nothing of the subject."""
        return await model.answer_step(
            self, ReplyReport, lambda reply: reply.report.strip()[:MAX_REPORT_CHARS]
        )

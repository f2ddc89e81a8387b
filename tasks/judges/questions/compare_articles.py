"""Which article is better by each criterion?"""

from typing import Any, ClassVar, Literal

from tasks.judges.decisions import FIRST, SECOND, TIE, Criterion, DecisionRequest, JudgeAnswer
from tasks.judges.llm.prompts import find_attachment_problem
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.models.attachments import Attachment
from tasks.warehouse.rows import Status

WINNERS = {"article_1": FIRST, "article_2": SECOND, "tie": TIE}


class CriterionVerdict(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2"]


class CriterionVerdictOrTie(ReplyModel):
    criterion: str
    reason: str
    winner: Literal["article_1", "article_2", "tie"]


class CompareArticles(DecisionRequest):
    """Which article is better by each criterion of one category? Labels: first, second, tie."""

    action: ClassVar[str] = "compare articles"
    decided: ClassVar[str] = "criteria"
    forms = (ItemResults[CriterionVerdict], ItemResults[CriterionVerdictOrTie])

    category: str
    criteria: tuple[Criterion, ...]
    first: str
    second: str
    title: str = ""
    """The category's name; its id unless given."""
    description: str = ""
    """The category's description, if the criteria have one."""
    topic: str = ""
    """The articles' subject."""
    subject_area: str = ""
    """The main category of good articles that the subject belongs to, if known."""
    area_description: str = ""
    allow_tie: bool = False
    attached: Literal["first", "second"] | None = None
    """The article given as `attachments` instead of text; its text is then empty."""
    attachments: tuple[Attachment, ...] = ()
    prompt: str = "wiki_writing/compare_articles"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each criterion, all in one call."""
        n = self.n_items
        form: Any = self.forms[self.allow_tie]
        values = {
            "first": self.first,
            "second": self.second,
            "criteria": [criterion.model_dump() for criterion in self.criteria],
            "category": self.title or self.category,
            "description": self.description,
            "topic": self.topic,
            "subject_area": self.subject_area,
            "area_description": self.area_description,
            "allow_tie": self.allow_tie,
        }
        attached = None
        if self.attached:
            if reason := find_attachment_problem(model.name, model.reads, self.attachments):
                said = f"not_assessed: the article is no text; {reason}"
                return [JudgeAnswer(status=Status.NOT_ASSESSED, reason=said)] * n
            attached = model.attach(self.attachments, self.prompt)
            values[self.attached] = attached.placeholder
        outcome = await model.ask_items(
            self.prompt,
            values,
            form,
            "criterion",
            [criterion.id for criterion in self.criteria],
            attachments=attached,
            shared_text="article_2",
        )

        def read(verdict: CriterionVerdict | CriterionVerdictOrTie) -> ItemReading:
            return ItemReading(WINNERS[verdict.winner], verdict.reason)

        return make_answers(outcome, n, read)

"""How good is a report: by key points, by criteria, or beside another text?"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict

from tasks.judges.decisions import FIRST, SECOND, TIE, Criterion, DecisionRequest, JudgeAnswer
from tasks.judges.llm.prompts import find_attachment_problem
from tasks.judges.llm.requests import (
    ItemReading,
    PromptedModel,
    ask_first_alone,
    make_answers,
    split_batches,
)
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.judges.text import collapse_whitespace, verify_quote
from tasks.models.attachments import Attachment
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import Status


class PointVerdict(ReplyModel):
    passage: str
    """Quoted from the report; empty if the point is omitted."""
    point: int
    reason: str
    verdict: Literal["supported", "omitted", "contradicted"]


class CheckPoints(DecisionRequest):
    """Does the report support each key point? Labels: `supported` (it affirms or explains it),
    `omitted`, `contradicted`. Source: DeepResearchGym, which judges one point per call."""

    action: ClassVar[str] = "check key points"
    decided: ClassVar[str] = "points"
    forms = (ItemResults[PointVerdict],)

    question: str
    report: str
    points: tuple[str, ...]
    prompt: str = "research_gym/check_points"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each point. The first call is sent alone, so that the report is in the
        provider's cache for the others."""

        def read(said: PointVerdict) -> ItemReading:
            quoted = verify_quote(said.passage, self.report)
            return ItemReading(said.verdict, said.reason, quoted)

        async def check(points: Sequence[str]) -> list[JudgeAnswer]:
            n = len(points)
            values = {
                "question": self.question,
                "report": self.report,
                "points": [collapse_whitespace(point) for point in points],
            }
            outcome = await model.ask_items(
                self.prompt,
                values,
                ItemResults[PointVerdict],
                "point",
                range(1, n + 1),
                shared_text="report",
            )
            return make_answers(outcome, n, read)

        return await ask_first_alone(check, split_batches(self.points, model.entry.claims_per_call))


class Rating(ReplyModel):
    criterion: str
    reason: str
    score: Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]


class RateReport(DecisionRequest):
    """How good is the report by each criterion? Labels: whole numbers `0` to `10`. Source:
    DeepResearchGym, clarity and insight."""

    action: ClassVar[str] = "rate reports"
    decided: ClassVar[str] = "criteria"
    forms = (ItemResults[Rating],)

    question: str
    report: str
    criteria: tuple[Criterion, ...]
    prompt: str = "research_gym/rate_report"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each criterion."""
        ids, values = [criterion.id for criterion in self.criteria], self.template_values()
        outcome = await model.ask_items(self.prompt, values, ItemResults[Rating], "criterion", ids)
        return make_answers(
            outcome, len(ids), lambda rating: ItemReading(rating.score, rating.reason)
        )


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


MAX_SCORE = 10


class PairScore(ReplyModel):
    # Scores must be finite numbers; "7" and true are not accepted.
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    criterion: str
    reason: str
    score_1: float
    """Score of article 1, 0 to 10."""
    score_2: float


class ScorePair(DecisionRequest):
    """How good are a report and a reference, side by side, by each criterion?

    There are two answers per criterion, the report's first: labels are numbers from 0 to 10, also
    fractions such as `7.5`. Source: DeepResearch Bench, RACE.
    """

    action: ClassVar[str] = "score reports beside a reference"
    forms = (ItemResults[PairScore],)

    task: str
    report: str
    reference: str
    criteria: tuple[Criterion, ...]
    report_first: bool = True
    """The published order."""
    prompt: str = "race/score_pair"

    @property
    def n_items(self) -> int:
        return 2 * len(self.criteria)

    def select(self, indices: Sequence[int]) -> Self:
        # One call answers for both articles: it is refused for both.
        return self._keep(sorted({index // 2 for index in indices}), "criteria")

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Return two answers per criterion, the report's first, regardless of the articles'
        order."""
        n = len(self.criteria)
        texts = (self.report, self.reference)
        values = {
            "task": self.task,
            "first": texts[0] if self.report_first else texts[1],
            "second": texts[1] if self.report_first else texts[0],
            "criteria": [criterion.model_dump() for criterion in self.criteria],
        }
        ids = [criterion.id for criterion in self.criteria]
        outcome = await model.ask_items(
            self.prompt, values, ItemResults[PairScore], "criterion", ids, _check_scores
        )
        first = make_answers(outcome, n, lambda said: ItemReading(f"{said.score_1:g}", said.reason))
        second = make_answers(
            outcome, n, lambda said: ItemReading(f"{said.score_2:g}", said.reason)
        )
        pairs = zip(first, second, strict=True)
        return [answer for pair in pairs for answer in (pair if self.report_first else pair[::-1])]


def _check_scores(results: Sequence[PairScore]) -> None:
    for said in results:
        for score in (said.score_1, said.score_2):
            if not 0 <= score <= MAX_SCORE:
                raise InvalidReply(
                    f"criterion {said.criterion[:40]!r}: {score} is not 0 to {MAX_SCORE}"
                )

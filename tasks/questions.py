"""Stage assignments, questions: make questions from articles, one Prefect task per article.

Every question has a row, also a rejected one; an accepted question is written together with its
assignment and ground truth.
"""

import asyncio
from dataclasses import dataclass

from tasks.configuration.folders import find_file
from tasks.configuration.inversion import load_inversion
from tasks.configuration.templates import StrictTemplate
from tasks.editions.prompts import format_edition_day
from tasks.inversion.checks import SourceArticle
from tasks.inversion.context import InversionContext, Surroundings, build_surroundings
from tasks.inversion.draft import QuestionDraft
from tasks.inversion.rows import (
    Inversion,
    build_question_row,
    build_row_without_target,
    build_truth_row,
    render_answer_form,
)
from tasks.inversion.steps import invert
from tasks.judges.llm.judge import LlmJudge
from tasks.judging.session import get_judge_session
from tasks.pending.questions import PendingArticle, get_inverter
from tasks.stage import is_transient, stage_task
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.truths import GroundTruth
from tasks.warehouse.writer import Change

SURROUNDING_PAGES = """
SELECT p.url, p.text FROM pages AS p
WHERE p.edition = $1 AND p.status = 'ok' AND p.text <> '' AND p.url IN (
    SELECT url FROM article_links WHERE edition = $1 AND article = $2
    UNION
    SELECT c.url FROM citations AS c JOIN assignments AS a USING (edition, assignment)
    WHERE a.edition = $1 AND a.article = $2
)
ORDER BY p.url
"""


class QuestionsOpen(Exception):
    """A judge gave no usable answer for some questions; the next run continues."""


@stage_task("invert · {pending.title}", retry_condition_fn=is_transient)
async def make_questions(warehouse: Warehouse, pending: PendingArticle, judge: str) -> None:
    """Make the open questions of one article and write each as soon as it is decided.

    Needs an open session of the judge (`tasks.judging.session`).

    Raises:
        QuestionsOpen: some could not be decided; the others are written.
        Misconfigured: the judge calls no model.
    """
    judge_session = get_judge_session(warehouse, judge)
    inverter = get_inverter(judge, judge_session.gateway)
    assert isinstance(judge_session.judge, LlmJudge)  # it calls a model
    context = InversionContext(
        *await asyncio.to_thread(_load_source, warehouse, pending.inversion),
        inverter=inverter,
        matcher=judge_session.judge,
        settings=load_inversion(),
    )
    await QuestionWriter(warehouse, pending.inversion, context).make_questions()


@dataclass(frozen=True)
class QuestionWriter:
    """Writes the questions of one article and their outcomes."""

    warehouse: Warehouse
    inversion: Inversion
    context: InversionContext

    async def make_questions(self) -> None:
        decided = await asyncio.to_thread(self._load_decided)
        done = await invert(self.context, decided, self._write)
        if not done.found.value:
            row = build_row_without_target(self.inversion, done.found)
            await self.warehouse.write_async(Change(Question, [row]))
            still_open = [row.detail] if row.state == "open" else []
        else:
            still_open = [d.detail for d in done.drafts.values() if d.state == "open"]
        if still_open:
            raise QuestionsOpen(
                f"{self.context.source.title}: {len(still_open)} questions are open: "
                f"{'; '.join(str(detail) for detail in still_open[:3])}. Run again to continue."
            )

    async def _write(self, number: int, n_targets: int, draft: QuestionDraft) -> None:
        row = build_question_row(self.inversion, number, n_targets, draft, self.context)
        changes = [Change(Question, [row])]
        if draft.state == "accepted":
            assignment = await asyncio.to_thread(self._build_assignment, number, draft)
            truth = build_truth_row(self.inversion, number, draft, self.context)
            changes += [Change(Assignment, [assignment]), Change(GroundTruth, [truth])]
        await self.warehouse.write_async(*changes)

    def _load_decided(self) -> frozenset[int]:
        frame = self.warehouse.frame(
            "SELECT number FROM questions WHERE edition = $1 AND article = $2 "
            "AND inversion_id = $3 AND state <> 'open' AND n_targets > 0",
            [self.inversion.edition, self.inversion.article, self.inversion.inversion_id],
        )
        return frozenset(frame["number"])

    def _build_assignment(self, number: int, draft: QuestionDraft) -> Assignment:
        prompt = StrictTemplate(find_file("assignments/find_claims.md")).render(
            question=draft.question,
            today=format_edition_day(self.warehouse, self.inversion.edition),
            banned=list(self.context.settings.banned),
            answer_form=render_answer_form(draft),
        )
        return Assignment(
            edition=self.inversion.edition,
            assignment=self.inversion.assignment(number),
            article=self.inversion.article,
            kind="find_claims",
            prompt=prompt,
            prompt_sha=content_sha(prompt),
        )


def _load_source(warehouse: Warehouse, inversion: Inversion) -> tuple[SourceArticle, Surroundings]:
    where = [inversion.edition, inversion.article]
    [article] = warehouse.rows(Article, "edition = $1 AND article = $2", where)
    source = SourceArticle(title=article.title, url=article.url, text=article.text)
    references = warehouse.frame(
        "SELECT url FROM article_links WHERE edition = $1 AND article = $2 ORDER BY number", where
    )
    archived = warehouse.frame(SURROUNDING_PAGES, where)
    return source, build_surroundings(
        source, archived.iter_rows(), references["url"].to_list(), load_inversion()
    )

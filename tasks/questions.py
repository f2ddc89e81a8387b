"""Stage assignments, questions: make questions from articles, one Prefect task per article.

Every question has a row, also a rejected one; an accepted question is written together with its
assignment and ground truth.
"""

import asyncio
from dataclasses import dataclass
from hashlib import sha256

import polars as pl

from tasks.base import Frozen
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
    create_inversion,
    render_answer_form,
)
from tasks.inversion.steps import invert
from tasks.judges.decisions import VersionedJudge
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.llm.requests import RequestSender
from tasks.judges.registry import NoModel, load_model_entry
from tasks.judging.session import JudgeSession
from tasks.models.errors import may_pass
from tasks.outcome import PartLeft
from tasks.run import Plan
from tasks.stage import Output, Stage, open_with_judge
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment, content_sha
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.truths import GroundTruth
from tasks.warehouse.writer import Change

PENDING = """
WITH progress AS (
    SELECT a.article, a.title,
        count(*) FILTER (q.inversion_id = i.id AND q.state <> 'open') AS n_decided,
        count(*) FILTER (q.inversion_id = i.id AND q.state = 'open') AS n_open,
        max(q.n_targets) FILTER (q.inversion_id = i.id) AS n_targets,
        count(*) FILTER (q.inversion_id <> i.id AND q.state = 'accepted') AS n_other_accepted
    FROM articles AS a
    JOIN (SELECT unnest($2) AS article, unnest($3) AS id) AS i USING (article)
    LEFT JOIN questions AS q USING (edition, article)
    WHERE a.edition = $1
    GROUP BY ALL
)
SELECT article, title FROM progress
WHERE n_open > 0 OR CASE WHEN n_targets IS NULL THEN n_other_accepted = 0
    ELSE n_decided < greatest(n_targets, 1) END
"""
STATE_COUNTS = """
SELECT CASE state WHEN 'rejected' THEN reason ELSE state END AS became, count(*) AS questions
FROM questions WHERE edition = $1 GROUP BY ALL ORDER BY questions DESC, became
"""
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


MAX_CONCURRENT_ARTICLES = 16
"""Articles at a time; the judge's limits set how many calls run at a time."""


class QuestionsOpen(PartLeft):
    """A judge gave no usable answer for some questions; the next run continues."""


class PendingArticle(Frozen):
    """An article with questions that are to be made or decided."""

    title: str
    inversion: Inversion


def get_inverter(judge_name: str, sender: RequestSender | None = None) -> LlmJudge:
    """Return the inverter that makes questions with this judge's model.

    Raises:
        Misconfigured: the judge calls no model.
    """
    name, entry = load_model_entry(judge_name, "make questions")
    return LlmJudge(name, entry, sender or NoModel())


def find_pending_articles(
    warehouse: Readable,
    edition: str,
    inverter: VersionedJudge,
    n_articles: int | None = None,
) -> list[PendingArticle]:
    """Return the articles whose questions are not all decided, in a seeded random order.

    An article with an accepted question by another judge, prompt or settings is done.

    n_articles: consider only this many articles of the edition, always the same ones.
    """
    settings = load_inversion()
    articles = warehouse.frame(
        "SELECT article, text_sha FROM articles WHERE edition = $1", [edition]
    )
    lot = sorted(
        (
            create_inversion(edition, article, text_sha, inverter, settings)
            for article, text_sha in articles.iter_rows()
        ),
        key=lambda inversion: sha256(f"{settings.seed} {inversion.article}".encode()).digest(),
    )[:n_articles]
    if not lot:
        return []
    names, ids = zip(*((i.article, i.inversion_id) for i in lot), strict=True)
    titles = dict(warehouse.frame(PENDING, [edition, list(names), list(ids)]).iter_rows())
    return [
        PendingArticle(title=titles[inversion.article], inversion=inversion)
        for inversion in lot
        if inversion.article in titles
    ]


def count_question_states(source: Readable, edition: str) -> pl.DataFrame:
    """Count the questions by state or reason of rejection, the most frequent first."""
    return source.frame(STATE_COUNTS, [edition])


def describe_accepted(source: Readable, edition: str) -> str:
    """Say how many questions of an edition are accepted."""
    counts = count_question_states(source, edition)
    accepted = dict(counts.iter_rows()).get("accepted", 0)
    return f"{edition}: {accepted} of {counts['questions'].sum()} questions are accepted."


async def make_questions(
    warehouse: Warehouse, session: JudgeSession, pending: PendingArticle
) -> None:
    """Make the open questions of one article and write each as soon as it is decided.

    Raises:
        QuestionsOpen: some could not be decided; the others are written.
        Misconfigured: the judge calls no model.
    """
    inverter = get_inverter(session.judge.name, session.gateway)
    assert isinstance(session.judge, LlmJudge)  # it calls a model
    context = InversionContext(
        *await asyncio.to_thread(_load_source, warehouse, pending.inversion),
        inverter=inverter,
        matcher=session.judge,
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
                f"{'; '.join(str(detail) for detail in still_open[:3])}. Run again to continue.",
                may_pass=any(map(may_pass, still_open)),
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


def select_articles(plan: Plan) -> list[PendingArticle]:
    """Return the selected articles whose questions are not all decided."""
    of = plan.selection
    return find_pending_articles(plan.store, of.edition, get_inverter(of.judge), of.first)


QUESTIONS = Stage(
    name="invert",
    task="make_questions",
    item="article",
    inputs=("articles", "pages"),
    outputs=(Output("question", Question, "state <> 'open'"),),
    find_pending=select_articles,
    open=open_with_judge(make_questions, MAX_CONCURRENT_ARTICLES),
    title=lambda pending: pending.title,
)

"""Stage assignments, questions: articles turned around, one Prefect task per article.

Every question that was made has a row, whatever became of it; an accepted one is an assignment
with its ground truth, written together with it.
"""

import asyncio
from dataclasses import dataclass
from hashlib import sha256

from prefect import task
from prefect.cache_policies import NO_CACHE
from pydantic import BaseModel, ConfigDict

from tasks.assigning import day_of
from tasks.configuration.inversion import InversionSettings, load_inversion
from tasks.configuration.loading import CONFIGS
from tasks.configuration.models import LlmJudgeEntry
from tasks.configuration.templates import StrictTemplate
from tasks.inversion.bench import Bench, Surroundings, surroundings
from tasks.inversion.checks import Source
from tasks.inversion.draft import Draft
from tasks.inversion.record import (
    Inversion,
    answer_form,
    inversion_of,
    question_row,
    row_without_target,
    truth_row,
)
from tasks.inversion.steps import invert
from tasks.judges.asking import Asker
from tasks.judges.inversion import Inverter
from tasks.judges.llm import LlmJudge
from tasks.judges.llm_inversion import LlmInverter
from tasks.judges.registry import NoModel, judge_entry
from tasks.judging import session
from tasks.models.errors import Misconfigured
from tasks.retrying import is_transient
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment, content_sha
from tasks.warehouse.store import Readable, Warehouse, opened
from tasks.warehouse.truths import GroundTruth
from tasks.warehouse.writer import Change

PROGRESS = """
SELECT a.article, a.title, a.text_sha,
    count(*) FILTER (q.inversion_id = i.id AND q.state <> 'open') AS n_decided,
    count(*) FILTER (q.inversion_id = i.id AND q.state = 'open') AS n_open,
    max(q.n_targets) FILTER (q.inversion_id = i.id) AS n_targets,
    count(*) FILTER (q.inversion_id <> i.id AND q.state = 'accepted') AS n_other_accepted
FROM articles AS a
JOIN (SELECT unnest($2) AS article, unnest($3) AS id) AS i USING (article)
LEFT JOIN questions AS q USING (edition, article)
WHERE a.edition = $1
GROUP BY ALL
"""
AROUND = """
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
    """A judge gave no usable answer for some questions; the next run goes on with them."""


class PendingArticle(BaseModel):
    """An article that has questions to be made, or to be gone on with."""

    model_config = ConfigDict(frozen=True)

    article: str
    title: str
    inversion: Inversion
    n_decided: int
    """Questions that are accepted or rejected already."""


def inverter_named(judge_name: str, asker: Asker | None = None) -> LlmInverter:
    """The judge as what makes questions.

    Raises:
        Misconfigured: it calls no model, so it cannot.
    """
    name, entry = judge_entry(judge_name)
    if not isinstance(entry, LlmJudgeEntry):
        raise Misconfigured(
            f"The judge {name} cannot make questions: it calls no model. Name another with "
            "--judge; `evergreen judges` lists them."
        )
    return LlmInverter(name, entry, asker or NoModel())


def pending_articles(
    warehouse: Readable,
    edition: str,
    inverter: Inverter,
    n_articles: int | None = None,
    settings: InversionSettings | None = None,
) -> list[PendingArticle]:
    """Articles whose questions are not all decided, in the order of the lot.

    n_articles: only the first so many of the edition in that order: the same ones, whenever
        asked. An article that has an accepted question of another judge, or of other prompts or
        settings, keeps it and is done.
    """
    chosen = settings or load_inversion()
    articles = warehouse.frame("SELECT article, text_sha FROM articles WHERE edition = $1",
                               [edition])  # fmt: skip
    lot = sorted(
        (
            inversion_of(edition, article, text_sha, inverter, chosen)
            for article, text_sha in articles.iter_rows()
        ),
        key=lambda inversion: sha256(f"{chosen.seed} {inversion.article}".encode()).digest(),
    )[:n_articles]
    if not lot:
        return []
    names, ids = zip(*((i.article, i.inversion_id) for i in lot), strict=True)
    progress = warehouse.frame(PROGRESS, [edition, list(names), list(ids)])
    found = {record["article"]: record for record in progress.iter_rows(named=True)}
    return [
        PendingArticle(
            article=inversion.article,
            title=record["title"],
            inversion=inversion,
            n_decided=record["n_decided"],
        )
        for inversion in lot
        if _is_pending(record := found[inversion.article])
    ]


@task(
    task_run_name="invert · {pending.title}",
    retries=2,
    retry_delay_seconds=1,
    retry_condition_fn=is_transient,
    cache_policy=NO_CACHE,
    persist_result=False,
)
async def invert_article(warehouse_path: str, pending: PendingArticle, judge: str) -> None:
    """The questions of one article that are not decided yet, each written as soon as it is.

    Needs an open session of the judge (`tasks.judging`).

    Raises:
        QuestionsOpen: some are not decided; the others are.
    """
    warehouse = opened(warehouse_path)
    at_work = session(warehouse, judge)
    if at_work.gateway is None or not isinstance(at_work.judge, LlmJudge):
        inverter_named(judge)
        raise Misconfigured(f"The judge {judge} has no session with a model.")
    bench = Bench(
        *await asyncio.to_thread(_read, warehouse, pending.inversion),
        inverter=inverter_named(judge, at_work.gateway),
        matcher=at_work.judge,
        settings=load_inversion(),
    )
    await _Desk(warehouse, pending.inversion, bench).work()


@dataclass(frozen=True)
class _Desk:
    """Writes what becomes of one article's questions."""

    warehouse: Warehouse
    inversion: Inversion
    bench: Bench

    async def work(self) -> None:
        decided = await asyncio.to_thread(self._decided)
        done = await invert(self.bench, decided, self._keep)
        if not done.found.value:
            row = row_without_target(self.inversion, done.found)
            await self.warehouse.write_async(Change(Question, [row]))
            still_open = [row.detail] if row.state == "open" else []
        else:
            still_open = [d.detail for d in done.drafts.values() if d.state == "open"]
        if still_open:
            raise QuestionsOpen(
                f"{self.bench.source.title}: {len(still_open)} questions are open: "
                f"{'; '.join(str(detail) for detail in still_open[:3])}. Run again to go on."
            )

    async def _keep(self, number: int, n_targets: int, draft: Draft) -> None:
        row = question_row(self.inversion, number, n_targets, draft, self.bench)
        changes = [Change(Question, [row])]
        if draft.state == "accepted":
            assignment = await asyncio.to_thread(self._assignment, number, draft)
            truth = truth_row(self.inversion, number, draft)
            changes += [Change(Assignment, [assignment]), Change(GroundTruth, [truth])]
        await self.warehouse.write_async(*changes)

    def _decided(self) -> frozenset[int]:
        frame = self.warehouse.frame(
            "SELECT number FROM questions WHERE edition = $1 AND article = $2 "
            "AND inversion_id = $3 AND state <> 'open' AND n_targets > 0",
            [self.inversion.edition, self.inversion.article, self.inversion.inversion_id],
        )
        return frozenset(frame["number"])

    def _assignment(self, number: int, draft: Draft) -> Assignment:
        prompt = StrictTemplate(CONFIGS / "assignments" / "find_claims.md").render(
            question=draft.question,
            today=day_of(self.warehouse, self.inversion.edition),
            banned=list(self.bench.settings.banned),
            answer_form=answer_form(draft),
        )
        return Assignment(
            edition=self.inversion.edition,
            assignment=self.inversion.assignment(number),
            article=self.inversion.article,
            kind="find_claims",
            prompt=prompt,
            prompt_sha=content_sha(prompt),
        )


def _read(warehouse: Warehouse, inversion: Inversion) -> tuple[Source, Surroundings]:
    where = [inversion.edition, inversion.article]
    [article] = warehouse.rows(Article, "edition = $1 AND article = $2", where)
    source = Source(title=article.title, url=article.url, text=article.text)
    references = warehouse.frame(
        "SELECT url FROM article_links WHERE edition = $1 AND article = $2 ORDER BY number", where
    )
    archived = warehouse.frame(AROUND, where)
    return source, surroundings(
        source, archived.iter_rows(), references["url"].to_list(), load_inversion()
    )


def _is_pending(record: dict[str, object]) -> bool:
    if record["n_open"]:
        return True
    if record["n_targets"] is None:
        return not record["n_other_accepted"]
    n_decided, n_targets = record["n_decided"], record["n_targets"]
    assert isinstance(n_decided, int)
    assert isinstance(n_targets, int)
    return n_decided < max(n_targets, 1)

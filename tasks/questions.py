"""Stage assignments, questions: articles turned around, one Prefect task per article.

Every question that was made has a row, whatever became of it; an accepted one is an assignment
with its ground truth, written together with it.
"""

import asyncio
from dataclasses import dataclass

from tasks.configuration.inversion import load_inversion
from tasks.configuration.loading import CONFIGS
from tasks.configuration.templates import StrictTemplate
from tasks.editions.prompts import day_of
from tasks.inversion.bench import Bench, Surroundings, surroundings
from tasks.inversion.checks import Source
from tasks.inversion.draft import Draft
from tasks.inversion.record import (
    Inversion,
    answer_form,
    question_row,
    row_without_target,
    truth_row,
)
from tasks.inversion.steps import invert
from tasks.judges.llm.judge import LlmJudge
from tasks.judging.session import session
from tasks.models.errors import Misconfigured
from tasks.pending.questions import PendingArticle, inverter_named
from tasks.stage import is_transient, stage_task
from tasks.warehouse.questions import Question
from tasks.warehouse.rows import Article, Assignment, content_sha
from tasks.warehouse.store import Warehouse, get_open_warehouse
from tasks.warehouse.truths import GroundTruth
from tasks.warehouse.writer import Change

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


@stage_task("invert · {pending.title}", retry_condition_fn=is_transient)
async def invert_article(warehouse_path: str, pending: PendingArticle, judge: str) -> None:
    """The questions of one article that are not decided yet, each written as soon as it is.

    Needs an open session of the judge (`tasks.judging.session`).

    Raises:
        QuestionsOpen: some are not decided; the others are.
    """
    warehouse = get_open_warehouse(warehouse_path)
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
            truth = truth_row(self.inversion, number, draft, self.bench)
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

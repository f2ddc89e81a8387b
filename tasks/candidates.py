"""Stages of collecting an edition: list, date and measure candidates, then freeze articles."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tasks.collection.freeze import find_pending_articles, freeze_article, freeze_edition
from tasks.collection.listing import (
    date_members,
    find_pending_measurements,
    list_members,
    measure_batch,
)
from tasks.collection.wiki import Wiki
from tasks.run import RunContext
from tasks.stage import OnProgress, Output, Stage, Worker
from tasks.warehouse.rows import Article
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Candidate, Collection

WIKI = "wiki"
"""Stands for the wiki among the tables that a stage is made from."""
CANDIDATES = (Output("candidate", Candidate),)
FROZEN = (Output("article", Article),)
MAX_CONCURRENT_TASKS = 4
"""One more than the requests in flight, so that conversion does not delay them."""


async def list_candidates(wiki: Wiki, warehouse: Warehouse, edition: str) -> int:
    """List the pages of the category that may fall into the window; return how many."""
    return await list_members(wiki, warehouse, load_collection(warehouse, edition))


async def date_candidates(
    wiki: Wiki, warehouse: Warehouse, edition: str, on_progress: OnProgress
) -> int:
    """Find when the candidates were created; return how many fall into the window."""
    return await date_members(wiki, warehouse, load_collection(warehouse, edition), on_progress)


def close_edition(warehouse: Warehouse, edition: str) -> str:
    """Write the edition's manifest, which freezes it; return the manifest's hash."""
    frozen = freeze_edition(warehouse, load_collection(warehouse, edition))
    export_edition(warehouse, edition)
    return str(frozen.manifest_sha)


def load_collection(warehouse: Warehouse, edition: str) -> Collection:
    """Return the collection that was begun under this name."""
    return warehouse.rows(Collection, "edition = $1", [edition])[0]


def make_measuring(wiki: Wiki) -> Stage[list[Candidate], list[Candidate]]:
    """Make the stage that loads the measures that candidates are chosen by, a part for each
    request."""

    @asynccontextmanager
    async def open_wiki(
        run: RunContext, todo: Sequence[list[Candidate]]
    ) -> AsyncIterator[Worker[list[Candidate]]]:
        collection = load_collection(run.store, run.plan.selection.edition)
        yield Worker(
            lambda batch, _: measure_batch(wiki, run.store, collection, batch),
            concurrency=MAX_CONCURRENT_TASKS,
        )

    return Stage(
        name="measure",
        task="measure_candidates",
        item="request",
        inputs=(WIKI,),
        outputs=CANDIDATES,
        find_pending=lambda plan: find_pending_measurements(plan.store, plan.selection.edition),
        open=open_wiki,
        title=lambda batch: batch[0].title,
        size=len,
    )


def make_freezing(wiki: Wiki) -> Stage[Candidate, Candidate]:
    """Make the stage that stores the chosen articles at their pinned revisions."""

    @asynccontextmanager
    async def open_wiki(
        run: RunContext, todo: Sequence[Candidate]
    ) -> AsyncIterator[Worker[Candidate]]:
        collection = load_collection(run.store, run.plan.selection.edition)
        yield Worker(
            lambda candidate, _: freeze_article(
                wiki, run.store, run.helpers, collection, candidate
            ),
            concurrency=MAX_CONCURRENT_TASKS,
        )

    return Stage(
        name="freeze",
        task="freeze_candidate",
        item="article",
        inputs=(WIKI, "candidates"),
        outputs=FROZEN,
        find_pending=lambda plan: find_pending_articles(plan.store, plan.selection.edition),
        open=open_wiki,
        title=lambda candidate: candidate.title,
    )

"""An evaluation through the stages' plain functions: no Prefect server, no history."""

import asyncio
from pathlib import Path

from tasks.claims import extract_for
from tasks.configuration.models import load_judges
from tasks.diagnostics import diagnose_agent
from tasks.judging.cases import loading
from tasks.judging.session import judge_session
from tasks.leaderboard import publish_leaderboard
from tasks.pending.diagnostics import undiagnosed
from tasks.pending.evaluation import (
    Evaluation,
    current_rows,
    pending,
    pending_extractions,
    planned_cells,
    unscored_groups,
)
from tasks.processes.pool import HELPERS
from tasks.scores import score_agent
from tasks.verdicts import judge_cell
from tasks.warehouse.store import Warehouse, open_warehouse


def evaluate_plainly(
    path: Path, protocols: tuple[str, ...], agents: tuple[str, ...] = (), judge: str | None = None
) -> None:
    """Judge, score and rank the sample edition; offline, unless a judge is named."""
    with open_warehouse(path) as store:
        run = Evaluation(store.url, "sample", protocols, agents, judge or load_judges().default)
        try:
            asyncio.run(_evaluate(store, run))
        finally:
            HELPERS.close()


async def _evaluate(store: Warehouse, run: Evaluation) -> None:
    for item in pending_extractions(run):
        await extract_for.fn(store.url, item.agent, [item])
    for agent in undiagnosed(store, run.edition, run.agents):
        await diagnose_agent.fn(store.url, run.edition, agent)
    todo = pending(planned_cells(run))
    async with judge_session(store, run.judge):
        with loading(store, todo):
            for plan in todo:
                await judge_cell.fn(store.url, plan)
    for name, agent, plans in unscored_groups(store, planned_cells(run)):
        await score_agent.fn(store.url, name, agent, plans)
    await publish_leaderboard.fn(store.url, run.edition, current_rows(run))

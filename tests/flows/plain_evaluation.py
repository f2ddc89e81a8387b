"""An evaluation through the stages' plain functions: no Prefect server, no history."""

import asyncio
from pathlib import Path

from tasks.claims import extract_statements
from tasks.configuration.models import load_judges
from tasks.diagnostics import diagnose_agent
from tasks.judging.cases import CaseLoader
from tasks.judging.session import judge_session
from tasks.leaderboard import write_leaderboard
from tasks.pending.evaluation import (
    Evaluation,
    compute_current_rows,
    find_pending_cells,
    find_pending_diagnostics,
    find_pending_scores,
    plan_run_cells,
    select_extractions,
)
from tasks.processes.pool import HELPERS
from tasks.scores import score_agent
from tasks.verdicts import judge_cell
from tasks.warehouse.store import Warehouse, open_warehouse


def evaluate_plainly(
    path: Path,
    protocols: tuple[str, ...],
    agents: tuple[str, ...] = (),
    judge: str | None = None,
    extractor: str | None = None,
    *,
    extract_again: bool = False,
) -> None:
    """Judge, score and rank the sample edition; offline, unless a judge is named."""
    with open_warehouse(path) as store:
        decider = judge or load_judges().default
        run = Evaluation(store.url, "sample", protocols, agents, decider, extractor, extract_again)
        try:
            asyncio.run(_evaluate(store, run))
        finally:
            HELPERS.close()


async def _evaluate(store: Warehouse, run: Evaluation) -> None:
    async with judge_session(store, run.extracting_judge or run.judge):
        for item in select_extractions(run):
            await extract_statements.fn(store, item.agent, [item], run.extracting_judge)
    for agent in {agent for agent, _ in find_pending_diagnostics(store, run.edition, run.agents)}:
        await diagnose_agent.fn(store, run.edition, agent)
    todo = find_pending_cells(plan_run_cells(run))
    async with judge_session(store, run.judge):
        with store.context.hold(CaseLoader(store, todo)):
            for plan in todo:
                await judge_cell.fn(store, plan)
    for group in find_pending_scores(store, plan_run_cells(run)):
        await score_agent.fn(store, *group)
    await write_leaderboard.fn(store, run.edition, compute_current_rows(run))

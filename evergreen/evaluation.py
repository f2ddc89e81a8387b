"""Evaluations from a program: what `evergreen evaluate` does."""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from evergreen.results import WarehouseResults, open_warehouse
from tasks.configuration.models import load_judges
from tasks.editions.names import check_selection
from tasks.planning.options import EvaluateOptions, FlowOptions
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import open_warehouse as open_to_write


@dataclass(frozen=True)
class EvaluationResult:
    """How an evaluation ended, and where its results are."""

    complete: bool
    """Whether everything was done; if not, `message` says what is pending."""
    message: str
    results: WarehouseResults


def evaluate(
    edition: str,
    *,
    warehouse: str = DEFAULT_LOCATION,
    protocols: Sequence[str] = (),
    agents: Sequence[str] = (),
    judge: str | None = None,
    budget_usd: float = 0.0,
) -> EvaluationResult:
    """Judge, score and rank what is pending; a second call does nothing.

    Args:
        edition: its name in the warehouse.
        protocols: those made for the edition's source unless given.
        agents: all of the edition's unless given.
        judge: the default of `configs/judges.yaml` unless given.
        budget_usd: the most this call may spend on models; nothing unless given.

    Raises:
        ExpectedError: an input is wrong; the message says what to do.
    """
    results = open_warehouse(warehouse)
    with open_to_write(results.location.url) as opened:  # names are checked before a server starts
        check_selection(opened, edition, protocols, agents, judge or load_judges().default)
    options = EvaluateOptions(
        edition=edition, protocols=[*protocols] or None, agents=[*agents] or None, judge=judge,
        warehouse=results.location.url, budget_usd=budget_usd,
    )  # fmt: skip
    complete, message = _run("evaluate", options)
    return EvaluationResult(complete, message, results)


def _run(flow: str, options: FlowOptions) -> tuple[bool, str]:
    """Run a flow; in a thread of its own where an event loop runs already, as in notebooks."""
    from flows.runtime.settings import prefect_environment, prefect_home

    os.environ.update(prefect_environment(prefect_home()))  # read when Prefect is imported
    from flows.run import run_flow

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_flow(flow, options)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run_flow, flow, options).result()

"""Ask agents for the reports of an edition that are missing."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.display.console import remark
from flows.runtime.artifacts import leave_costs, leave_failures, leave_table
from flows.runtime.fan_out import Failure, partial_message, run_items
from flows.runtime.parameters import AskedAgent, Count, Usd
from flows.runtime.warehouse import hold_warehouse
from tasks.configuration.agents import FileDropAsk
from tasks.costs.budget import spending
from tasks.editions.names import check_edition
from tasks.jobs.file_drop import PROMPTS, take_dropped
from tasks.jobs.messages import again_words
from tasks.jobs.sessions import ask_of, asking, check_agents
from tasks.pending.reports import Unreported, check_askable, unreported
from tasks.reports import get_report
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition, is_exported
from tasks.warehouse.store import Warehouse

COSTS = """
SELECT agent, asked_reports, jobs, round(usd, 4) AS usd, jobs_without_cost, searches, input_tokens,
    output_tokens, reasoning_tokens
FROM report_costs WHERE edition = $1 AND agent IN (SELECT unnest($2)) ORDER BY agent
"""


@flow(name="ask", flow_run_name="ask · {edition}")
async def ask(
    edition: str,
    agents: list[AskedAgent],
    assignments: list[str] | None = None,
    first: Count | None = None,
    budget_usd: Usd | None = None,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Get the reports of an edition that the agents have not written yet.

    Args:
        edition: its name in the warehouse.
        agents: of `configs/agents.yaml`, such as can be asked.
        assignments: only these; all that have a prompt unless named.
        first: so many of the missing reports of each agent, in the assignments' order.
        budget_usd: what this run may spend at most; no cap unless given.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Partial` when reports are still missing.
    """
    with (
        await hold_warehouse(warehouse, f"reports of {edition}") as store,
        spending(store, budget_usd) as budget,
        tags(f"edition:{edition}"),
    ):
        began = utc_now()
        agents = list(dict.fromkeys(agents))  # one that is named twice is asked once
        check_edition(store, edition)
        check_askable(store, edition, assignments or ())
        check_agents(agents, budget.usd)
        wanted = [
            item
            for agent in agents
            for item in _wanted(unreported(store, edition, agent, assignments or ()), first)
        ]
        failures = await asyncio.to_thread(_dropped, store, edition, agents, wanted)
        failures += await _reports(store, edition, agents, wanted)
        came = len(wanted) - sum(_missing(store, wanted).values())
        if not is_exported(store, edition):
            export_edition(store, edition)
        await leave_table(
            "reports",
            store.frame(COSTS, [edition, agents]).to_dicts(),
            f"{edition}: what was asked of the agents, and what it cost, so far.",
        )
        await leave_failures(failures)
        await leave_costs(store, began, "these agents were asked for nothing")
        left = _missing(store, wanted)
    message = f"{edition}: {came} {'report' if came == 1 else 'reports'} came" + (
        f", ${budget.spent:,.2f} spent in this run." if budget.spent else "."
    )
    if not left:
        return Completed(message=message)
    return Completed(
        name="Partial",
        message=f"{message} {left.total()} are still missing: {partial_message(failures)}",
    )


def _wanted(missing: Sequence[Unreported], first: int | None) -> list[Unreported]:
    """Those that are under way before those that are to be asked."""
    chosen = missing if first is None else missing[:first]
    return sorted(chosen, key=lambda item: (item.standing != "go_on", item.assignment))


async def _reports(
    store: Warehouse, edition: str, agents: Sequence[str], wanted: Sequence[Unreported]
) -> list[Failure]:
    """A task for every report that can come now; the others are left to a person."""
    by_hand = _by_hand(agents)
    wanted = [item for item in wanted if item.agent not in by_hand]
    to_get = [item for item in wanted if item.standing != "person"]
    left = [
        Failure("reports", f"{item.agent} · {item.title}", _left_words(item))
        for item in wanted
        if item.standing == "person"
    ]
    by_agent = Counter(item.agent for item in to_get)
    at_once = {agent: ask_of(agent).limits.concurrency for agent in by_agent}
    async with AsyncExitStack() as open_agents:
        for agent in sorted(by_agent):
            await open_agents.enter_async_context(asking(store, edition, agent, _say))

        def start(_: str, item: Unreported) -> Any:
            return get_report(store.url, item, return_state=True)

        failures = await run_items(
            "reports",
            [(f"{item.agent} · {item.title}", item) for item in to_get],
            start,
            at_once=at_once,
            group=lambda item: str(item.agent),
        )
    return failures + left


def _by_hand(agents: Sequence[str]) -> dict[str, FileDropAsk]:
    """Those that nobody but a person asks."""
    asks = {agent: ask_of(agent) for agent in agents}
    return {agent: ask for agent, ask in asks.items() if isinstance(ask, FileDropAsk)}


def _dropped(
    store: Warehouse, edition: str, agents: Sequence[str], wanted: Sequence[Unreported]
) -> list[Failure]:
    """Take what lies in the folders of agents that people ask; what does not lie there yet."""
    failures: list[Failure] = []
    for agent, drop in _by_hand(agents).items():
        missing = [item for item in wanted if item.agent == agent]
        left = take_dropped(store, edition, agent, drop, missing)
        failures += [Failure("reports", f"{agent} · {f.path}", "; ".join(f.remarks)) for f in left]
        if n := _missing(store, missing).total():
            where = f"{n} prompts lie in {drop.folder}/{PROMPTS}; put the reports into the folder"
            failures.append(Failure("reports", agent, where))
    return failures


def _left_words(item: Unreported) -> str:
    job = item.jobs[-1]
    return f"{job.state}: {job.error}; {again_words(job)}"


def _missing(store: Warehouse, wanted: Sequence[Unreported]) -> Counter[str]:
    """Of the wanted reports, how many are not there, by agent."""
    there = set(
        store.frame(
            "SELECT agent, assignment FROM reports WHERE edition = $1",
            [wanted[0].edition if wanted else ""],
        ).iter_rows()
    )
    return Counter(w.agent for w in wanted if (w.agent, w.assignment) not in there)


def _say(text: str) -> None:
    remark(text, style="yellow")

"""Bring an agent into editions that are there already: its reports, the pages they cite, its cells,
the leaderboards."""

from collections.abc import AsyncIterator
from typing import Any

from prefect import flow, tags
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.ask import ask
from flows.evaluate import evaluate
from flows.fetch import fetch
from flows.runtime.artifacts import leave_costs, leave_leaderboard, leave_table
from flows.runtime.parameters import AskedAgent, Count, JudgeName, ProtocolName, Usd
from flows.runtime.warehouse import hold_warehouse
from tasks.configuration.models import load_judges
from tasks.costs.budget import spending
from tasks.editions.names import check_edition
from tasks.judging.preconditions import check_judges
from tasks.pending.reports import has_reports, prompted_editions
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse


@flow(name="backfill", flow_run_name="backfill · {agent}")
async def backfill(
    agent: AskedAgent,
    editions: list[str] | None = None,
    protocols: list[ProtocolName] | None = None,
    judge: JudgeName | None = None,
    extractor: JudgeName | None = None,
    first: Count | None = None,
    budget_usd: Usd | None = None,
    fetch_pages: bool = True,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Get the reports that an agent has not written, fetch what they cite, judge only its cells,
    rank anew.

    No report, verdict or score of another agent is touched. Its places on the leaderboard and the
    corrections of its comparisons follow from who else is there.

    Args:
        agent: of `configs/agents.yaml`, such as can be asked.
        editions: all whose assignments have prompts unless named.
        protocols: those that are made for editions of its source, unless named.
        judge: the default of `configs/judges.yaml` unless named.
        extractor: a judge that extracts the claims; the offline extraction unless named.
        first: of each edition only so many of the missing reports.
        budget_usd: what this run may spend at most, on reports and verdicts together.
        fetch_pages: ask for the pages that its reports cite and nobody has fetched.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Partial` when something is left to do.
    """
    chosen = judge or load_judges().default
    # Before the agent is paid: what could not be judged, or extracted, need not be asked for.
    check_judges([chosen, *([extractor] if extractor else [])], budget_usd)
    with (
        await hold_warehouse(warehouse) as store,
        spending(store, budget_usd),
        tags(f"agent:{agent}"),
    ):
        began = utc_now()
        names = editions or prompted_editions(store)
        for name in names:
            check_edition(store, name)
        said: list[str] = []
        ends: list[dict[str, str]] = []
        partial = False
        for name in names:
            stages = _stages(store, name, agent, first, fetch_pages, protocols, chosen, extractor)
            async for state in stages:
                if not state.is_completed():
                    await state.aresult()  # raises what it failed with: no later stage is paid for
                partial |= state.name != "Completed"
                said.append(str(state.message))
                ends.append({"edition": name, "ended": str(state.name), "said": str(state.message)})
            await leave_leaderboard(store, name)  # of several editions the UI shows each
        await leave_table("stages", ends, f"How asking for {agent}'s reports and judging ended.")
        await leave_costs(store, began, "neither the agent nor the judge costs anything")
    if not names:
        said.append("No edition has assignments with prompts: make them with `evergreen assign`.")
    return Completed(name="Partial" if partial else "Completed", message=" ".join(said))


async def _stages(
    store: Warehouse,
    edition: str,
    agent: str,
    first: int | None,
    fetch_pages: bool,
    protocols: list[str] | None,
    judge: str,
    extractor: str | None,
) -> AsyncIterator[State[Any]]:
    """How each stage ended; the next begins when it is asked for."""
    path = store.url
    asked: Any = ask(edition, [agent], first=first, warehouse=path, return_state=True)
    yield await asked
    if not has_reports(store, edition, agent):
        return
    if fetch_pages:
        fetched: Any = fetch(
            edition, [agent], extractor=extractor, warehouse=path, return_state=True
        )
        yield await fetched
    judged: Any = evaluate(edition, protocols, [agent], judge, path, extractor, return_state=True)
    yield await judged

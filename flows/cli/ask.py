"""`evergreen ask` and `evergreen backfill`: getting the reports that are missing."""

from typing import Annotated

import polars as pl
import typer

from flows.cli.agents import AgentArgument, EditionOption
from flows.cli.hints import say_next
from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import end
from flows.cli.warehouse import existing_warehouse
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import ENTRY, leaderboard_frame, print_leaderboard
from flows.run import run_flow
from tasks.configuration.models import load_judges
from tasks.jobs.estimate import estimate_reports
from tasks.jobs.sessions import check_agents
from tasks.pending.reports import check_askable, prompted_editions
from tasks.planning.outcomes import ask_outcome, backfill_outcome
from tasks.warehouse.location import DEFAULT

BudgetOption = Annotated[
    float | None,
    typer.Option("--budget", min=0.0, help="USD this run may spend at most; what is left waits."),
]
FirstOption = Annotated[
    int | None,
    typer.Option("--first", min=1, help="Only so many of the missing reports, to try it out."),
]
EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Only say what it would cost; nothing is asked.")
]


def ask(
    names: Annotated[list[str], typer.Argument(help="Agents of configs/agents.yaml.")],
    edition: EditionOption,
    assignment: Annotated[
        list[str] | None,
        typer.Option("--assignment", help="Only this one; may be given again."),
    ] = None,
    first: FirstOption = None,
    budget: BudgetOption = None,
    estimate: EstimateOption = False,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Get the reports of an edition that agents have not written yet; nothing is bought twice.

    Interrupted or killed, the same command goes on waiting for the jobs under way.
    """
    if not estimate:
        check_agents(names, budget)
    with existing_warehouse(warehouse, edition) as store:
        check_askable(store, edition, assignment or ())
        if estimate:
            print_frame(estimate_reports(store, [edition], names, first), form)
            return
        complete, outcome = run_flow(
            "ask",
            {
                "edition": edition,
                "agents": names,
                "assignments": assignment,
                "first": first,
                "budget_usd": budget,
                "warehouse": store.url,
            },
            ask_outcome(store, edition, names, assignment or ()),
        )
        end(complete, outcome, form)
        say_next(store, edition)


def backfill(
    agent: AgentArgument,
    edition: Annotated[
        list[str] | None,
        typer.Option("--edition", help="May be given again; all with prompts if not given."),
    ] = None,
    protocol: Annotated[
        list[str] | None, typer.Option("--protocol", help="All of them if not given.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="One of those `evergreen judges` lists.")
    ] = None,
    extractor: Annotated[
        str | None, typer.Option("--extractor", help="As for `evaluate`: a judge that extracts.")
    ] = None,
    first: FirstOption = None,
    budget: BudgetOption = None,
    estimate: EstimateOption = False,
    fetch: Annotated[
        bool, typer.Option("--fetch/--no-fetch", help="Also fetch the pages its reports cite.")
    ] = True,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Bring an agent into editions: its missing reports, the pages they cite, then only its
    cells, then the ranks.

    The budget covers reports and verdicts together. No report, verdict or score of another agent
    is touched.
    """
    if not estimate:
        check_agents([agent], budget)
    with existing_warehouse(warehouse, *edition or ()) as store:
        for name in edition or ():
            check_askable(store, name)
        names = edition or prompted_editions(store)
        if estimate:
            print_frame(estimate_reports(store, names, [agent], first), form)
            remark("Reports only; `evergreen estimate` says what judging them would cost.")
            return
        complete, outcome = run_flow(
            "backfill",
            {
                "agent": agent,
                "editions": names,
                "protocols": protocol,
                "judge": judge,
                "extractor": extractor,
                "first": first,
                "budget_usd": budget,
                "fetch_pages": fetch,
                "warehouse": store.url,
            },
            backfill_outcome(
                store, agent, names, protocol or (), judge or load_judges().default, extractor,
                fetch_pages=fetch,
            ),
        )  # fmt: skip
        boards = [leaderboard_frame(store, name).select(ENTRY) for name in names]
        if form is not Format.JSON:
            for name in names:
                print_leaderboard(store, name, form)
    end(complete, outcome, form, leaderboard=pl.concat(boards) if boards else pl.DataFrame())

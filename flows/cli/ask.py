"""`evergreen ask` and `evergreen backfill`: get pending reports."""

from typing import Annotated

import polars as pl
import typer

from flows.cli.hints import describe_next_step, print_unchosen, warn_about_outdated_site
from flows.cli.options import (
    AskedAgentsOption,
    AssignmentsOption,
    BudgetOption,
    EditionOption,
    ExtractorOption,
    FormatOption,
    JudgeOption,
    WarehouseOption,
    takes,
)
from flows.cli.output import print_outcome
from flows.cli.permission import ask_permission
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import print_leaderboard
from flows.run import run_flow, warn_about_ends
from tasks.configuration.models import load_judges
from tasks.jobs.estimate import estimate_reports
from tasks.jobs.pending import check_askable, find_prompted_editions
from tasks.jobs.sessions import check_agents
from tasks.judging.protocols import choose_protocols
from tasks.planning.options import AskOptions, BackfillOptions
from tasks.planning.permission import describe_future_extraction
from tasks.planning.steps import find_backfill_outcome
from tasks.scoring.columns import load_leaderboard, select_fields
from tasks.warehouse.location import DEFAULT_LOCATION

FirstOption = Annotated[
    int | None,
    typer.Option("--first", min=1, help="Only this many pending reports, to try it out."),
]
EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Only show what it would cost; nothing is asked.")
]
EditionsOption = Annotated[
    list[str] | None,
    typer.Option("--edition", help="May be repeated; all with prompts if not given."),
]
AllProtocolsOption = Annotated[
    list[str] | None, typer.Option("--protocol", help="All of them if not given.")
]
FetchOption = Annotated[
    bool, typer.Option("--fetch/--no-fetch", help="Also fetch the pages their reports cite.")
]


@takes(
    AskOptions,
    agents=AskedAgentsOption,
    edition=EditionOption,
    assignments=AssignmentsOption,
    first=FirstOption,
    budget_usd=BudgetOption,
)
def ask(
    options: AskOptions,
    *,
    estimate: EstimateOption = False,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Get an edition's pending reports from agents; nothing is bought twice.

    After an interruption, run the same command again: it waits for the jobs that are running.
    """
    edition, agents = options.edition, options.agents
    if not estimate:
        check_agents(agents, options.budget_usd)
    with open_existing_warehouse(warehouse, edition) as store:
        check_askable(store, edition, options.assignments or ())
        if estimate:
            warn_about_ends({"agents": agents})
            print_frame(estimate_reports(store, [edition], agents, options.first), form)
            return
        plan = options.plan(store)
        complete, outcome = run_flow("ask", options, options.find_outcome(plan), plan)
        next_step = describe_next_step(store, edition)
    print_outcome(complete, outcome, form, next_step=next_step)


@takes(
    BackfillOptions,
    agents=AskedAgentsOption,
    editions=EditionsOption,
    protocols=AllProtocolsOption,
    judge=JudgeOption,
    extractor=ExtractorOption,
    first=FirstOption,
    budget_usd=BudgetOption,
    estimate=...,
    fetch_pages=FetchOption,
)
def backfill(
    options: BackfillOptions,
    *,
    estimate: EstimateOption = False,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Add agents to editions: get their reports and the pages they cite, judge their cells, rank.

    The budget covers reports, extraction and verdicts together. Reports, verdicts and scores of
    other agents stay unchanged.
    """
    agents, budget, extractor = options.agents, options.budget_usd, options.extractor
    if not estimate:
        check_agents(agents, budget)
    judge = options.judge or load_judges().default
    with open_existing_warehouse(warehouse, *options.editions or ()) as store:
        for name in options.editions or ():
            check_askable(store, name)
        names = options.editions or find_prompted_editions(store)
        if estimate:
            warn_about_ends({"agents": agents})
            print_frame(estimate_reports(store, names, agents, options.first), form)
            print_message(
                "Reports only; `evergreen evaluate --estimate` shows what judging them would cost."
            )
            return
        for name in names:
            said = describe_future_extraction(store, name, agents, judge, extractor, budget)
            extractor = ask_permission(said, judge, extractor)
        options = options.model_copy(update={"editions": names, "extractor": extractor})
        plan = options.plan(store)
        done = find_backfill_outcome(store, options, judge)
        complete, outcome = run_flow("backfill", options, done, plan)
        for name in names:
            if form is not Format.JSON:
                print_leaderboard(store, name, form)
            judged_by = choose_protocols(store, name, options.protocols or ())
            print_unchosen(store, name, judge, judged_by, agents)
            warn_about_outdated_site(store, name)
        boards = [select_fields(load_leaderboard(store, name)) for name in names]
    board = pl.concat(boards) if boards else pl.DataFrame()
    print_outcome(complete, outcome, form, {"leaderboard": board})

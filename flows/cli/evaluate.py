"""`evergreen evaluate`, and `evergreen demo`, which runs everything on a sample."""

import os
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.cli.hints import (
    describe_next_step,
    print_unchosen,
    warn_about_idle_protocols,
    warn_about_outdated_site,
    warn_about_pending_pages,
)
from flows.cli.options import (
    AgentsOption,
    BudgetOption,
    EditionOption,
    ExtractAgainOption,
    ExtractorOption,
    FormatOption,
    JudgeOption,
    WarehouseOption,
    takes,
)
from flows.cli.output import print_outcome
from flows.cli.permission import ask_permission
from flows.cli.protocol_option import ProtocolsOption
from flows.cli.warehouse import open_existing_warehouse
from flows.display.console import print_message
from flows.display.demo import print_demo
from flows.display.formats import Format
from flows.display.leaderboard import print_leaderboard
from flows.run import run_flow, warn_about_ends
from flows.runtime.settings import prefect_home
from tasks.configuration.folders import find_packaged
from tasks.configuration.models import load_judges
from tasks.editions.names import check_selection, list_editions
from tasks.imports.wlc import import_edition
from tasks.judges.registry import list_judges
from tasks.judging.protocols import choose_protocols
from tasks.judging.session import check_judges
from tasks.planning.options import BringInOptions, EvaluateOptions
from tasks.planning.permission import describe_extraction
from tasks.protocols.registry import default_protocols
from tasks.run import Plan
from tasks.scoring.columns import load_leaderboard, select_fields
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.snapshot import exports_folder
from tasks.warehouse.store import Warehouse, open_warehouse


def demo(warehouse: WarehouseOption = DEFAULT_LOCATION) -> None:
    """Run everything on the bundled sample edition: no key, no network."""
    with open_warehouse(warehouse, on_wait=print_message) as store:
        protocols = [*default_protocols("wlc"), "reader"]
        options = BringInOptions(edition="sample", protocols=protocols, warehouse=store.url)
        plan = options.plan(store)
        complete, outcome = run_flow(
            "bring_in", options, _find_demo_outcome(store, protocols), plan
        )
        print_demo(store, "sample", "wiki_fact", load_judges().default)
    print_outcome(complete, outcome, next_step=_suggest_after_demo())


def _suggest_after_demo() -> str:
    own = (
        "  evergreen import reports FOLDER --agent NAME     reports of your own agent"
        if Path("configs").is_dir()
        else "  evergreen init my-benchmark     a project with agents and judges of your own"
    )
    return (
        f"Next:\n  evergreen publish --to site     all of it as pages: open site/index.html\n{own}"
    )


def _find_demo_outcome(store: Warehouse, protocols: list[str]) -> str | None:
    """Return the demo's outcome if it ran before and nothing has changed since."""
    if "sample" not in list_editions(store):
        return None
    import_edition(store, find_packaged("sample"), "sample")
    options = EvaluateOptions(edition="sample", protocols=protocols)
    return options.find_outcome(options.plan(store))


@takes(
    EvaluateOptions,
    edition=EditionOption,
    protocols=ProtocolsOption,
    agents=AgentsOption,
    judge=JudgeOption,
    extractor=ExtractorOption,
    extract_again=ExtractAgainOption,
    budget_usd=BudgetOption,
    estimate=...,
    batch=typer.Option(
        "--batch",
        help="Use the models' batch APIs: half the price, up to 24 hours; after an interruption, "
        "run the same command again.",
    ),
)
def evaluate(
    options: EvaluateOptions,
    *,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Only show what it would take; nothing is judged or spent."
        ),
    ] = False,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Judge, score and rank what is pending; a second run does nothing."""
    edition, extractor, budget = options.edition, options.extractor, options.budget_usd
    judge, named = options.judge or load_judges().default, bool(options.protocols)
    with open_existing_warehouse(warehouse) as store:
        protocols = choose_protocols(store, edition, options.protocols or ())
        check_selection(store, edition, protocols, options.agents or (), judge)
        if not estimate:
            check_judges(list_judges(judge, extractor), budget, batch=options.batch)
        warn_about_idle_protocols(store, edition, protocols, named=named)
        options = options.model_copy(update={"protocols": [*protocols], "judge": judge})
        plan = options.plan(store)
        if estimate:
            warn_about_ends({"judge": judge, "extractor": extractor})
            _print_estimate(plan, form)
            warn_about_pending_pages(store, edition, protocols)
            return
        if said := describe_extraction(plan, budget):
            allowed = ask_permission(said, judge, extractor)
            options = options.model_copy(update={"extractor": allowed})
            plan = options.plan(store)
        complete, outcome = run_flow("evaluate", options, options.find_outcome(plan), plan)
        every = load_leaderboard(store, edition)
        board = every.filter(pl.col("protocol").is_in(protocols), judge=judge)
        if form is not Format.JSON:
            print_leaderboard(store, edition, form, protocols, judge)
        _print_remarks(plan, named=named)
        next_step = describe_next_step(store, edition, judge)
    print_message(f"Warehouse  {warehouse}")
    print_message(f"Parquet    {exports_folder(warehouse) / edition / 'latest'}")
    server = os.environ.get("PREFECT_API_URL") or f"{prefect_home()} (evergreen ui)"
    print_message(f"Prefect    {server}")
    print_outcome(complete, outcome, form, {"leaderboard": select_fields(board)}, next_step)


def _print_remarks(plan: Plan, *, named: bool) -> None:
    """Print what this evaluation leaves undone. named: whether a person named the protocols."""
    of = plan.selection
    warn_about_pending_pages(plan.store, of.edition, of.protocols)
    if not named:
        print_unchosen(plan.store, of.edition, of.judge, of.protocols)
    warn_about_outdated_site(plan.store, of.edition)


def _print_estimate(plan: Plan, form: Format) -> None:
    from flows.display.estimate import (  # slow: loads judges and prompts
        estimate_evaluation,
        print_estimate,
    )

    frame, remarks = estimate_evaluation(plan)
    print_estimate(frame, form)
    for remark in remarks:
        print_message(remark, "dim")

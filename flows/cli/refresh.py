"""`evergreen refresh`: a month from the wiki to the published site, or the plan for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from flows.cli.options import DAYS, TextOrJsonOption, WarehouseOption, takes
from flows.cli.output import print_outcome
from flows.cli.permission import ask_permission
from flows.display.console import print_message
from flows.display.formats import Format
from flows.display.leaderboard import print_leaderboard
from flows.run import run_flow
from tasks.collection.request import begin_collection
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.refresh import load_refresh
from tasks.planning.edition_options import RefreshOptions
from tasks.planning.month import (
    check_month,
    describe_month_extraction,
    find_unfinished,
    make_refresh_row,
    resolve_month,
)
from tasks.planning.steps import find_month_outcome
from tasks.scoring.columns import load_leaderboard, select_fields
from tasks.warehouse.location import DEFAULT_LOCATION, DuckDBFile, Location
from tasks.warehouse.operations import MonthRefresh
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change

SiteOption = Annotated[
    Path | None,
    typer.Option("--site", metavar="FOLDER", help=RefreshOptions.model_fields["site"].description),
]


@takes(
    RefreshOptions,
    edition=typer.Option("--edition"),
    created_from=typer.Option("--since", formats=DAYS),
    created_to=typer.Option("--until", formats=DAYS),
    articles=typer.Option("--articles", min=1),
    wiki_api=typer.Option("--wiki-api"),
    agents=typer.Option("--agent", help="An agent to ask; may be repeated."),
    judge=typer.Option("--judge"),
    extractor=typer.Option("--extractor"),
    budget_usd=typer.Option("--budget", min=0.0),
    batch=typer.Option("--batch/--live"),
    to_publish=typer.Option("--publish/--no-publish"),
    site=SiteOption,
    approve=typer.Option("--approve/--no-approve"),
)
def refresh(
    options: RefreshOptions,
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only show what would be done, asked and spent; nothing is written."
        ),
    ] = False,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Collect a month's edition, get its reports, judge and publish them: all that is pending.

    Options that are not given come from configs/refresh.yaml. After an interruption, run the same
    command again; a finished month is verified, and nothing is bought twice. Exit code 1 if
    something is still pending, or if --dry-run finds that the month cannot start.
    """
    settings = load_refresh()
    if dry_run:
        from flows.display.plan import print_plan  # slow: loads all that plans

        with _open_or_simulate(warehouse) as store:
            print_plan(store, resolve_month(store, settings, options, utc_now()), form)
        return
    with open_warehouse(warehouse, on_wait=print_message) as store:
        month = resolve_month(store, settings, options, utc_now())
        said = describe_month_extraction(store, month)
        named = {"extractor": ask_permission(said, month.judge, month.extractor)} if said else {}
        options, month = options.model_copy(update=named), month.model_copy(update=named)
        check_month(store, month)
        # Fail early.
        collection = begin_collection(store, month.collection, load_wikipedia(), utc_now())
        left = {*find_unfinished(store, settings)}
        done = None if left - {month.edition} else find_month_outcome(store, month, collection)
        if done is None or month.edition in left:
            ended = {"outcome": "begun" if done is None else "ok"}
            run = make_refresh_row(month, options).model_copy(update=ended)
            store.write(Change(MonthRefresh, [run]))
    # The flow opens the warehouse itself, so that it is closed while a person decides.
    options = options.model_copy(update={"edition": month.edition})
    complete, outcome = run_flow("refresh", options, done)
    with open_for_reading(warehouse) as source:
        board = load_leaderboard(source, month.edition)
        if form != "json":
            print_leaderboard(source, month.edition, Format.TABLE)
    answers = {"leaderboard": select_fields(board)}
    print_outcome(complete, outcome, Format(form), answers)


@contextmanager
def _open_or_simulate(warehouse: Location) -> Iterator[Warehouse]:
    """Open the warehouse; if there is none yet, open an empty temporary one."""
    if isinstance(warehouse, DuckDBFile) and not warehouse.path.exists():
        with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "none.duckdb") as store:
            yield store
        return
    with open_warehouse(warehouse, on_wait=print_message) as store:
        yield store

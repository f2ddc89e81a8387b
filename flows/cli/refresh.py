"""`evergreen refresh`: a month from the wiki to the published site, or the plan for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from flows.cli.options import ExtractorOption, JudgeOption, RunFormatOption, WarehouseOption
from flows.cli.output import print_outcome
from flows.display.console import print_message
from flows.display.formats import Format
from flows.display.leaderboard import ENTRY_COLUMNS, load_leaderboard, print_leaderboard
from flows.run import run_flow
from tasks.collection.request import begin_collection
from tasks.configuration.refresh import load_refresh
from tasks.configuration.wikipedia import load_wikipedia
from tasks.planning.month import RefreshOptions, check_month, resolve_month
from tasks.planning.month_outcome import refresh_outcome
from tasks.warehouse.location import DEFAULT_LOCATION, DuckDBFile, Location
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, open_warehouse

DAYS = ["%Y-%m-%d"]


def refresh(
    edition: Annotated[
        str | None,
        typer.Option(
            "--edition",
            help="Its name, e.g. 2026-12; this month if not given. It does not set the window.",
        ),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option("--from", formats=DAYS, help="First day (UTC) of the articles' creation."),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option("--to", formats=DAYS, help="The day after the last; today if not given."),
    ] = None,
    articles: Annotated[int | None, typer.Option(min=1, help="How many to choose.")] = None,
    wiki_api: Annotated[
        str | None, typer.Option("--wiki-api", help="Another wiki's api.php.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="An agent to ask; may be repeated."),
    ] = None,
    judge: JudgeOption = None,
    extractor: ExtractorOption = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0.0, help="The most USD the month may spend in all its runs."),
    ] = None,
    batch: Annotated[
        bool | None,
        typer.Option("--batch/--live", help="Use the batch APIs of judges' models."),
    ] = None,
    publish: Annotated[
        bool, typer.Option("--publish/--no-publish", help="Write the site, if one is configured.")
    ] = True,
    site: Annotated[
        Path | None, typer.Option("--site", help="The site's folder; replaced as a whole.")
    ] = None,
    approve: Annotated[
        bool | None,
        typer.Option(
            "--approve/--no-approve", help="Wait for a person's approval in the Prefect UI."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only show what would be done, asked and spent; nothing is written."
        ),
    ] = False,
    form: RunFormatOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Collect a month's edition, get its reports, judge and publish them: all that is pending.

    Options that are not given come from configs/refresh.yaml. After an interruption, run the same
    command again; a finished month is verified, and nothing is bought twice. Exit code 1 if
    something is still pending, or if --dry-run finds that the month cannot start.
    """
    options = RefreshOptions(
        edition=edition, created_from=_to_utc(since), created_to=_to_utc(until), articles=articles,
        wiki_api=wiki_api, agents=tuple(agent) if agent else None, judge=judge,
        extractor=extractor, batch=batch, budget_usd=budget, site=str(site) if site else None,
        approve=approve, publish=publish,
    )  # fmt: skip
    settings = load_refresh()
    if dry_run:
        from flows.display.plan import print_plan  # slow: loads all that plans

        with _open_or_simulate(warehouse) as store:
            print_plan(store, resolve_month(store, settings, options, utc_now()), form)
        return
    with open_warehouse(warehouse, on_wait=print_message) as store:
        month = resolve_month(store, settings, options, utc_now())
        check_month(store, month)
        # Fail early.
        collection = begin_collection(store, month.collection, load_wikipedia(), utc_now())
        done = refresh_outcome(store, month, collection)
    # The flow opens the warehouse itself, so that it is closed while a person decides.
    given = options.model_copy(update={"edition": month.edition}).model_dump(exclude={"publish"})
    complete, outcome = run_flow(
        "refresh", given | {"to_publish": publish, "warehouse": warehouse.url}, done
    )
    with open_for_reading(warehouse) as source:
        board = load_leaderboard(source, month.edition)
        if form != "json":
            print_leaderboard(source, month.edition, Format.TABLE)
    print_outcome(complete, outcome, Format(form), leaderboard=board.select(ENTRY_COLUMNS))


@contextmanager
def _open_or_simulate(warehouse: Location) -> Iterator[Warehouse]:
    """Open the warehouse; if there is none yet, open an empty temporary one."""
    if isinstance(warehouse, DuckDBFile) and not warehouse.path.exists():
        with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "none.duckdb") as store:
            yield store
        return
    with open_warehouse(warehouse, on_wait=print_message) as store:
        yield store


def _to_utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day else None

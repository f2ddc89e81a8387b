"""`evergreen refresh`: a month from the wiki to the published site; and what it would take."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from flows.cli.options import Ended, WarehouseAt
from flows.cli.output import end
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.leaderboard import ENTRY, leaderboard_frame, print_leaderboard
from flows.run import run_flow
from tasks.collection.request import begin
from tasks.configuration.refresh import load_refresh
from tasks.configuration.wikipedia import load_wikipedia
from tasks.planning.month import Wishes, check_month, month_of
from tasks.planning.month_outcome import refresh_outcome
from tasks.warehouse.location import DEFAULT, DuckDBFile, Location
from tasks.warehouse.reading import reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, open_warehouse

DAYS = ["%Y-%m-%d"]


def refresh(
    edition: Annotated[
        str | None,
        typer.Option(
            "--edition",
            help="Its name, e.g. 2026-12; this month's if not given. It does not set the window.",
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
        typer.Option("--agent", help="To be asked; may be given again."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="One of those `evergreen judges` lists.")
    ] = None,
    extractor: Annotated[
        str | None, typer.Option("--extractor", help="As for `evaluate`: a judge that extracts.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", min=0.0, help="USD the month may spend in all its runs."),
    ] = None,
    batch: Annotated[
        bool | None,
        typer.Option("--batch/--live", help="Ask judges' models through their batch APIs."),
    ] = None,
    publish: Annotated[
        bool, typer.Option("--publish/--no-publish", help="Write the site, where there is one.")
    ] = True,
    site: Annotated[
        Path | None, typer.Option("--site", help="The site's folder; replaced as a whole.")
    ] = None,
    approve: Annotated[
        bool | None,
        typer.Option(
            "--approve/--no-approve", help="Have a person decide in the Prefect UI what is shown."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only say what would be done, asked and spent; nothing is written."
        ),
    ] = False,
    form: Ended = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Make a month's edition, have it written, judged and published: all that is still to be done.

    What is not given is as configs/refresh.yaml has it. Interrupted or killed, the same command
    goes on where it was; a finished month is verified, and nothing is bought again. Exit code 1
    when something is left to do, or when --dry-run finds that it would not begin.
    """
    wishes = Wishes(
        edition=edition, created_from=_utc(since), created_to=_utc(until), articles=articles,
        wiki_api=wiki_api, agents=tuple(agent) if agent else None, judge=judge,
        extractor=extractor, batch=batch, budget_usd=budget, site=str(site) if site else None,
        approve=approve, publish=publish,
    )  # fmt: skip
    settings = load_refresh()
    if dry_run:
        from flows.display.plan import say_plan  # with all that counts what would be asked

        with _looked_at(warehouse) as store:
            say_plan(store, month_of(store, settings, wishes, utc_now()), form)
        return
    with open_warehouse(warehouse, on_wait=remark) as store:
        month = month_of(store, settings, wishes, utc_now())
        check_month(store, month)
        # What cannot be is said at once.
        collection = begin(store, month.collection, load_wikipedia(), utc_now())
        done = refresh_outcome(store, month, collection)
    # The flow opens the warehouse itself: while a person decides nothing holds it.
    given = wishes.model_copy(update={"edition": month.edition}).model_dump(exclude={"publish"})
    complete, outcome = run_flow(
        "refresh", given | {"to_publish": publish, "warehouse": warehouse.url}, done
    )
    with reading(warehouse) as source:
        board = leaderboard_frame(source, month.edition)
        if form != "json":
            print_leaderboard(source, month.edition, Format.TABLE)
    end(complete, outcome, Format(form), leaderboard=board.select(ENTRY))


@contextmanager
def _looked_at(warehouse: Location) -> Iterator[Warehouse]:
    """The warehouse; where there is none yet, an empty one that is thrown away."""
    if isinstance(warehouse, DuckDBFile) and not warehouse.path.exists():
        with TemporaryDirectory() as folder, open_warehouse(Path(folder) / "none.duckdb") as store:
            yield store
        return
    with open_warehouse(warehouse, on_wait=remark) as store:
        yield store


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day else None

"""`evergreen serve` and `evergreen ui`: serve the flows as deployments, and Prefect's UI."""

import asyncio
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import typer

from flows.cli.options import WarehouseOption
from flows.display.console import print_always
from flows.registry import MAX_RESUMES, SERVED_FLOWS
from flows.run import start_server
from flows.runtime.settings import prefect_home
from flows.runtime.ui import UI_PORT, serve_ui, stop_ui
from tasks.editions.refresh import load_refresh
from tasks.planning.month import list_obstacles
from tasks.warehouse.location import DEFAULT_LOCATION, Location

MAX_CONCURRENT_RUNS = 3
"""One works; the states of the others show that they wait for the warehouse."""


ResumesOption = Annotated[
    int, typer.Option("--resumes", min=0, max=100, help="How often a killed run is restarted.")
]


def serve(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="FLOW", help=f"One of {', '.join(SERVED_FLOWS)}; may be repeated."),
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            help="Ends the deployments' names; the warehouse's name if not given, unless that is "
            "'warehouse' or 'evergreen'."
        ),
    ] = "",
    pool: Annotated[
        str,
        typer.Option(
            help="Take runs from this work pool, shared with other hosts; created if missing."
        ),
    ] = "",
    at_once: Annotated[
        int,
        typer.Option(
            min=1,
            max=64,
            help="Concurrent runs. Those that need the same DuckDB file wait for each other.",
        ),
    ] = MAX_CONCURRENT_RUNS,
    resumes: ResumesOption = MAX_RESUMES,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The UI's port, if this starts the server.")
    ] = UI_PORT,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Serve the flows as deployments: by schedule (configs/refresh.yaml), or from the Prefect UI.

    Each run has its own process; a killed one is restarted and resumes where it was. With
    PREFECT_API_URL they are served to that server. Keys come from this command's environment.
    """
    for each in only or ():
        if each not in SERVED_FLOWS:
            raise typer.BadParameter(
                f"{each!r} is none of {', '.join(SERVED_FLOWS)}.", param_hint="--only"
            )
    load_refresh()  # report its errors before starting a server
    names = only or list(SERVED_FLOWS)
    with start_server(port) as api_url:
        _serve_until_ended(
            names,
            warehouse,
            name,
            pool,
            at_once=at_once,
            resumes=resumes,
            on_ready=lambda: _print_served(names, warehouse, api_url),
        )


def ui(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help=f"The UI's port; {UI_PORT} if not given.")
    ] = None,
    stop: Annotated[
        bool, typer.Option("--stop", help="End the local server, if nobody uses it.")
    ] = False,
) -> None:
    """Serve the Prefect UI with this project's runs until Ctrl-C."""
    if stop:
        stop_ui(prefect_home())
    else:
        serve_ui(prefect_home(), port)


def _serve_until_ended(
    names: Sequence[str], warehouse: Location, name: str, pool: str, **settings: Any
) -> None:
    """Serve these flows until Ctrl-C or SIGTERM. settings: those of `flows.deployments.serve`."""
    from prefect.exceptions import TerminationSignal

    from flows import deployments as serving  # Prefect reads its settings at import
    from flows.alerts import set_up_alerts
    from flows.runtime.recovery import close_dead_runs
    from flows.runtime.watched_runs import run_watched

    served = serving.build_deployments(warehouse, names, name)
    serve_them = partial(serving.serve_pool, pool=pool) if pool else serving.serve
    # On SIGTERM, Prefect does not await one of its own coroutines.
    warnings.filterwarnings("ignore", "coroutine 'Runner.astop'", RuntimeWarning)
    with suppress(TerminationSignal):
        asyncio.run(serving.check_names(served))
        former = asyncio.run(serving.retire_former(served))
        asyncio.run(close_dead_runs(print_always))
        asyncio.run(serving.limit_runs(load_refresh().runs_at_once))
        asyncio.run(set_up_alerts(load_refresh().alerts))
        run_watched(serve_them([*former, *served], on_message=print_always, **settings))


def _print_served(names: Sequence[str], warehouse: Location, api_url: str) -> None:
    ui = api_url.removesuffix("/").removesuffix("/api")
    print_always(f"Served: {', '.join(names)} on {warehouse}. Start them at {ui}/deployments")
    schedule = load_refresh().schedule
    if "refresh" in names and schedule:
        print_always(f"refresh starts by schedule: {schedule.cron} ({schedule.timezone}).")
        for obstacle in list_obstacles(load_refresh()):
            print_always(f"It will fail at its start: {obstacle}", "yellow")
    print_always("Press Ctrl-C to stop; schedules stay.")

"""`evergreen serve` and `evergreen ui`: the flows as deployments, and Prefect's UI."""

import asyncio
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from flows.cli.options import WarehouseAt
from flows.display.console import REMARKS, insist
from flows.registry import NAMES, RESUMES
from flows.runtime.server import UI_PORT, local_server, serve_ui
from flows.runtime.settings import prefect_home
from tasks.configuration.refresh import load_refresh
from tasks.warehouse.location import DEFAULT, Location

AT_ONCE = 3
"""One works, and those that wait for the warehouse say so in their states."""


Times = Annotated[
    int,
    typer.Option("--resumes", min=0, max=100, help="How often a run that was killed goes on."),
]


def serve(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help=f"One of {', '.join(NAMES)}; may be given again."),
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            "--name", help="What the deployments are called; the warehouse's name if not."
        ),
    ] = "",
    pool: Annotated[
        str,
        typer.Option(
            "--pool",
            help="Take runs from this work pool, as other hosts do; it is made if it is not there.",
        ),
    ] = "",
    at_once: Annotated[
        int,
        typer.Option(
            "--at-once",
            min=1,
            max=64,
            help="Runs at once. Those that need the same DuckDB file wait for each other.",
        ),
    ] = AT_ONCE,
    resumes: Times = RESUMES,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the UI is, if this starts the server.")
    ] = UI_PORT,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Serve the flows: by schedule (configs/refresh.yaml), or from the Prefect UI by a form.

    Each run has a process of its own. One that was killed is noticed and goes on where it was. With
    PREFECT_API_URL they are served to that server. Keys are taken from this command's environment.
    """
    for each in only or ():
        if each not in NAMES:
            raise typer.BadParameter(f"{each!r} is none of {', '.join(NAMES)}.", param_hint="only")
    load_refresh()  # what is wrong with it is said before a server is started
    with REMARKS.status("Starting the Prefect server …"):
        server = local_server(prefect_home(), port)
        api_url = server.__enter__()
    try:
        from flows import deployments as serving  # Prefect reads its settings at import

        served = serving.deployments(warehouse, only or NAMES, name)
        asyncio.run(serving.check_names(served))
        # Ended by SIGTERM, Prefect forgets to wait for a coroutine of its own.
        warnings.filterwarnings("ignore", "coroutine 'Runner.astop'", RuntimeWarning)
        serve_them = partial(serving.serve_pool, pool=pool) if pool else serving.serve
        asyncio.run(
            serve_them(
                served,
                at_once=at_once,
                resumes=resumes,
                on_message=insist,
                ready=lambda: _say(only or NAMES, warehouse, api_url),
            )
        )
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Prefect's word for SIGTERM is no Exception
        if type(error).__name__ != "TerminationSignal":
            raise
    finally:
        server.__exit__(None, None, None)


def ui(port: Annotated[int, typer.Option(min=1, max=65535, help="Where.")] = 4200) -> None:
    """The Prefect UI over this project's runs, until Ctrl-C."""
    serve_ui(prefect_home(), port)


def _say(names: Sequence[str], warehouse: Location, api_url: str) -> None:
    ui = api_url.removesuffix("/").removesuffix("/api")
    insist(f"Served: {', '.join(names)} on {warehouse}. Start them at {ui}/deployments")
    schedule = load_refresh().schedule
    if "refresh" in names and schedule:
        insist(f"refresh begins by itself: {schedule.cron} ({schedule.timezone}).")
    insist("Ctrl-C ends it; schedules stay.")

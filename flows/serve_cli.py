"""`evergreen serve`: the flows as deployments of a Prefect server."""

import os
from typing import Annotated

import typer

from flows.console import REMARKS, insist
from flows.options import WarehousePath
from flows.run import prefect_home
from flows.server import UI_PORT, local_server
from tasks.warehouse.store import DEFAULT_PATH

NAMES = ("ask", "backfill", "collect", "evaluate", "fetch", "publish", "refresh", "rejudge")
"""Of the flows that are served; each has one deployment, called after the warehouse."""


def serve(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help=f"One of {', '.join(NAMES)}; may be given again."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where the UI is, if this starts the server.")
    ] = UI_PORT,
    warehouse: WarehousePath = DEFAULT_PATH,
) -> None:
    """Serve the flows: start them from the Prefect UI, with a form for their parameters.

    One run at a time, each in a process of its own, until Ctrl-C. With PREFECT_API_URL they are
    served to that server. Keys are taken from this command's environment.
    """
    for name in only or ():
        if name not in NAMES:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(NAMES)}.", param_hint="only")
    with REMARKS.status("Starting the Prefect server …"):
        server = local_server(prefect_home(), port)
        api_url = server.__enter__()
    try:
        from flows.serve import serve as serve_flows  # Prefect reads its settings at import

        ui = api_url.removesuffix("/").removesuffix("/api")
        names = ", ".join(only or NAMES)
        insist(f"Served: {names} on {os.path.relpath(warehouse)}. Start them at {ui}/deployments")
        insist("Ctrl-C ends it.")
        serve_flows(warehouse, only or ())
    finally:
        server.__exit__(None, None, None)


def register(app: typer.Typer) -> None:
    """Add the command to `evergreen`."""
    app.command()(serve)

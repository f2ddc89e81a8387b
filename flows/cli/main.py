"""The `evergreen` command: what stands before a command's name, and how it ends."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from flows.cli.commands import PANELS
from flows.cli.lazy import add_commands
from flows.cli.log_level import LOG_LEVEL, LOG_LEVEL_HELP, LogLevel, set_log_level
from flows.cli.options import WAREHOUSE_OPTION
from flows.runtime.settings import prefect_environment, prefect_home
from tasks.errors import ExpectedError
from tasks.warehouse.location import Location


class Evergreen(TyperGroup):
    """All commands, none of them imported yet."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for panel, entries in PANELS.items():
            add_commands(self, entries, panel)


app = typer.Typer(
    cls=Evergreen,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A live benchmark for deep-research agents: collect or import an edition, assign, "
    "evaluate, publish, read the leaderboard.",
    epilog="Answers go to stdout, progress and remarks to stderr. Exit codes: 0 all was done; 1 "
    "something failed, an input is wrong, or not everything could be done (the message says what; "
    "run it again); 2 wrong usage; 130 and 143 it was interrupted or ended: what was done is kept.",
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # takes longer than to complete a word

        typer.echo(version("evergreen-bench"))
        raise typer.Exit


@app.callback()
def options(
    warehouse: Annotated[Location | None, WAREHOUSE_OPTION] = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="No progress and no remarks, only answers and errors (EVERGREEN_QUIET=1).",
        ),
    ] = False,
    log_level: Annotated[
        LogLevel | None, typer.Option("--log-level", envvar=LOG_LEVEL, help=LOG_LEVEL_HELP)
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version and exit."
        ),
    ] = False,
) -> None:
    from flows.display.console import be_quiet, wants_quiet  # no word of help needs it

    if quiet or wants_quiet():
        be_quiet()
    if log_level:
        set_log_level(log_level)
    if warehouse:  # given before the command's name: the command reads it from the environment
        os.environ["EVERGREEN_WAREHOUSE"] = str(warehouse)


def main() -> None:
    """Entry point: what a user can set right is told in its own words, exit code 1."""
    os.environ.update(prefect_environment(prefect_home()))
    try:
        app()
    except ExpectedError as error:
        from flows.display.console import insist

        insist(f"error: {error}", style="red")
        sys.exit(1)

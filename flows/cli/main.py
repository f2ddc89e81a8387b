"""The `evergreen` command: its global options and exit codes.

`--log-level`, or EVERGREEN_LOG_LEVEL, is that of libraries on stderr, mainly of Prefect.
Evergreen's own messages are no log: `--quiet` mutes them. Whatever the level, runs log into their
history from INFO on.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from traceback import format_exc
from typing import Annotated, Any, NoReturn

import typer

from flows.cli.commands import PANELS
from flows.cli.lazy_commands import add_commands
from flows.cli.options import WAREHOUSE_OPTION
from flows.cli.usage import ReadableGroup
from flows.runtime.settings import prefect_environment, prefect_home
from tasks.configuration.folders import OWN_FOLDER
from tasks.errors import ExpectedError
from tasks.foreign_text import make_visible
from tasks.warehouse.location import DEFAULT_LOCATION, DuckDBFile, Location, parse_location

OUTPUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a full or broken disk, which no command can know in advance."""
LOG_LEVEL_VARIABLE = "EVERGREEN_LOG_LEVEL"
CONSOLE_LEVEL_VARIABLE = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


class LogLevel(StrEnum):
    """The lowest level that is shown."""

    ERROR = "error"
    WARNING = "warning"
    """The default."""
    INFO = "info"
    """Also the logs of runs and tasks."""
    DEBUG = "debug"
    """Everything, also in the history and in the log of a local server."""


LOG_LEVEL_HELP = (
    f"The log level of Prefect and other libraries on stderr; info shows the logs of runs, debug "
    f"everything ({LOG_LEVEL_VARIABLE})."
)


def set_log_level(level: LogLevel) -> None:
    """Set Prefect's log level, here and in the processes that this one starts; call it before
    Prefect is imported, which reads it."""
    name = level.value.upper()
    os.environ[LOG_LEVEL_VARIABLE] = level.value
    os.environ[CONSOLE_LEVEL_VARIABLE] = name
    os.environ["PREFECT_LOGGING_LEVEL"] = "DEBUG" if level is LogLevel.DEBUG else "INFO"
    os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = name


class EvergreenGroup(ReadableGroup):
    """The group of all commands, none of them imported yet."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for panel, entries in PANELS.items():
            add_commands(self, entries, panel)

    def make_context(self, *given: Any, **settings: Any) -> Any:
        with _visible_usage_errors():
            return super().make_context(*given, **settings)

    def invoke(self, ctx: Any) -> Any:
        with _visible_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _visible_usage_errors() -> Iterator[None]:
    """Make the messages of wrong usage visible, which Typer prints on a console of its own, without
    what pydantic puts before some."""
    try:
        yield
    except typer.BadParameter as error:
        error.message = make_visible(error.message.removeprefix("Value error, "))
        raise


app = typer.Typer(
    cls=EvergreenGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    help="A live benchmark for deep-research agents: collect or import an edition, assign, "
    "evaluate, publish, read the leaderboard.",
    epilog="Results go to stdout, progress and messages to stderr. Exit codes: 0 everything was "
    "done; 1 something failed, an input is wrong, or something is pending (the message says what; "
    "run it again); 2 wrong usage; 130 and 143 interrupted or terminated; finished work is kept.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # too slow for completion

        typer.echo(version("evergreen-bench"))
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    warehouse: Annotated[Location | None, WAREHOUSE_OPTION] = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Print only results and errors, no progress or messages (EVERGREEN_QUIET=1).",
        ),
    ] = False,
    log_level: Annotated[
        LogLevel | None, typer.Option(envvar=LOG_LEVEL_VARIABLE, help=LOG_LEVEL_HELP)
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    from flows.display.console import is_quiet_requested, mute_messages, print_warnings
    from tasks.credentials import check_variables  # the help needs neither

    check_variables()
    if quiet or is_quiet_requested():
        mute_messages()
    print_warnings()
    if log_level:
        set_log_level(log_level)
    if warehouse:  # given before the command's name; the command reads it from the environment
        os.environ["EVERGREEN_WAREHOUSE"] = str(warehouse)
    if context.invoked_subcommand is None:
        _print_start(context, warehouse or parse_location(DEFAULT_LOCATION))


def _print_start(context: typer.Context, where: Location) -> None:
    """Print where one stands in a project, else the help."""
    if not isinstance(where, DuckDBFile) or where.path.exists():
        from flows.cli.overview import print_overview  # slow: opens DuckDB

        print_overview(where)
    elif Path(OWN_FOLDER).is_dir():
        typer.echo(
            f"Warehouse  {where}: none yet\n"
            "Next       evergreen demo, or evergreen collect; evergreen --help lists all commands"
        )
    else:
        typer.echo(context.get_help())


INTERRUPTED = "Query interrupted"
"""What DuckDB says of Ctrl-C where it runs in the main thread."""


def main() -> None:
    """Run the command; print an `ExpectedError`, or that the disk is full, as a message
    and exit with 1."""
    os.environ.update(prefect_environment(prefect_home()))
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # at exit it would be too late to say why it fails
    except ExpectedError as error:
        _exit_with_error(str(error))
    except OSError as error:
        if error.filename:  # else: standard output
            _exit_for_full_disk(error)
        if error.errno not in OUTPUT_ERRORS:
            _exit_with_traceback()
        # What could not be written is dropped, or Python would write it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _exit_with_error(f"cannot write: {error.strerror}.")
    except Exception as error:
        if isinstance(error, RuntimeError) and str(error) == INTERRUPTED:
            sys.exit(130)
        _exit_for_full_disk(error)
        _exit_with_traceback()


def _exit_for_full_disk(error: Exception) -> None:
    """Exit with what is needed if an error says that a disk is full, wherever it comes from."""
    from tasks.files.room import find_full_disk
    from tasks.warehouse.errors import NoRoom

    if problem := find_full_disk(error):
        _exit_with_error(str(NoRoom.met(problem)))


def _exit_with_error(message: str) -> NoReturn:
    from flows.display.console import print_always

    print_always(f"error: {message}", style="red")
    sys.exit(1)


def _exit_with_traceback() -> NoReturn:
    """Exit as Python does, but visibly: the error may quote text from outside."""
    from flows.display.console import print_always

    print_always(format_exc().rstrip())
    sys.exit(1)

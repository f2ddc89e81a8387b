"""The consoles: results go to stdout, progress and messages to stderr."""

import os
import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

QUIET_VARIABLE = "EVERGREEN_QUIET"
"""The environment variable that mutes messages unless it is empty, 0, false or no."""


def is_quiet_requested() -> bool:
    """Whether the environment asks to mute messages."""
    return os.environ.get(QUIET_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


STDOUT = Console(width=None if sys.stdout.isatty() else 120)
"""Results. In a file or a pipe, tables are wide enough for every column."""
STDERR = Console(stderr=True, soft_wrap=True, quiet=is_quiet_requested())
"""Messages; print text by `print_message`. Not wrapped, so that commands can be copied."""
UNMUTED_STDERR = Console(stderr=True, soft_wrap=True)
"""Messages that a quiet command prints, too: errors, and what a person has to do."""


def mute_messages() -> None:
    """Mute progress and messages, here and in the processes that this one starts."""
    STDERR.quiet = True
    os.environ[QUIET_VARIABLE] = "1"


def print_result(text: str, style: str | None = None, *, wrap: bool = True) -> None:
    """Print text verbatim, without markup, to stdout. wrap: between words, to the width."""
    STDOUT.print(text, style=style, markup=False, highlight=False, soft_wrap=not wrap)


def print_always(text: str, style: str | None = None) -> None:
    """Print text verbatim, without markup, to stderr, even if messages are muted."""
    UNMUTED_STDERR.print(text, style=style, markup=False, highlight=False)


def print_message(text: str, style: str | None = None) -> None:
    """Print text verbatim, without markup, to stderr; inside a run also log it."""
    STDERR.print(text, style=style, markup=False, highlight=False)
    context = sys.modules.get("prefect.context")  # do not import Prefect to find that nothing runs
    if context and (context.FlowRunContext.get() or context.TaskRunContext.get()):
        from prefect import get_run_logger

        get_run_logger().info("%s", text)


def transient_progress() -> Progress:
    """Create progress bars that disappear at the end; hidden unless stderr is a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=STDERR, transient=True, disable=not STDERR.is_terminal)

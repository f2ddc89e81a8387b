"""Where words to people go: answers to stdout, progress and remarks to stderr."""

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

QUIET = "EVERGREEN_QUIET"
"""The environment variable that asks for quiet; empty, 0, false and no do not."""


def wants_quiet() -> bool:
    """Whether the environment asks for it."""
    return os.environ.get(QUIET, "").strip().lower() not in ("", "0", "false", "no")


ANSWERS = Console(width=None if sys.stdout.isatty() else 120)
"""Into a file or a pipe tables get room enough for every column."""
REMARKS = Console(stderr=True, soft_wrap=True, quiet=wants_quiet())
"""Never wrapped by us: commands and paths in it can be copied. Text goes through `remark`."""
INSISTED = Console(stderr=True, soft_wrap=True)
"""What a person must know or do: said to stderr also by a quiet command."""


def be_quiet() -> None:
    """From now on neither progress nor remarks: only answers, and what went wrong. So do the
    processes that this one starts, such as the runs of `serve`."""
    REMARKS.quiet = True
    os.environ[QUIET] = "1"


def insist(text: str, style: str | None = None) -> None:
    """Say it to people also where remarks are not wanted, as it stands: nothing in it is markup."""
    INSISTED.print(text, style=style, markup=False, highlight=False)


def remark(text: str, style: str | None = None) -> None:
    """Say it to people, as it stands: nothing in it is markup. Inside a run it stands in the run's
    log in the Prefect UI, too."""
    REMARKS.print(text, style=style, markup=False, highlight=False)
    context = sys.modules.get("prefect.context")  # not loaded only to find that nothing runs
    if context and (context.FlowRunContext.get() or context.TaskRunContext.get()):
        from prefect import get_run_logger

        get_run_logger().info("%s", text)


def passing_bars() -> Progress:
    """Bars that leave nothing behind; none where nobody watches."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=REMARKS, transient=True, disable=not REMARKS.is_terminal)

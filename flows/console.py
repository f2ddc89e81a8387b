"""Where words to people go: answers to stdout, progress and remarks to stderr."""

import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

ANSWERS = Console(width=None if sys.stdout.isatty() else 120)
"""Into a file or a pipe tables get room enough for every column."""
REMARKS = Console(stderr=True, soft_wrap=True)
"""Never wrapped by us: commands and paths in it can be copied."""


def remark(text: str, style: str | None = None) -> None:
    """Say it to people, as it stands: nothing in it is markup."""
    REMARKS.print(text, style=style, markup=False, highlight=False)


def passing_bars() -> Progress:
    """Bars that leave nothing behind; none where nobody watches."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=REMARKS, transient=True, disable=not REMARKS.is_terminal)

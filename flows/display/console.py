"""The consoles: results go to stdout, progress and messages to stderr.

What they print is text from outside: it is printed as it stands, without markup, and what would act
on the terminal or be invisible is shown by its code points.
"""

import logging
import os
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment
from rich.text import Text

from tasks.foreign_text import make_visible

QUIET_VARIABLE = "EVERGREEN_QUIET"
"""The environment variable that mutes messages unless it is empty, 0, false or no."""


def is_quiet_requested() -> bool:
    """Whether the environment asks to mute messages."""
    return os.environ.get(QUIET_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


class VisibleConsole(Console):
    """A console on which text cannot act: neither as markup nor as control sequences."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, emoji=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Make a string visible before it is laid out, so that its columns stay aligned."""
        return super().render_str(make_visible(text), **settings)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Make visible what others have laid out; Rich's own control segments stay."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else make_visible(segment.text)
            yield segment if text == segment.text else segment._replace(text=text)


STDOUT = VisibleConsole(width=None if sys.stdout.isatty() else 120)
"""Results. In a file or a pipe, tables are wide enough for every column."""
STDERR = VisibleConsole(stderr=True, soft_wrap=True, quiet=is_quiet_requested())
"""Messages; print text by `print_message`. Not wrapped, so that commands can be copied."""
UNMUTED_STDERR = VisibleConsole(stderr=True, soft_wrap=True)
"""Messages that a quiet command prints, too: errors, and what a person has to do."""


def mute_messages() -> None:
    """Mute progress and messages, here and in the processes that this one starts."""
    STDERR.quiet = True
    os.environ[QUIET_VARIABLE] = "1"


def print_result(text: str, style: str | None = None, *, wrap: bool = True) -> None:
    """Print text verbatim to stdout. wrap: between words, to the width."""
    STDOUT.print(text, style=style, highlight=False, soft_wrap=not wrap)


def print_always(text: str, style: str | None = None) -> None:
    """Print text verbatim to stderr, even if messages are muted."""
    UNMUTED_STDERR.print(text, style=style, highlight=False)


def print_warnings() -> None:
    """Print what the warehouse warns of from now on, each text once, even if messages are muted."""
    print_once = cache(lambda text: print_always(text, style="yellow"))
    logging.getLogger("evergreen").filters = [lambda record: bool(print_once(record.getMessage()))]


def print_message(text: str, style: str | None = None) -> None:
    """Print text verbatim to stderr; inside a run also log it."""
    STDERR.print(text, style=style, highlight=False)
    context = sys.modules.get("prefect.context")  # do not import Prefect to find that nothing runs
    if context and (context.FlowRunContext.get() or context.TaskRunContext.get()):
        from prefect import get_run_logger

        get_run_logger().info("%s", make_visible(text))


def transient_progress() -> Progress:
    """Create progress bars that disappear at the end; hidden unless stderr is a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=STDERR, transient=True, disable=not STDERR.is_terminal)

"""Commands that the audit records: each that has a warehouse and changes it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import typer

from flows.cli.usage import ReadableCommand, name_command

LEFT_OUT = {"warehouse", "format", "help"}
"""Options that say where the row is, or only how an answer looks."""


class RecordedCommand(ReadableCommand):
    """A command with its row in the audit."""

    at_once = False

    def invoke(self, ctx: Any) -> Any:
        """Run the command; record it if it changes something."""
        with record_command(ctx, at_once=self.at_once):
            return super().invoke(ctx)


class RecordedAtOnce(RecordedCommand):
    """A command that changes something without writing a row of the warehouse."""

    at_once = True


def record_callback(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Let a group's callback be recorded at once, where it is the command itself."""

    @wraps(callback)
    def recorded(context: typer.Context, **given: Any) -> Any:
        if context.invoked_subcommand:
            return callback(context=context, **given)
        with record_command(context, at_once=True):
            return callback(context=context, **given)

    return recorded


def record_command(context: Any, *, at_once: bool = False) -> AbstractContextManager[None]:
    """Record a command, by its context, in the warehouse that it is given."""
    warehouse = context.params.get("warehouse")
    if warehouse is None:
        return nullcontext()
    from flows.display.console import print_always
    from tasks.warehouse.recording import make_activity, record_activity  # slow: opens DuckDB

    given = {_written_name(option): context.params[option.name] for option in context.command.params
             if option.name in context.params}  # fmt: skip
    name = name_command(context)
    activity = make_activity(
        warehouse,
        "command",
        name,
        {option: value for option, value in given.items() if option not in LEFT_OUT},
        edition=_find_edition(name, given),
        at_once=at_once,
    )
    return record_activity(activity, lambda line: print_always(line, style="yellow"))


def _written_name(option: Any) -> str:
    """Return an option's name as it is typed, without its dashes."""
    return str(max(option.opts, key=len)).lstrip("-")


def _find_edition(name: str, given: dict[str, Any]) -> str | None:
    asked = given.get("edition")
    if asked is None and name.startswith("edition "):
        asked = given.get("name")
    if isinstance(asked, list | tuple):
        return ", ".join(asked) or None
    return asked

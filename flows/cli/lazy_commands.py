"""Commands that are listed without being imported, and imported when called. The audit records
each that has a warehouse and changes it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, wraps
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from flows.cli.usage import ReadableCommand, ReadableGroup, name_command

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


class CommandEntry(NamedTuple):
    """An entry for a command."""

    target: str
    """`module:function`."""
    help: str
    """The first sentence of the function's docstring."""
    example: str
    settings: Mapping[str, Any] = {}
    """Settings of the command's context."""
    at_once: bool = False
    """Whether the audit records it before it begins: it changes something else than rows, or gives
    somebody a right."""


class GroupEntry(NamedTuple):
    """An entry for a group of commands."""

    help: str
    commands: Mapping[str, CommandEntry]
    callback: str | None = None
    """`module:function` to call if no command is given."""
    example: str | None = None
    """An example of that call."""
    at_once: bool = False
    """Whether the audit records the callback before it begins."""


class LazyCommand(TyperCommand):
    """A placeholder for a command until it is called, with its name and a line for the help."""

    def __init__(
        self, name: str, entry: CommandEntry | GroupEntry, panel: str | None = None
    ) -> None:
        super().__init__(name, short_help=entry.help, rich_help_panel=panel)
        self.entry = entry

    @cached_property
    def command(self) -> Any:
        """The command itself, imported on first use."""
        assert self.name
        if isinstance(self.entry, GroupEntry):
            return _build_group(self.name, self.entry)
        app = typer.Typer(add_completion=False)
        kind = RecordedAtOnce if self.entry.at_once else RecordedCommand
        app.command(
            self.name,
            cls=kind,
            context_settings={**self.entry.settings},
            epilog=_format_example(self.entry.example),
        )(_import_function(self.entry.target))
        return typer.main.get_command(app)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Make the real command's context: calls, help and completion start here and continue with
        the context's command."""
        return self.command.make_context(info_name, args, parent, **extra)


def add_commands(
    group: TyperGroup, entries: Mapping[str, CommandEntry | GroupEntry], panel: str | None = None
) -> None:
    """Add commands to a group. panel: the panel of its help that lists them."""
    for name, entry in entries.items():
        group.add_command(LazyCommand(name, entry, panel))


def _build_group(name: str, group: GroupEntry) -> TyperGroup:
    callback = _import_function(group.callback) if group.callback else None
    if callback and group.at_once:
        callback = record_callback(callback)
    app = typer.Typer(
        name=name,
        cls=ReadableGroup,
        help=group.help,
        epilog=_format_example(group.example) if group.example else None,
        add_completion=False,
        invoke_without_command=callback is not None,
        no_args_is_help=callback is None,
    )
    app.callback()(callback or _do_nothing)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    add_commands(command, group.commands)
    return command


def _format_example(example: str) -> str:
    """Return the end of a command's help."""
    return f"Example:\n\n{example}"


def _do_nothing() -> None:
    """The callback of a group that only has commands."""


def _import_function(target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found

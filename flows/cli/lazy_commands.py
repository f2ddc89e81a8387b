"""Commands that are listed without being imported, and imported when called."""

import gc
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from flows.cli.usage import ReadableCommand, ReadableGroup


class CommandEntry(NamedTuple):
    """An entry for a command."""

    target: str
    """`module:function`."""
    example: str
    settings: Mapping[str, Any] = {}
    """Settings of the command's context."""


class GroupEntry(NamedTuple):
    """An entry for a group of commands."""

    help: str
    commands: Mapping[str, CommandEntry]
    callback: str | None = None
    """`module:function` to call if no command is given."""
    example: str | None = None
    """An example of that call."""


class LazyCommand(TyperCommand):
    """A placeholder for a command until it is called, with its name and a line for the help."""

    def __init__(
        self, name: str, entry: CommandEntry | GroupEntry, panel: str | None = None
    ) -> None:
        summary = entry.help if isinstance(entry, GroupEntry) else read_summary(entry.target)
        super().__init__(name, short_help=summary, rich_help_panel=panel)
        self.entry = entry

    @cached_property
    def command(self) -> Any:
        """The command itself, imported on first use."""
        assert self.name
        if isinstance(self.entry, GroupEntry):
            return _build_group(self.name, self.entry)
        app = typer.Typer(add_completion=False)
        app.command(
            self.name,
            cls=ReadableCommand,
            context_settings={**self.entry.settings},
            epilog=_format_example(self.entry.example),
        )(_import_function(self.entry.target))
        return typer.main.get_command(app)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Make the real command's context: calls, help and completion start here and continue with
        the context's command."""
        context = self.command.make_context(info_name, args, parent, **extra)
        gc.freeze()  # what is imported stays
        gc.enable()
        return context


def add_commands(
    group: TyperGroup, entries: Mapping[str, CommandEntry | GroupEntry], panel: str | None = None
) -> None:
    """Add commands to a group. panel: the panel of its help that lists them."""
    for name, entry in entries.items():
        group.add_command(LazyCommand(name, entry, panel))


def _build_group(name: str, group: GroupEntry) -> TyperGroup:
    callback = _import_function(group.callback) if group.callback else None
    app = typer.Typer(
        name=name,
        cls=ReadableGroup,
        help=group.help,
        epilog=_format_example(group.example) if group.example else None,
        add_completion=False,
        invoke_without_command=callback is not None,
        no_args_is_help=callback is None,
    )
    app.callback()(callback or (lambda: None))
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    add_commands(command, group.commands)
    return command


def _format_example(example: str) -> str:
    """Return the end of a command's help."""
    return f"Example:\n\n{example}"


def read_summary(target: str) -> str:
    """Read the first sentence of a function's docstring without importing its module."""
    module, _, function = target.partition(":")
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text("utf-8")
    _, docstring, _ = source.partition(f"\ndef {function}(")[2].split('"""', 2)
    return re.split(r"(?<=\.)\s", docstring.strip(), maxsplit=1)[0].replace("\n    ", " ")


def _import_function(target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found

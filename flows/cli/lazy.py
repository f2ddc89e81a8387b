"""Commands that are listed at once and imported when they are called."""

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Command(NamedTuple):
    """A command of the table."""

    where: str
    """`module:function`."""
    help: str
    """The first sentence of what the function says of itself."""
    settings: Mapping[str, Any] = {}
    """For its context."""


class Group(NamedTuple):
    """Commands with a word in front of them."""

    help: str
    commands: Mapping[str, Command]
    alone: str | None = None
    """`module:function` of what the word does without a command."""


class OnDemand(TyperCommand):
    """What stands for a command until it is called: its name, and a line for the help."""

    def __init__(self, name: str, entry: Command | Group, panel: str | None = None) -> None:
        super().__init__(name, short_help=entry.help, rich_help_panel=panel)
        self.entry = entry

    @cached_property
    def real(self) -> Any:
        """The command itself."""
        assert self.name
        if isinstance(self.entry, Group):
            return _group(self.name, self.entry)
        app = typer.Typer(add_completion=False)
        app.command(self.name, context_settings={**self.entry.settings})(_found(self.entry.where))
        return typer.main.get_command(app)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """The real command's: whoever calls it, asks for its help or completes its options begins
        with this, and goes on with the command that the context names."""
        return self.real.make_context(info_name, args, parent, **extra)


def add_commands(
    group: TyperGroup, entries: Mapping[str, Command | Group], panel: str | None = None
) -> None:
    """Let a group have these commands. panel: the part of its help that lists them."""
    for name, entry in entries.items():
        group.add_command(OnDemand(name, entry, panel))


def _group(name: str, group: Group) -> TyperGroup:
    alone = _found(group.alone) if group.alone else None
    app = typer.Typer(
        name=name,
        help=group.help,
        add_completion=False,
        invoke_without_command=alone is not None,
        no_args_is_help=alone is None,
    )
    app.callback()(alone or _nothing)
    made = typer.main.get_command(app)
    assert isinstance(made, TyperGroup)
    add_commands(made, group.commands)
    return made


def _nothing() -> None:
    """What a group does that only has commands."""


def _found(where: str) -> Callable[..., Any]:
    module, _, function = where.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found

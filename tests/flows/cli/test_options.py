"""What the commands' options say of themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from flows.cli.lazy_commands import LazyCommand
from flows.cli.main import app


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its name, as it is typed."""
    yield from _within("", typer.main.get_command(app))


def _within(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    command = command.command if isinstance(command, LazyCommand) else command
    parts = getattr(command, "commands", None)
    if parts is None:
        yield name, command
    for part, inner in (parts or {}).items():
        yield from _within(f"{name} {part}".strip(), inner)


def test_every_format_option_says_what_it_is_for() -> None:
    bare = [
        name
        for name, command in commands()
        for option in command.params
        if "--format" in option.opts and not option.help
    ]
    assert bare == []

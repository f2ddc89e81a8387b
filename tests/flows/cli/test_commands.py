"""The table of commands, and what stands before them."""

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
import typer

from flows.cli.lazy_commands import CommandEntry, GroupEntry, LazyCommand
from flows.cli.main import app
from tests.flows.conftest import Evergreen


def listed(name: str, command: Any) -> Iterator[tuple[str, LazyCommand]]:
    """Every entry of the table below a command, with its name as it is typed."""
    for part, entry in getattr(command, "commands", {}).items():
        yield f"{name} {part}".strip(), entry
        yield from listed(f"{name} {part}".strip(), entry.command)


TABLE = dict(listed("", typer.main.get_command(app)))


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that is no group, with its name."""
    for name, entry in TABLE.items():
        if not hasattr(entry.command, "commands"):
            yield name, entry.command


@pytest.mark.parametrize(
    "name", [name for name, entry in TABLE.items() if isinstance(entry.entry, CommandEntry)]
)
def test_the_help_lists_a_command_with_the_first_sentence_of_its_own(name: str) -> None:
    said = " ".join(inspect.cleandoc(TABLE[name].command.help).split("\n\n")[0].split())
    [first] = re.findall(r"^.*?\.(?=\s|$)", said)
    assert TABLE[name].short_help == first


@pytest.mark.parametrize(
    "name", [name for name, entry in TABLE.items() if isinstance(entry.entry, GroupEntry)]
)
def test_the_help_of_a_group_says_what_the_list_of_commands_says_of_it(
    name: str, evergreen: Evergreen
) -> None:
    code, said, _ = evergreen(*name.split(), "--help")
    assert code == 0
    assert str(TABLE[name].short_help) in said
    assert all(f" {part} " in said for part in TABLE[name].command.commands)


def test_a_group_alone_shows_its_help_unless_it_does_something(evergreen: Evergreen) -> None:
    code, said, _ = evergreen("pages")
    assert code == 2
    assert "Usage" in said
    code, said, _ = evergreen("judges")
    assert code == 0
    assert "gemini" in said


def test_a_mistyped_command_is_answered_with_near_ones(evergreen: Evergreen) -> None:
    for words, near in ((["evalute"], "evaluate"), (["pages", "wals"], "walls")):
        code, _, said = evergreen(*words)
        assert code == 2
        assert f"Did you mean '{near}'?" in said


def test_the_version_is_that_of_the_package(evergreen: Evergreen) -> None:
    assert evergreen("--version") == (0, f"{version('evergreen-bench')}\n", "")

"""How commands are used: an example each, and words for values."""

import re
import shlex
from typing import Any

import pytest
import typer

from flows.cli.lazy_commands import GroupEntry
from flows.cli.main import app
from tests.flows.cli.test_commands import TABLE

ROOT = typer.main.get_command(app)
CALLED = [
    name
    for name, entry in TABLE.items()
    if not isinstance(entry.entry, GroupEntry) or entry.entry.callback
]
"""Every command that does something, also a group by itself."""
WIDTH = 78
"""What fits a narrow terminal beside the help's margins."""


def parameters(name: str) -> list[Any]:
    """The parameters as the help shows them."""
    command = TABLE[name].command
    context = typer.Context(command, info_name=name)
    return list(command.get_params(context))


@pytest.mark.parametrize("name", CALLED)
def test_a_command_has_one_example_which_it_understands(name: str) -> None:
    command = TABLE[name].command
    heading, example = command.epilog.split("\n\n")
    assert heading == "Example:"
    assert "evergreen" not in command.help.lower().split("example")[1:]
    assert len(example) <= WIDTH
    words = shlex.split(example)
    path = ["evergreen", *name.split()]
    assert words[: len(path)] == path
    parent = ROOT.make_context("evergreen", ["status"])
    command.make_context(name, words[len(path) :], parent=parent)


@pytest.mark.parametrize("name", CALLED)
def test_a_value_is_named_by_a_word_and_a_flag_has_none(name: str) -> None:
    for param in parameters(name):
        if getattr(param, "is_flag", False):
            assert param.metavar == ""
        else:
            assert re.fullmatch(r"[\w/|.-]+", param.metavar), (param.name, param.metavar)


def test_every_format_option_says_what_it_is_for() -> None:
    assert [name for name in CALLED for option in parameters(name)
            if "--format" in option.opts and not option.help] == []  # fmt: skip


def test_one_word_stands_for_one_thing() -> None:
    """What names an agent is `--agent` everywhere, and so on; folders are `--to`, files
    `--output`."""
    words = {"--agent": "AGENT", "--edition": "EDITION", "--judge": "JUDGE", "--output": "FILE",
             "--protocol": "PROTOCOL", "--since": "DATE", "--until": "DATE"}  # fmt: skip
    for name in CALLED:
        for param in parameters(name):
            for option in {*param.opts} & words.keys():
                assert param.metavar == words[option], name
            if "--to" in param.opts:
                assert param.metavar.startswith("FOLDER"), name

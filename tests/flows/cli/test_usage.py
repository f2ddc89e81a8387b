"""How commands are used: an example each, words for values, and the way from old names to new."""

import re
import shlex
from typing import Any

import pytest
import typer

from flows.cli.lazy_commands import GroupEntry
from flows.cli.main import app
from flows.cli.usage import OLD_NAMES
from tests.flows.cli.test_commands import TABLE
from tests.flows.conftest import Evergreen

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


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_is_answered_with_the_new_one(old: str, evergreen: Evergreen) -> None:
    code, _, said = evergreen(*old.split())
    new = f"It is now: evergreen {OLD_NAMES[old]}"
    assert (code, new in " ".join(said.replace("│", "").split())) == (2, True)
    assert re.search(r"No such (command|option) |Unexpected argument ", said)


@pytest.mark.parametrize("new", OLD_NAMES.values())
def test_a_new_name_exists(new: str) -> None:
    path = [word for word in new.split() if not re.match(r"--|[A-Z/]+$", word)]
    options = re.findall(r"--\w+", new)
    name = " ".join(path[: 2 if " ".join(path[:2]) in TABLE else 1])
    assert name in TABLE
    assert {*options} <= {option for param in TABLE[name].command.params for option in param.opts}


def test_options_of_a_command_in_a_group_are_not_taken_for_old_ones(evergreen: Evergreen) -> None:
    code, _, said = evergreen("compare", "agents", "--edition", "sample", "--warehouse", "none")
    assert (code, "It is now" in said) == (1, False)

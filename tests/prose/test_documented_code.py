"""Code on the pages that people read is run or marked, and its commands can be given."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer

from flows.cli.main import app
from tasks.configuration.folders import PACKAGED, ConfigFolders
from tasks.configuration.loading import load_config, load_merged
from tasks.warehouse.reader import run_query
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests.docs.blocks import (
    MARKS,
    MESSAGE,
    Block,
    list_blocks,
    list_given_commands,
    list_indented_blocks,
    list_named_commands,
)
from tests.docs.configs_page import FILES

NUMBERS = {"N": "4", "USD": "5", "DATE": "2026-01-01"}
"""Words that stand for numbers and days."""


def pick(language: str) -> list[Any]:
    """The blocks of a language that a test here runs."""
    return [
        pytest.param(block, id=block.name)
        for block in list_blocks()
        if block.language == language and block.is_run
    ]


def test_every_block_is_run_or_marked() -> None:
    left = [each.name for each in list_blocks() if not each.is_run and each.mark not in MARKS]
    assert left == [], "write `no-run` after its language, or have it run (tests/docs/blocks.py)"


def test_every_block_has_a_fence() -> None:
    assert list_indented_blocks() == []


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's folder with `data` as `evergreen demo` leaves it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "data").mkdir()
    path = Path(shutil.copy(sample, folder / "data" / "warehouse.duckdb"))
    with open_warehouse(path) as warehouse:
        export_edition(warehouse, "sample")
    return folder


@pytest.mark.parametrize(("page", "command"), list_given_commands())
def test_a_command_can_be_given(
    page: str, command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # an edition that is not named is the warehouse's
    words = [NUMBERS.get(word, word) for word in shlex.split(command)[1:]]
    group: Any = typer.main.get_command(app)
    while True:
        with group.make_context("evergreen", list(words), resilient_parsing=False) as context:
            found = context.command
            left = [*context._protected_args, *context.args] if hasattr(found, "commands") else []
            if not left:
                break
            name, group, words = found.resolve_command(context, left)
            assert group is not None, f"{page}: {name} is no command"


@pytest.mark.parametrize(("page", "command"), list_named_commands())
def test_a_command_that_is_named_exists_with_its_options(page: str, command: str) -> None:
    """In the text it may stand without its arguments and without the values of its options."""
    words = shlex.split(command)[1:]
    found: Any = typer.main.get_command(app)
    options = {"--version"}
    while True:
        with found.make_context("evergreen", [], resilient_parsing=True) as context:
            found = context.command
            options |= {name for param in found.get_params(context) for name in param.opts}
        inner = getattr(found, "commands", {})
        if not inner or not words or words[0].startswith("-"):
            break
        if words[0] in ("COMMAND", "…"):
            return
        assert words[0] in inner, f"{page}: {words[0]} is no command"
        found = inner[words.pop(0)]
    assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options, page


@pytest.mark.parametrize("block", pick("sql"))
def test_sql_answers_with_rows(block: Block, folder: Path) -> None:
    frame, notice = run_query(folder / "data" / "warehouse.duckdb", block.text)
    assert notice is None
    assert frame.height > 0


@pytest.mark.parametrize("block", pick("python"))
def test_python_runs(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(block.text, block.name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("block", pick("json"))
def test_json_can_be_read(block: Block) -> None:
    assert json.loads(block.text)


@pytest.mark.parametrize("block", pick("yaml"))
def test_a_configuration_can_be_loaded(block: Block, tmp_path: Path) -> None:
    """Beside the files that come with Evergreen, as in a project's own folder."""
    own = tmp_path / block.mark
    own.parent.mkdir(exist_ok=True)
    own.write_text(block.text, "utf-8")
    if block.mark in FILES:
        load_merged(block.mark, FILES[block.mark], ConfigFolders((tmp_path,), (PACKAGED,)))
    else:
        load_config(own, FILES[f"{own.parent.name}/NAME.yaml"])


def test_there_is_code_of_every_kind() -> None:
    kinds = {(block.language, block.mark) for block in list_blocks()}
    assert {"console", "python", "sql", "json", "yaml"} <= {language for language, _ in kinds}
    assert ("text", MESSAGE) in kinds
    assert len(list_given_commands()) > 100

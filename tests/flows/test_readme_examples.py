"""What the README shows of SQL and Python can be copied and runs as it stands."""

import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.warehouse.reader import run_query
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse

pytestmark = pytest.mark.prose

ROOT = Path(__file__).resolve().parents[2]
HEADING = "## Asking the warehouse with SQL"


def blocks(language: str) -> list[str]:
    """The fenced blocks of the README's section about SQL."""
    section = (ROOT / "README.md").read_text("utf-8").split(f"\n{HEADING}\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's folder with `data` as `evergreen demo` leaves it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "data").mkdir()
    path = Path(shutil.copy(sample, folder / "data" / "warehouse.duckdb"))
    with open_warehouse(path) as warehouse:
        export_edition(warehouse, "sample")
    return folder


def test_there_are_examples() -> None:
    assert len(blocks("sql")) >= 5
    assert len(blocks("python")) == 1


@pytest.mark.parametrize("sql", blocks("sql"), ids=lambda sql: sql.splitlines()[0])
def test_an_example_of_sql_answers_with_rows(sql: str, folder: Path) -> None:
    frame, notice = run_query(folder / "data" / "warehouse.duckdb", sql)
    assert notice is None
    assert frame.height > 0


def test_the_python_example_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (code,) = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    frames = {name: value for name, value in names.items() if isinstance(value, pl.DataFrame)}
    assert set(frames) == {"facts", "missed", "scores", "labels"}
    assert all(frame.height for frame in frames.values())

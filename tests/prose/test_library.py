"""What the page on Python shows is run: a program with a judge and an agent of its own."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from tests.conftest import PREFECT_HOME
from tests.docs.blocks import LIBRARY, list_blocks

SAYS = """
verdicts = done.results.verdicts("sample").filter(judge="short", status="ok")
board = done.results.leaderboard("sample").filter(judge="short", metric="coverage_wiki")
print(board["agent"].sort().to_list(), verdicts["model_version"].unique().to_list())
print(sorted(verdicts["label"].unique().to_list()), verdicts["evidence"].null_count() > 0)
"""
NOTEBOOK = """
import asyncio

async def cell():
{code}

asyncio.run(cell())
"""


def documented(language: str) -> list[str]:
    """The page's blocks of a language that this file runs, in order."""
    return [block.text for block in list_blocks()
            if block.mark == LIBRARY and block.language == language]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a package of its own, installed as its metadata says."""
    _, *classes = documented("python")
    metadata = tmp_path / "installed" / "my_package-1.0.dist-info"
    package = tmp_path / "installed" / "my_package"
    configs = tmp_path / "configs"
    for folder in (metadata, package, configs):
        folder.mkdir(parents=True)
    points = "\n".join(documented("toml")).replace("project.entry-points.", "").replace('"', "")
    (metadata / "entry_points.txt").write_text(points, "utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    for name, text in zip(("judges", "agents"), classes, strict=True):
        (package / f"{name}.py").write_text(text, "utf-8")
    for name, text in zip(("judges", "agents"), documented("yaml"), strict=True):
        (configs / f"{name}.yaml").write_text(text, "utf-8")
    return tmp_path


def run(project: Path, *command: str) -> str:
    environment = {
        **os.environ,
        "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME),
        "PYTHONPATH": str(project / "installed"),
    }
    for name in ("PREFECT_API_URL", "EVERGREEN_CONFIGS"):
        environment.pop(name, None)
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.usefixtures("local_api")
@pytest.mark.parametrize("in_a_notebook", [False, True])
def test_a_program_judges_by_a_judge_of_its_own(
    project: Path, sample: Path, in_a_notebook: bool
) -> None:
    (project / "data").mkdir()
    (project / "data" / "warehouse.duckdb").write_bytes(sample.read_bytes())
    code = documented("python")[0] + SAYS
    if in_a_notebook:
        code = NOTEBOOK.format(code=indent(code, "    "))
    (project / "program.py").write_text(code, "utf-8")
    said = run(project, sys.executable, "program.py").splitlines()
    assert said[0] == "True Completed: sample is evaluated."
    assert said[-2:] == [
        "['sample_blogger', 'sample_scholar', 'sample_sketch'] ['short-1']",
        "['consistent', 'not_support'] True",
    ]


@pytest.mark.usefixtures("local_api")
def test_a_kind_of_agent_of_ones_own_is_asked(project: Path, sample: Path) -> None:
    warehouse = project / "w.duckdb"
    warehouse.write_bytes(sample.read_bytes())
    evergreen = [sys.executable, "-P", "-m", "flows"]
    run(project, *evergreen, "assign", "--edition", "sample", "--warehouse", str(warehouse))
    run(project, *evergreen, "ask", "--agent", "my_echo", "--edition", "sample",
        "--warehouse", str(warehouse))  # fmt: skip
    query = "SELECT text FROM reports WHERE agent = 'my_echo' ORDER BY text LIMIT 1"
    text = run(project, *evergreen, "sql", query, "--format", "csv", "--warehouse", str(warehouse))
    assert "This is about" in text

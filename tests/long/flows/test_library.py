"""A program judges an edition by the library, with a judge and an agent of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PREFECT_HOME

PACKAGE = '''
import evergreen


class ShortClaims(evergreen.BaseJudge):
    """Calls a claim consistent if it is short."""

    decides = frozenset({evergreen.VerifyClaims})
    model_version = "short-1"

    async def decide(self, request):
        return [
            evergreen.JudgeAnswer(
                status="ok",
                label="consistent" if len(claim) <= self.settings["length"] else "not_support",
                reason=f"{len(claim)} characters",
                model_version=self.model_version,
            )
            for claim in request.claims
        ]


class Echo(evergreen.BaseAgentClient):
    """Repeats its assignment."""

    async def write_report(self, request):
        return f"{self.settings['before']} {request.title}"
'''
ENTRY_POINTS = """
[evergreen.judges]
short_claims = my_package:ShortClaims

[evergreen.agents]
echo = my_package:Echo
"""
JUDGES = """
judges:
  short: {kind: short_claims, title: Short claims are right, settings: {length: 80}}
"""
AGENTS = """
agents:
  my_echo:
    name: Echo
    ask: {kind: echo, settings: {before: This is about}, repeatable: true}
"""
PROGRAM = """
import asyncio, json, sys
import evergreen

async def in_a_notebook():
    return evergreen.evaluate(
        "sample", warehouse=sys.argv[1], protocols=["wiki_fact"], judge="short"
    )

if __name__ == "__main__":
    done = asyncio.run(in_a_notebook())
    results = done.results
    verdicts = results.verdicts("sample").filter(judge="short")
    print(json.dumps({
        "complete": done.complete, "message": done.message,
        "editions": results.editions()["edition"].to_list(),
        "reports": results.reports("sample").height,
        "scores": results.scores("sample").filter(judge="short").height > 0,
        "board": results.leaderboard("sample").filter(judge="short", metric="coverage_wiki")
            .select("agent", "value").rows(),
        "models": verdicts.filter(status="ok")["model_version"].unique().to_list(),
        "reasons": verdicts.filter(status="ok")["reason"].n_unique() > 3,
        "left": results.sql("SELECT count(*) FROM open_items WHERE judge = 'short'").item(),
    }))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a package of its own, installed as its metadata says."""
    installed = tmp_path / "installed"
    metadata = installed / "my_package-1.0.dist-info"
    metadata.mkdir(parents=True)
    (installed / "my_package.py").write_text(PACKAGE, "utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "judges.yaml").write_text(JUDGES, "utf-8")
    (configs / "agents.yaml").write_text(AGENTS, "utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
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


@pytest.mark.usefixtures("api")
def test_a_program_judges_by_a_judge_of_its_own(project: Path, sample: Path) -> None:
    warehouse = project / "w.duckdb"
    warehouse.write_bytes(sample.read_bytes())
    said = json.loads(run(project, sys.executable, "program.py", str(warehouse)))
    assert said.pop("editions") == ["sample"]
    assert said.pop("reports") == 9
    assert {agent for agent, _ in said.pop("board")} == {
        "sample_blogger", "sample_scholar", "sample_sketch",
    }  # fmt: skip
    assert said.pop("left") >= 0
    assert said == {
        "complete": True, "message": "Completed: sample is evaluated.", "scores": True,
        "models": ["short-1"], "reasons": True,
    }  # fmt: skip


@pytest.mark.usefixtures("api")
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

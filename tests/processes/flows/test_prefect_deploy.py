"""`prefect deploy --all` by prefect.yaml works beside `evergreen serve`."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from flows.deployments import build_deployments, retire_former
from flows.registry import SERVED_FLOWS
from tasks.warehouse.location import parse_location
from tests import patient
from tests.flows.llm_runs import ROOT
from tests.processes.deployed_runs import run_of, state_of
from tests.processes.flows.served_flows import deployments_of

FILE = ROOT / "prefect.yaml"


@pytest.fixture
def project(api: str, sample: Path, tmp_path: Path) -> Path:
    """A project's folder, with a pool of its own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "warehouse.duckdb").write_bytes(sample.read_bytes())
    settings = yaml.safe_load(FILE.read_text("utf-8"))
    for each in settings["deployments"]:
        each["work_pool"]["name"] = tmp_path.name
    (tmp_path / "prefect.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    pool = {"name": tmp_path.name, "type": "process"}
    patient.post(f"{api}/work_pools/", json=pool).raise_for_status()
    return tmp_path


def prefect(project: Path, *arguments: str) -> str:
    program = Path(sys.executable).with_name("prefect")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [program, "--no-prompt", *arguments], cwd=project, capture_output=True, text=True,
        env={**os.environ, "PWD": str(project), "PATH": path}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_prefect_deploys_runs_by_our_engine_and_has_no_schedule(
    api: str, project: Path
) -> None:
    prefect(project, "deploy", "--all")
    warehouse = project / "data" / "warehouse.duckdb"
    deployed = deployments_of(api, warehouse, *SERVED_FLOWS)
    names = {flow: each["name"] for flow, each in zip(SERVED_FLOWS, deployed, strict=True)}
    assert names == {flow: f"{name}-pool" for flow, name in SERVED_FLOWS.items()}
    assert [each["schedules"] for each in deployed] == [[]] * len(SERVED_FLOWS)
    ours = build_deployments(parse_location(warehouse), name=project.name)
    assert asyncio.run(retire_former(ours)) == []
    assert deployments_of(api, warehouse, *SERVED_FLOWS) == deployed
    [evaluate] = deployments_of(api, warehouse, "evaluate")
    run = run_of(api, evaluate["id"], edition="sample", protocols=["wiki_fact"])
    (project / "tasks.py").write_text("raise SystemExit('this is no module of ours')\n")
    prefect(project, "worker", "start", "--pool", project.name, "--run-once")
    assert state_of(api, run)["message"] == "sample is evaluated."


def test_the_file_has_each_served_flow() -> None:
    settings = yaml.safe_load(FILE.read_text("utf-8"))
    found = {each["entrypoint"]: each["name"] for each in settings["deployments"]}
    assert found == {f"flows.{flow}.{flow}": f"{name}-pool" for flow, name in SERVED_FLOWS.items()}

"""A user who starts runs in the Prefect UI and would rather not be known."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.editions.names import UnknownName
from tasks.warehouse.audit import AuditEntry, get_activity
from tasks.warehouse.store import open_warehouse
from tests import patient, waiting
from tests.conftest import PREFECT_HOME
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import ROOT, evaluate
from tests.processes.deployed_runs import run_of, state_of
from tests.waiting import until


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    path = tmp_path / "recorded.duckdb"
    path.write_bytes(sample.read_bytes())
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM audit")  # what other tests did with the sample
    return path


@recorded_flow("end_as", "end as {name}")
async def end_as(name: str, warehouse: str) -> State[None]:
    with await hold_warehouse(warehouse):
        return Failed(name=name) if name == "Broken" else Completed(name=name)


def audit(warehouse: Path) -> list[AuditEntry]:
    with open_warehouse(warehouse) as store:
        return sorted(store.rows(AuditEntry, "true"), key=lambda row: row.began_at)


def test_a_served_run_leaves_a_row(api: str, warehouse: Path) -> None:
    """A run of a deployment is recorded with the deployment, the run and its parameters."""
    environment = {**os.environ, "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME)}
    environment.pop("PREFECT_API_URL", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", "serve", "--only", "evaluate",
         "--warehouse", str(warehouse)],
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        asked = {"deployments": {"name": {"any_": ["recorded"]}}}
        [deployment] = until(
            "deployment", lambda: patient.post(f"{api}/deployments/filter", json=asked).json()
        )
        run = run_of(api, deployment["id"], edition="sample", protocols=["wiki_fact"])

        def ended() -> Any:
            return state_of(api, run)["type"] in ("COMPLETED", "FAILED", "CRASHED")

        until("end of the run", ended)
        [row] = audit(warehouse)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(waiting.SECONDS)
    assert (row.kind, row.name, row.edition, row.outcome) == ("flow", "evaluate", "sample", "ok")
    assert (row.deployment, row.flow_run) == (deployment["id"], run)
    assert '"protocols": ["wiki_fact"]' in row.parameters


@pytest.mark.parametrize(
    ("name", "ended"),
    [("Completed", ("ok", None)), ("Partial", ("incomplete", None)),
     ("Broken", ("failed", "Broken"))],
)  # fmt: skip
def test_a_run_is_recorded_as_it_ended(
    api: str, warehouse: Path, name: str, ended: tuple[str, str | None]
) -> None:
    """A run that leaves something pending is incomplete, and one that ends as failed has failed."""

    async def run() -> None:
        await end_as(name, str(warehouse), return_state=True)

    asyncio.run(run())
    [row] = audit(warehouse)
    assert (row.name, row.outcome, row.error) == ("end_as", *ended)
    assert row.ended_at


def test_a_failed_run_is_recorded_with_its_error(warehouse: Path) -> None:
    """A run that fails is recorded with the class of its error."""
    state = evaluate(warehouse, "offline", edition="nowhere")
    assert state.is_failed()
    [row] = audit(warehouse)
    assert (row.outcome, row.error) == ("failed", UnknownName.__name__)
    assert get_activity() is None


def test_a_commands_run_is_part_of_its_row(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    """A command and the run that it makes leave one row, also if it opens the warehouse twice."""
    evaluate(warehouse, "offline", protocols=["wiki_fact"])
    code, _, remarks = evergreen(
        "publish", "--edition", "sample", "--to", tmp_path / "site", "--warehouse", warehouse
    )
    assert code == 0, remarks
    found = [(row.kind, row.name, row.outcome) for row in audit(warehouse)]
    assert found == [("flow", "evaluate", "ok"), ("command", "publish", "ok")]

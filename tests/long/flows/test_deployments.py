"""A deployment can be run from outside."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from prefect.client.orchestration import PrefectClient

from tasks.warehouse.location import parse_location
from tests.processes.deployed_runs import run_of, state_of
from tests.processes.flows.served_flows import deployments_of, served
from tests.waiting import until

FOREIGN = ("evergreen", "flows", "polars", "tasks", "yaml")
"""Modules of somebody's project that have the names of ours, and of libraries."""


def test_a_run_of_a_deployment_is_done_by_the_process_that_serves_it_among_foreign_modules(
    api: str, sample: Path, tmp_path: Path
) -> None:
    warehouse = tmp_path / "served.duckdb"
    project = tmp_path / "project"
    project.mkdir()
    for name in FOREIGN:
        (project / f"{name}.py").write_text("raise SystemExit('this is no module of ours')\n")
    warehouse.write_bytes(sample.read_bytes())
    log, program = tmp_path / "log", [Path(sys.executable).with_name("evergreen")]
    with served(warehouse, ["evaluate"], log, program=program, cwd=project):
        [deployment] = deployments_of(api, warehouse, "evaluate")
        run = run_of(api, deployment["id"], edition="sample", protocols=["wiki_fact"])

        def ended() -> Any:
            state = state_of(api, run)
            return state if state["type"] in ("COMPLETED", "FAILED", "CRASHED") else None

        state = until("end of the run", ended)
        assert (state["name"], state["message"]) == ("Completed", "sample is evaluated.")
        said = log.read_text("utf-8")
        assert re.search(r"Served: evaluate on .*served\.duckdb", said)
        assert "Traceback" not in said
        run = run_of(api, deployment["id"], edition="nowhere", protocols=["wiki_fact"])
        assert until("end of the second run", ended)["type"] == "FAILED"
        # Read before the stop: Prefect, stopped while a run's process ends, prints a traceback.
        assert until("message", lambda: "no edition 'nowhere'" in log.read_text("utf-8"))
        said = log.read_text("utf-8")
        assert "Traceback" not in said, said


def test_a_host_of_a_pool_outlives_a_server_that_does_not_answer(
    api: str, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.deployments import build_deployments, serve_pool

    warehouse = tmp_path / f"{tmp_path.name}.duckdb"
    warehouse.write_bytes(sample.read_bytes())
    served = build_deployments(parse_location(warehouse), ["evaluate"])
    read, unanswered = PrefectClient.read_deployment, [httpx.ReadTimeout("no answer")]

    async def read_later(client: PrefectClient, *given: Any) -> Any:
        if unanswered:
            raise unanswered.pop()
        return await read(client, *given)

    async def serve_one_run() -> Any:
        known = asyncio.Event()
        host = asyncio.create_task(serve_pool(served, tmp_path.name, at_once=1, on_ready=known.set))
        await known.wait()
        monkeypatch.setattr(PrefectClient, "read_deployment", read_later)
        [deployment] = deployments_of(api, warehouse, "evaluate")
        run = run_of(api, deployment["id"], edition="sample", protocols=["wiki_fact"])
        while (state := state_of(api, run))["type"] not in ("COMPLETED", "FAILED", "CRASHED"):
            assert not host.done(), host.exception()
            await asyncio.sleep(0.5)
        host.cancel()
        return state

    state = asyncio.run(asyncio.wait_for(serve_one_run(), 120))
    assert (state["name"], unanswered) == ("Completed", []), state

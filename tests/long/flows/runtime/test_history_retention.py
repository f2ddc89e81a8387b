"""Prefect forgets old runs by itself, with the settings that docs/how-to/operators.md names."""

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = {
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(90 * 24 * 3600),
}
BEGIN = """
    import asyncio, json, os, sys, time
    from pathlib import Path
    from flows.runtime.settings import prefect_environment
    from flows.runtime.server import local_server
    home = Path(sys.argv[1])
    os.environ.update(prefect_environment(home))
"""
RUNS = """
    with local_server(home) as api_url:
        from prefect import flow, get_run_logger, task
        from prefect.artifacts import acreate_markdown_artifact
        from prefect.cache_policies import NO_CACHE
        from flows.runtime.history import wait_until_stored

        @task(cache_policy=NO_CACHE)
        async def cell():
            get_run_logger().info("a line of log")
            await acreate_markdown_artifact("words", key="of-a-cell")

        @flow
        async def stage():
            await cell()

        @flow
        async def run():
            await stage()

        ids = []
        for _ in range(2):
            state = asyncio.run(run(return_state=True))
            ids.append(str(state.state_details.flow_run_id))
            wait_until_stored(api_url, state.state_details.flow_run_id, 1)
    print(json.dumps(ids))
"""
WAITS = """
    from tests import patient
    old, new = sys.argv[2:]
    with local_server(home) as api_url:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            gone = patient.get(f"{api_url}/flow_runs/{old}").status_code == 404
            if gone:
                break
            time.sleep(0.5)
        time.sleep(3)  # what belongs to it goes after it
        print(json.dumps([gone, patient.get(f"{api_url}/flow_runs/{new}").status_code]))
"""
AGED = """
UPDATE flow_run SET end_time = datetime(end_time, '-91 days')
WHERE id = ? OR parent_task_run_id IN (SELECT id FROM task_run WHERE flow_run_id = ?)
"""
COUNTS = {
    "flow_run": "SELECT count(*) FROM flow_run",
    "task_run": "SELECT count(*) FROM task_run",
    "log": "SELECT count(*) FROM log",
    "artifact": "SELECT count(*) FROM artifact",
}


def run(code: str, *arguments: object, settings: dict[str, str] | None = None) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BEGIN) + textwrap.dedent(code),
         *map(str, arguments)],
        cwd=ROOT, env=plain | (settings or {}), capture_output=True, text=True, check=False,
        timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def counts(home: Path) -> dict[str, int]:
    with sqlite3.connect(home / "prefect.db") as connection:
        return {name: connection.execute(sql).fetchone()[0] for name, sql in COUNTS.items()}


def test_a_run_that_ended_long_ago_goes_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    old, new = json.loads(run(RUNS, tmp_path))
    before = counts(tmp_path)
    assert before["flow_run"] == 4, "two runs, each with a subflow"
    assert before["artifact"] == 2
    with sqlite3.connect(tmp_path / "prefect.db") as connection:
        connection.execute(AGED, [old, old])
    assert json.loads(run(WAITS, tmp_path, old, new, settings=SETTINGS)) == [True, 200]
    assert counts(tmp_path) == {name: n // 2 for name, n in before.items()}

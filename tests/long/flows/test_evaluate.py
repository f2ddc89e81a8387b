"""The pipeline killed, with a cell or a helper that fails, and with a new agent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from flows.history import wait_until_stored
from tasks.cases import load_case
from tasks.importing import import_edition
from tasks.processes.pool import HelperCrashed
from tasks.warehouse.store import open_warehouse
from tests.conftest import PREFECT_HOME
from tests.flows.test_evaluate import ROOT, brought_in, evergreen, run, task_runs
from tests.rigs.kill_and_resume import differences

__all__ = ["brought_in"]
SAMPLE = ROOT / "data" / "sample"


def test_killed_at_five_moments_it_ends_with_the_same_tables(
    api: str, brought_in: tuple[Path, Any], tmp_path: Path
) -> None:
    path = tmp_path / "killed.duckdb"
    imported = evergreen("import", "wlc", str(SAMPLE), "--edition", "sample",
                         "--warehouse", str(path))  # fmt: skip
    assert imported.returncode == 0, imported.stderr
    environment = {**os.environ, "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME)}
    environment.pop("PREFECT_API_URL", None)
    for moment in (0.0, 0.5, 1.5, 3.0, 4.5):  # seconds of work, counted from its first stage
        log = tmp_path / f"log-{moment}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "flows", "evaluate", "--edition", "sample",
                 "--warehouse", str(path)],
                stdout=output, stderr=output, cwd=ROOT, env=environment,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while b"stage " not in log.read_bytes() and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
    state = run("evaluate", edition="sample", warehouse=str(path))
    assert state.name == "Completed"
    assert differences(brought_in[0], path) == []


def test_a_cell_that_fails_leaves_the_others_alone_and_the_run_partial(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "warehouse.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")

        def broken(store: Any, plan: Any) -> Any:
            if plan.agent == "sample_sketch" and plan.assignment.startswith("Mercury"):
                raise ValueError("this one cannot be read")
            return load_case(store, plan)

        monkeypatch.setattr("tasks.verdicts.load_case", broken)
        state = run("evaluate", edition="sample", warehouse=str(path))
        assert (state.type.value, state.name) == ("COMPLETED", "Partial")
        assert "this one cannot be read" in state.message
        states = warehouse.frame("SELECT status, count(*) AS n FROM cells GROUP BY ALL ORDER BY 1")
        assert states.rows() == [("done", 8), ("failed", 1)]
        row = warehouse.frame(
            "SELECT provisional, n_reports FROM leaderboard "
            "WHERE agent = 'sample_sketch' AND metric = 'coverage_wiki'"
        )
        assert row.rows() == [(True, 2)]

        monkeypatch.undo()
        state = run("evaluate", edition="sample", warehouse=str(path))
        assert state.name == "Completed"
        assert warehouse.value("SELECT count(*) FROM cells WHERE status = 'failed'") == 0
        row = warehouse.frame(
            "SELECT provisional, n_reports FROM leaderboard "
            "WHERE agent = 'sample_sketch' AND metric = 'coverage_wiki'"
        )
        assert row.rows() == [(False, 3)]


def test_a_helper_that_crashes_is_replaced_and_its_cell_tried_again(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "warehouse.duckdb"
    crashes = iter([True, False, False, False])
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample", ["sample_sketch"])

        class Crashing:
            workers = 1

            async def run(self, function: Any, *arguments: Any) -> Any:
                if next(crashes):
                    raise HelperCrashed("killed")
                return function(*arguments)

        monkeypatch.setattr("tasks.verdicts.HELPERS", Crashing())
        monkeypatch.setattr("tasks.verdicts.decide", decided_at_once)
        state = run("evaluate", edition="sample", warehouse=str(path))
        assert state.name == "Completed", state.message
        assert warehouse.value("SELECT count(*) FROM cells WHERE status = 'done'") == 3
    with pytest.raises(StopIteration):
        next(crashes)


def decided_at_once(*_: Any) -> list[Any]:
    return []


def test_a_new_agent_adds_only_its_own_cells(api: str, tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample", ["sample_scholar"])
        run("evaluate", edition="sample", warehouse=str(path))
        first = set(warehouse.frame("SELECT cell_id FROM cells")["cell_id"])
        import_edition(warehouse, SAMPLE, "sample")
        finished = warehouse.frame("SELECT cell_id, finished_at FROM cells")
        state = run("evaluate", edition="sample", warehouse=str(path), agents=["sample_sketch"])
        wait_until_stored(api, state.state_details.flow_run_id, 0)
        cells = [r for r in task_runs(api, state) if r["name"].startswith("wiki_fact ·")]
        assert {entry["name"].split(" · ")[1] for entry in cells} == {"sample_sketch"}
        again = warehouse.frame("SELECT cell_id, finished_at FROM cells")
        assert len(first) == 3
        assert again.height == 6
        assert finished.join(again, on=["cell_id", "finished_at"], how="semi").height == 3

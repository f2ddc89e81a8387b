"""The whole pipeline on the sample edition, with a cell or a helper that fails, and with a new
agent."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from flows.runtime.history import wait_until_stored
from tasks.imports.wlc import import_edition
from tasks.judging.cases import CaseLoader
from tasks.processes.helper import HelperCrashed
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.store import open_warehouse
from tests import patient
from tests.flows.llm_runs import SAMPLE
from tests.flows.plain_evaluation import evaluate_plainly
from tests.rigs.compared_tables import contents


def run(flow: str, **parameters: Any) -> Any:
    """Run a flow in this process; its final state."""
    from flows.evaluate import evaluate
    from flows.import_edition import bring_in

    chosen: Any = {"bring_in": bring_in, "evaluate": evaluate}[flow]
    return asyncio.run(chosen(**parameters, return_state=True))


def task_runs(api: str, state: Any) -> list[dict[str, Any]]:
    """Task runs of a flow run and its subflows, subflows' own entries left out."""
    ids = [str(state.state_details.flow_run_id)]
    level = ids
    while level:
        question = {"flow_runs": {"parent_flow_run_id": {"any_": level}}}
        level = [f["id"] for f in patient.post(f"{api}/flow_runs/filter", json=question).json()]
        ids = ids + level
    asked: dict[str, Any] = {
        "flow_runs": {"id": {"any_": ids}},
        "task_runs": {"subflow_runs": {"exists_": False}},
    }
    found: list[dict[str, Any]] = patient.post(f"{api}/task_runs/filter", json=asked).json()
    return found


@pytest.fixture(scope="module")
def brought_in(api: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A warehouse into which the sample edition was brought, and how the run ended."""
    path = tmp_path_factory.mktemp("brought_in") / "warehouse.duckdb"
    state = run("bring_in", edition="sample", source=str(SAMPLE), warehouse=str(path))
    return path, state


def test_the_history_in_prefect_is_complete_and_readable(
    api: str, brought_in: tuple[Path, Any]
) -> None:
    _, state = brought_in
    assert (state.type.value, state.name) == ("COMPLETED", "Completed")
    wait_until_stored(api, state.state_details.flow_run_id, 0)
    runs = task_runs(api, state)
    names = {entry["name"] for entry in runs}
    assert "wiki_fact / sample_scholar / Mercury (planet)" in names
    cells = [entry for entry in runs if re.match("wiki_fact / .+ / ", entry["name"])]
    assert len(cells) == 9
    for entry in cells:
        assert entry["state"]["type"] == "COMPLETED"
        assert entry["tags"] == [], "no slot is asked for"
    for run_id in {entry["flow_run_id"] for entry in cells}:
        tags = patient.get(f"{api}/flow_runs/{run_id}").json()["tags"]
        assert tags == ["edition:sample", "judge:offline"]
    assert not [entry for entry in runs if re.match("wiki_writing / .+ / ", entry["name"])]
    artifacts = patient.post(f"{api}/artifacts/filter", json={}).json()
    assert {"leaderboard", "progress-verdicts"} <= {artifact["key"] for artifact in artifacts}


def test_it_makes_the_tables_that_its_plain_functions_make(
    brought_in: tuple[Path, Any], tmp_path: Path
) -> None:
    path = tmp_path / "plain.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")
    evaluate_plainly(path, ("wiki_fact", "wiki_writing"))
    assert contents(brought_in[0]) == contents(path)


STAGES = ("claims", "diagnostics", "key points", "verdicts", "scores", "leaderboard")


def test_a_second_run_computes_nothing_and_says_of_each_stage_what_it_has_reused(
    api: str, brought_in: tuple[Path, Any], tmp_path: Path
) -> None:
    path, _ = brought_in
    before = contents(path)
    state = run("bring_in", edition="sample", source=str(SAMPLE), warehouse=str(path))
    assert (state.type.value, state.name) == ("COMPLETED", "Cached")
    wait_until_stored(api, state.state_details.flow_run_id, 1 + len(STAGES))
    shown = {entry["name"]: entry["state"] for entry in task_runs(api, state)}
    assert {*shown} == {"import / sample", *(f"{stage} / sample" for stage in STAGES)}
    assert {shown[f"{stage} / sample"]["name"] for stage in STAGES} == {"Cached"}
    with open_warehouse(path) as warehouse:
        n = warehouse.value("SELECT count(*) FROM verdicts")  # none is open
    assert shown["verdicts / sample"]["message"] == f"9 cells, {n} verdicts from the warehouse"
    assert contents(path) == before


def test_a_cell_that_fails_leaves_the_others_alone_and_the_run_partial(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "warehouse.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")

        load = CaseLoader.load

        def broken(loader: CaseLoader, plan: Any) -> Any:
            if plan.agent == "sample_sketch" and plan.assignment.startswith("Mercury"):
                raise ValueError("this one cannot be read")
            return load(loader, plan)

        monkeypatch.setattr(CaseLoader, "load", broken)
        state = run("evaluate", edition="sample", warehouse=str(path))
        assert (state.type.value, state.name) == ("FAILED", "Partial")
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

        class Crashing(HelperProcesses):
            async def run(self, function: Any, *arguments: Any, **_: Any) -> Any:
                if function is decided_at_once and next(crashes):
                    raise HelperCrashed("killed")
                return function(*arguments)

        monkeypatch.setattr("tasks.run.HelperProcesses", Crashing)
        monkeypatch.setattr("tasks.verdicts.judge_case_in_helper", decided_at_once)
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
        cells = [r for r in task_runs(api, state) if re.match("wiki_fact / .+ / ", r["name"])]
        assert {entry["name"].split(" / ")[1] for entry in cells} == {"sample_sketch"}
        again = warehouse.frame("SELECT cell_id, finished_at FROM cells")
        assert len(first) == 3
        assert again.height == 6
        assert finished.join(again, on=["cell_id", "finished_at"], how="semi").height == 3

"""Publishing while figures change, by the command, and by a deployment."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl

from tasks.warehouse.operations import Publication
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.long.flows.test_publish_decisions import decide, rank, warehouse, worsen
from tests.processes.deployed_runs import answer_run, run_of, state_of
from tests.processes.flows.served_flows import deployments_of, served
from tests.waiting import until

__all__ = ["warehouse"]


def test_figures_that_changed_while_a_person_looked_are_asked_about_again(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    to = tmp_path / "site"

    def changed() -> dict[str, Any]:
        with open_warehouse(warehouse, wait_seconds=0) as store:  # nobody holds it meanwhile
            worsen(store)
            rank(store)
        return {"publish": True}

    answers = [changed, {"publish": True, "note": "now too"}]
    state, waited = decide(api, warehouse, answers, to=str(to))
    assert (state.name, waited) == ("Completed", 2)
    with open_for_reading(warehouse) as source:
        board = source.frame(
            "SELECT value FROM leaderboard ORDER BY protocol, metric, judge, agent"
        )
    published = pl.read_parquet(to / "data" / "leaderboard.parquet")
    assert published["value"].to_list() == board["value"].to_list()


def test_the_command_publishes_without_asking(
    warehouse: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    to = tmp_path / "site"
    common = ("--to", to, "--warehouse", warehouse)
    code, answer, said = evergreen("publish", "--edition", "sample", "--format", "json", *common)
    assert code == 0, said
    assert json.loads(answer)["complete"] is True
    assert "no LLM used" in (to / "index.html").read_text("utf-8")


def test_a_run_of_a_deployment_gives_its_place_back_while_a_person_thinks(
    api: str, sample: Path, tmp_path: Path
) -> None:
    warehouse = Path(shutil.copy(sample, tmp_path / "gated.duckdb"))
    with served(warehouse, ["publish", "evaluate"], tmp_path / "log"):
        publish, evaluate = deployments_of(api, warehouse, "publish", "evaluate")

        def named(run: str, name: str) -> Any:
            state = state_of(api, run)
            assert state["type"] not in ("FAILED", "CRASHED"), state
            return state["name"] == name

        to = tmp_path / "site"
        publishing = run_of(api, publish["id"], edition="sample", to=str(to), approve=True)
        until("question", lambda: named(publishing, "Suspended"))
        evaluating = run_of(api, evaluate["id"], edition="sample", protocols=["wiki_fact"])
        until("end of the other run", lambda: named(evaluating, "Cached"))
        answer_run(api, publishing, publish=True, note="go")
        until("end", lambda: named(publishing, "Completed"))
        assert (to / "index.html").exists()
        with open_warehouse(warehouse) as store:
            found = store.rows(Publication, "edition = 'sample' AND folder = $1", [str(to)])
        # A run that was suspended begins anew, and comes by the question once more.
        assert [row.is_written for row in found] == [False, False, True]

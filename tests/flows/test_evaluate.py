"""The whole pipeline on the sample edition, against a real Prefect server."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from flows import show
from flows.formats import Format
from flows.history import wait_until_stored
from tasks.warehouse.reading import reading
from tests import patient
from tests.conftest import PREFECT_HOME
from tests.rigs.kill_and_resume import contents

ROOT = Path(__file__).resolve().parents[2]


def run(flow: str, **parameters: Any) -> Any:
    """Run a flow in this process; its final state."""
    from flows.bring_in import bring_in
    from flows.evaluate import evaluate

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
    state = run("bring_in", edition="sample", warehouse=str(path))
    return path, state


def leaderboard(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    with reading(path) as source:
        frame = show.leaderboard_frame(source, "sample")
    return {(row["agent"], row["metric"]): row for row in frame.iter_rows(named=True)}


def test_the_first_run_completes_and_ranks_the_agents_as_they_were_written(
    brought_in: tuple[Path, Any],
) -> None:
    path, state = brought_in
    assert (state.type.value, state.name) == ("COMPLETED", "Completed")
    board = leaderboard(path)
    soft = {agent: board[agent, "coverage_wiki_soft"]["value"] for agent in
            ("sample_scholar", "sample_blogger", "sample_sketch")}  # fmt: skip
    assert soft["sample_scholar"] > soft["sample_blogger"] > soft["sample_sketch"]
    assert board["sample_scholar", "leakage_rate"]["value"] == 0
    assert board["sample_blogger", "leakage_rate"]["value"] > 0
    assert board["sample_scholar", "ref_acc"]["value"] > board["sample_blogger", "ref_acc"]["value"]


def test_what_the_judge_cannot_assess_is_a_row_without_a_value(
    brought_in: tuple[Path, Any],
) -> None:
    board = leaderboard(brought_in[0])
    for metric in ("wiki_conflict", "ref_conflict", "writing_overall", "writing_neutral"):
        row = board["sample_scholar", metric]
        assert row["value"] is None
        assert row["reason"].startswith("not_assessed")
        assert not row["provisional"]


def test_every_verdict_says_what_it_rests_on(brought_in: tuple[Path, Any]) -> None:
    with reading(brought_in[0]) as source:
        verdicts = source.frame("SELECT * FROM verdicts")
    assert verdicts.height > 100
    for column in ("status", "judge", "model_version", "prompt_sha", "item", "reason"):
        assert verdicts[column].null_count() == 0, column
    decided = verdicts.filter(pl.col("status") == "ok")
    assert decided["label"].null_count() == 0
    assert set(decided["label"]) <= {"consistent", "not_support", "support"}
    assert (
        verdicts.filter(pl.col("status") != "ok")["score"].null_count()
        == verdicts.filter(pl.col("status") != "ok").height
    )


def test_an_unfetchable_page_is_a_status_and_no_score(brought_in: tuple[Path, Any]) -> None:
    with reading(brought_in[0]) as source:
        dead = source.frame("SELECT * FROM verdicts WHERE status = 'unfetchable'")
    assert dead.height == 1
    assert dead["reason"].to_list() == ["unfetchable: Failed to fetch"]
    assert dead["label"].to_list() == [None]


def test_the_history_in_prefect_is_complete_and_readable(
    api: str, brought_in: tuple[Path, Any]
) -> None:
    _, state = brought_in
    wait_until_stored(api, state.state_details.flow_run_id, 0)
    runs = task_runs(api, state)
    names = {entry["name"] for entry in runs}
    assert "wiki_fact · sample_scholar · Mercury (planet)" in names
    cells = [entry for entry in runs if entry["name"].startswith("wiki_fact ·")]
    assert len(cells) == 9
    for entry in cells:
        assert entry["state"]["type"] == "COMPLETED"
        assert {"edition:sample", "protocol:wiki_fact"} <= set(entry["tags"])
    assert not [entry for entry in runs if entry["name"].startswith("wiki_writing ·")]
    artifacts = patient.post(f"{api}/artifacts/filter", json={}).json()
    assert {"leaderboard", "progress-verdicts"} <= {artifact["key"] for artifact in artifacts}


def test_a_second_run_makes_no_verdicts_and_no_task_runs(
    api: str, brought_in: tuple[Path, Any], tmp_path: Path
) -> None:
    path, _ = brought_in
    before = contents(path)
    state = run("evaluate", edition="sample", warehouse=str(path))
    assert state.name == "Completed"
    wait_until_stored(api, state.state_details.flow_run_id, 0)
    assert task_runs(api, state) == []
    assert contents(path) == before


def test_a_second_time_the_import_is_shown_as_cached(
    api: str, brought_in: tuple[Path, Any]
) -> None:
    state = run("bring_in", edition="sample", warehouse=str(brought_in[0]))
    wait_until_stored(api, state.state_details.flow_run_id, 1)
    [entry] = task_runs(api, state)
    assert (entry["name"], entry["state"]["name"]) == ("import · sample", "Cached")


def evergreen(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME)}
    environment.pop("PREFECT_API_URL", None)
    return subprocess.run(
        [sys.executable, "-m", "flows", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=120,
        **more,
    )


def test_the_leaderboard_as_json_holds_exactly_the_agreed_keys(
    brought_in: tuple[Path, Any],
) -> None:
    answer = evergreen("leaderboard", "--edition", "sample", "--format", "json",
                       "--warehouse", str(brought_in[0]))  # fmt: skip
    entries = json.loads(answer.stdout)
    keys = {"edition", "protocol", "agent", "metric", "value", "n_items", "n_reports", "judge",
            "provisional", "low", "high", "interval_reason", "n_articles", "rank_from", "rank_to",
            "seed"}  # fmt: skip
    assert all(set(entry) == keys for entry in entries)
    metrics = {entry["metric"] for entry in entries}
    assert {"coverage_wiki", "coverage_wiki_soft", "wiki_conflict", "ref_acc", "ref_acc_strict",
            "ref_conflict", "ref_acc_pairs", "evaluated_share", "leakage_rate",
            "leakage_rate_by_article", "writing_overall", "writing_well_written",
            "writing_neutral", "writing_broad", "writing_both_orders",
            "position_bias"} == metrics  # fmt: skip
    values = [entry["value"] for entry in entries if entry["value"] is not None]
    assert all(0 <= value <= 1 for value in values)


def test_the_table_fits_a_terminal_and_says_no_llm_was_used(
    brought_in: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    monkeypatch.setattr(show, "ANSWERS", console)
    with reading(brought_in[0]) as source:
        show.print_leaderboard(source, "sample", Format.TABLE)
    text = console.export_text()
    assert "offline lexical judge, no LLM used" in text
    assert "…" not in text
    assert "(reference articles)" in text

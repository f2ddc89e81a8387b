"""What an evaluation of the sample edition finds, and how it is shown."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from flows.display import leaderboard as show
from flows.display.formats import Format
from tasks.imports.wlc import import_edition
from tasks.scoring.columns import load_leaderboard
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import SAMPLE
from tests.flows.plain_evaluation import evaluate_plainly


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample edition, judged by the protocols that are made for its kind."""
    path = tmp_path_factory.mktemp("evaluated") / "warehouse.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")
    evaluate_plainly(path, ("wiki_fact", "wiki_writing"))
    return path


def leaderboard(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    with open_for_reading(path) as source:
        frame = load_leaderboard(source, "sample")
    return {(row["agent"], row["metric"]): row for row in frame.iter_rows(named=True)}


def test_the_agents_are_ranked_as_they_were_written(evaluated: Path) -> None:
    board = leaderboard(evaluated)
    soft = {agent: board[agent, "coverage_wiki_soft"]["value"] for agent in
            ("sample_scholar", "sample_blogger", "sample_sketch")}  # fmt: skip
    assert soft["sample_scholar"] > soft["sample_blogger"] > soft["sample_sketch"]
    assert board["sample_scholar", "leakage_rate"]["value"] == 0
    assert board["sample_blogger", "leakage_rate"]["value"] > 0
    assert board["sample_scholar", "ref_acc"]["value"] > board["sample_blogger", "ref_acc"]["value"]


def test_what_the_judge_cannot_assess_is_a_row_without_a_value(evaluated: Path) -> None:
    board = leaderboard(evaluated)
    for metric in ("wiki_conflict", "ref_conflict", "writing_overall", "writing_neutral"):
        row = board["sample_scholar", metric]
        assert row["value"] is None
        assert row["reason"].startswith("not_assessed")
        assert not row["provisional"]


def test_every_verdict_says_what_it_rests_on(evaluated: Path) -> None:
    with open_for_reading(evaluated) as source:
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


def test_an_unfetchable_page_is_a_status_and_no_score(evaluated: Path) -> None:
    with open_for_reading(evaluated) as source:
        dead = source.frame("SELECT * FROM verdicts WHERE status = 'unfetchable'")
    assert dead.height == 1
    assert dead["reason"].to_list() == ["unfetchable: Failed to fetch"]
    assert dead["label"].to_list() == [None]


def test_the_leaderboard_as_json_holds_exactly_the_agreed_keys(
    evaluated: Path, evergreen: Evergreen
) -> None:
    _, answer, _ = evergreen("leaderboard", "--edition", "sample", "--format", "json",
                             "--warehouse", evaluated)  # fmt: skip
    entries = json.loads(answer)
    keys = {"edition", "protocol", "agent", "metric", "value", "n_items", "n_reports", "judge",
            "provisional", "low", "high", "interval_reason", "n_articles", "rank_from", "rank_to",
            "seed", "value_present", "value_zero", "n_delivered", "n_missing", "n_assignments",
            "unranked", "n_blocked", "blocked_share", "bound_low", "bound_high", "uncertain",
            "n_empty_lists", "models"}  # fmt: skip
    assert all(set(entry) == keys for entry in entries)
    metrics = {entry["metric"] for entry in entries}
    assert {"coverage_wiki", "coverage_wiki_soft", "coverage_wiki_all", "coverage_wiki_all_soft",
            "wiki_conflict", "ref_acc", "ref_acc_readable", "ref_acc_claims", "ref_conflict",
            "ref_disputed", "evaluated_share", "never_existed", "uncited_share", "leakage_rate",
            "leakage_rate_by_article", "writing_overall", "writing_well_written",
            "writing_neutral", "writing_broad", "writing_both_orders",
            "position_bias"} == metrics  # fmt: skip
    values = [entry["value"] for entry in entries if entry["value"] is not None]
    assert all(0 <= value <= 1 for value in values)


def test_a_judge_that_never_answered_comes_after_those_with_figures(
    evaluated: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    path = Path(shutil.copy(evaluated, tmp_path / "w.duckdb"))
    with open_warehouse(path) as warehouse:
        asked = LeaderboardRow(
            edition="sample", protocol="wiki_fact", agent="sample_blogger", metric="coverage_wiki",
            judge="local", value=None, macro=None, micro=None, n_items=0, n_reports=0, n_open=9,
            provisional=True,
        )  # fmt: skip
        warehouse.write(Change(LeaderboardRow, [asked]))
    show = ("leaderboard", "--edition", "sample", "--warehouse", path)
    _, both, _ = evergreen(*show)
    nothing = "no figures, as nothing could be judged so far"
    assert 0 < both.index("offline lexical judge") < both.index(nothing)
    _, alone, _ = evergreen(*show, "--judge", "local")
    assert nothing in " ".join(alone.split())


def test_the_table_fits_a_terminal_and_says_no_llm_was_used(
    evaluated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    monkeypatch.setattr(show, "STDOUT", console)
    with open_for_reading(evaluated) as source:
        show.print_leaderboard(source, "sample", Format.TABLE)
    text = console.export_text()
    assert "offline lexical judge, no LLM used" in text
    assert "…" not in text
    assert "(reference articles)" in text

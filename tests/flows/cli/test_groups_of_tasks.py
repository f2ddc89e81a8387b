"""`evergreen leaderboard --by`, `calls --by` and `export drb2`: what they say, and to whom."""

import json
from pathlib import Path

import pytest

from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.tasks.rubric_edition import EDITION, JUDGE, judged_edition

OPTIONS = ("--edition", EDITION, "--protocol", "rubric_bench", "--judge", JUDGE)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    with open_warehouse(folder / "w.duckdb") as opened:
        judged_edition(opened, folder)
    return folder / "w.duckdb"


def test_a_table_by_theme_has_a_line_for_each_agent_and_theme(
    warehouse: Path, evergreen: Evergreen
) -> None:
    chosen = (*OPTIONS, "--warehouse", warehouse, "--by", "theme")
    code, said, _ = evergreen("leaderboard", *chosen, "--metric", "rubric_total")
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert code == 0
    assert "Agent Theme Rep. Total" in lines
    assert "all Health 2 30.0" in lines
    assert "Law, & order 1 100.0" in lines
    assert "few Health 0 –" in lines
    code, said, _ = evergreen("leaderboard", *chosen)
    headings = next(line for line in said.splitlines() if "Theme" in line).split()
    assert headings[:6] == ["Agent", "Theme", "Rep.", "Total", "Recall", "Analysis"]
    code, said, _ = evergreen("leaderboard", *chosen, "--format", "csv")
    assert said.startswith("protocol,judge,agent,theme,metric,value,n_reports,n_items,n_without\n")
    code, _, said = evergreen("leaderboard", *chosen, "--metric", "f1")
    assert (code, "There is no metric 'f1'." in said) == (1, True)


def test_tokens_are_told_by_batch_and_results_are_written(
    warehouse: Path, evergreen: Evergreen, tmp_path: Path
) -> None:
    chosen = ("--edition", EDITION, "--warehouse", warehouse)
    code, said, _ = evergreen("calls", *chosen, "--protocol", "rubric_bench", "--by", "batch",
                              "--format", "json")  # fmt: skip
    assert (code, len(json.loads(said))) == (0, 4)
    code, _, said = evergreen(
        "calls", *chosen, "--protocol", "rubric_bench", "--by", "agent", "--judge", "nobody"
    )
    assert (code, "no calls of the judge nobody by rubric_bench" in said) == (0, True)
    code, _, said = evergreen("export", "drb2", *chosen, "--judge", JUDGE, "--to", tmp_path / "o")
    assert code == 0
    assert "result.jsonl with 4 of 5 reports of 2 agents" in said
    assert "No figures there for 1 of them:\n  few, idx-10: the report is empty" in said
    file = tmp_path / "file"
    file.write_text("")
    code, _, said = evergreen("export", "drb2", *chosen, "--judge", JUDGE, "--to", file / "o")
    assert (code, "cannot write to" in said) == (2, True)

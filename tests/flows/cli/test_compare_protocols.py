"""What `evergreen compare protocols` prints, and the leaderboard of metrics beside each other."""

import csv
import io
import json
from pathlib import Path

import pytest

from tasks.configuration.rubrics import RUBRICS_VARIABLE
from tasks.scoring.boards import select_boards
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.tasks.scored_articles import articles, scored

VALUES = {
    ("wiki_fact", "coverage_wiki"): (0.1, 0.2, 0.3, 0.4),
    ("fact", "valid_rate"): (0.2, 0.4, 0.3, 0.9),
    ("fact", "effective_citations"): (12.0, 13.0, 14.0, 15.5),
}
AGENTS = ("first", "second", "third", "fourth")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four agents with a report each, under two protocols, by the default judge."""
    monkeypatch.setenv(RUBRICS_VARIABLE, "")
    made = tmp_path / "w.duckdb"
    with open_warehouse(made) as warehouse:
        articles(warehouse, ())
        figures = {of: {agent: (n,) for agent, n in zip(AGENTS, values, strict=True)}
                   for of, values in VALUES.items()}  # fmt: skip
        scored(warehouse, figures)
        warehouse._connection.execute(
            "UPDATE leaderboard SET provisional = metric = 'valid_rate' WHERE agent = 'third'"
        )
    return made


def compared(evergreen: Evergreen, path: Path, *more: str) -> str:
    code, out, said = evergreen(
        "compare", "protocols", "--edition", "e", "--warehouse", path, *more
    )
    assert code == 0, said
    return out


def test_agents_stand_by_metrics_with_what_has_to_be_known(
    path: Path, evergreen: Evergreen
) -> None:
    out = compared(evergreen, path)
    assert "no overall column" in out
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    assert lines["third"] == ["third", "30.0*", "(1)", "14.0", "(1)", "30.0", "(1)"]
    assert "With fewer than 10, a correlation can be chance" in " ".join(out.split())
    # Citation accuracy and coverage: rho above the diagonal, tau below.
    assert lines["1"][-2:] == ["0.80", "0.80"]
    assert lines["3"][:2] == ["3", "0.67"]


def test_programs_get_both_tables_as_json_and_as_one_csv(
    path: Path, evergreen: Evergreen, tmp_path: Path
) -> None:
    told = json.loads(compared(evergreen, path, "--format", "json"))
    assert (told["judge"], told["over"], len(told["agents"]), len(told["pairs"])) == (
        "offline", "agents", 12, 3,
    )  # fmt: skip
    [pair] = [p for p in told["pairs"] if {p["metric"], p["other_metric"]}
              == {"valid_rate", "coverage_wiki"}]  # fmt: skip
    assert pair["spearman"] == pytest.approx(0.8)
    to = tmp_path / "compared.csv"
    assert compared(evergreen, path, "--format", "csv", "--output", str(to)) == ""
    written = to.read_text("utf-8")
    assert compared(evergreen, path, "--output", str(to)) == ""
    assert to.read_text("utf-8") == written, "a name says the format where nobody else does"
    rows = list(csv.DictReader(io.StringIO(to.read_text("utf-8"))))
    assert [row["table"] for row in rows] == ["agents"] * 12 + ["pairs"] * 3


def test_numbers_are_shown_as_numbers_and_a_protocol_without_a_board_gets_one(
    path: Path, evergreen: Evergreen
) -> None:
    code, out, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", path)
    assert code == 0
    assert "e · FACT · " in out
    assert "15.5" in out
    assert "1550" not in out
    assert "Effective citations: a number" in out
    with open_warehouse(path) as warehouse:
        frame = warehouse.frame("SELECT * FROM leaderboard")
    fact = [board for board in select_boards(frame) if board.protocols == {"fact"}]
    assert [board.ranked_by for board in fact] == [("valid_rate",)]

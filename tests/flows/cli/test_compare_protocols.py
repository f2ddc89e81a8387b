"""What `evergreen compare protocols` prints, and the leaderboard of metrics beside each other."""

import csv
import io
import json
from pathlib import Path

import pytest

from tasks.configuration.rubrics import RUBRICS_VARIABLE
from tasks.protocols.registry import get_protocol
from tasks.scoring.boards import select_boards
from tasks.scoring.pending import current_version
from tasks.scoring.rows import build_leaderboard_rows
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.rows import Edition, utc_now
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen

VALUES = {
    ("wiki_fact", "coverage_wiki"): (0.1, 0.2, 0.3, 0.4),
    ("fact", "valid_rate"): (0.2, 0.4, 0.3, 0.9),
    ("fact", "effective_citations"): (12.0, 13.0, 14.0, 15.5),
}
AGENTS = ("first", "second", "third", "fourth")


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four agents with a report each, under two protocols, by the default judge."""
    monkeypatch.setenv(RUBRICS_VARIABLE, "")
    path = tmp_path / "w.duckdb"
    scores = [
        Score(
            edition="e", protocol=name, metric=metric, agent=agent, assignment="x",
            judge="offline", value=value, numerator=value, n_items=1,
            n_open=agent == "third" and metric == "valid_rate", state="done",
            scorer_version=current_version(get_protocol(name)),
        )
        for (name, metric), values in VALUES.items()
        for agent, value in zip(AGENTS, values, strict=True)
    ]  # fmt: skip
    edition = Edition(edition="e", source="wlc", title="E", imported_at=utc_now())
    with open_warehouse(path) as warehouse:
        warehouse.write(Change(Edition, [edition]), Change(Score, scores))
        rows = build_leaderboard_rows(
            warehouse, "e", [get_protocol("wiki_fact"), get_protocol("fact")]
        )
        warehouse.write(Change(LeaderboardRow, rows))
    return path


def compared(evergreen: Evergreen, path: Path, *more: str) -> str:
    code, out, said = evergreen(
        "compare", "protocols", "--edition", "e", "--warehouse", path, *more
    )
    assert code == 0, said
    return out


def test_agents_stand_by_metrics_with_what_has_to_be_known(
    scored: Path, evergreen: Evergreen
) -> None:
    out = compared(evergreen, scored)
    assert "no overall column" in out
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    assert lines["third"] == ["third", "30.0*", "(1)", "14.0", "(1)", "30.0", "(1)"]
    assert "With fewer than 10, a correlation can be chance" in " ".join(out.split())
    # Citation accuracy and coverage: rho above the diagonal, tau below.
    assert lines["1"][-2:] == ["0.80", "0.80"]
    assert lines["3"][:2] == ["3", "0.67"]


def test_programs_get_both_tables_as_json_and_as_one_csv(
    scored: Path, evergreen: Evergreen, tmp_path: Path
) -> None:
    told = json.loads(compared(evergreen, scored, "--format", "json"))
    assert (told["judge"], told["over"], len(told["agents"]), len(told["pairs"])) == (
        "offline", "agents", 12, 3,
    )  # fmt: skip
    [pair] = [p for p in told["pairs"] if {p["metric"], p["other_metric"]}
              == {"valid_rate", "coverage_wiki"}]  # fmt: skip
    assert pair["spearman"] == pytest.approx(0.8)
    to = tmp_path / "compared.csv"
    assert compared(evergreen, scored, "--format", "csv", "--output", str(to)) == ""
    written = to.read_text("utf-8")
    assert compared(evergreen, scored, "--output", str(to)) == ""
    assert to.read_text("utf-8") == written, "a name says the format where nobody else does"
    rows = list(csv.DictReader(io.StringIO(to.read_text("utf-8"))))
    assert [row["table"] for row in rows] == ["agents"] * 12 + ["pairs"] * 3


def test_numbers_are_shown_as_numbers_and_a_protocol_without_a_board_gets_one(
    scored: Path, evergreen: Evergreen
) -> None:
    code, out, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", scored)
    assert code == 0
    assert "e · FACT · " in out
    assert "15.5" in out
    assert "1550" not in out
    assert "Effective citations: a number" in out
    with open_warehouse(scored) as warehouse:
        frame = warehouse.frame("SELECT * FROM leaderboard")
    fact = [board for board in select_boards(frame) if board.protocols == {"fact"}]
    assert [board.ranked_by for board in fact] == [("valid_rate",)]

"""What `evergreen leaderboard` leaves out of its tables, and what rests on few reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.display.leaderboard import leaderboard_rows
from tasks.scoring.columns import load_leaderboard
from tasks.warehouse.jobs import Job
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.rows import Edition, Report, utc_now
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen

FIGURES = {
    ("ann", "coverage_wiki"): (0.5, 69), ("ann", "leakage_rate"): (0.25, 1),
    ("ann", "wiki_conflict"): (None, 0),
    ("bob", "coverage_wiki"): (0.4, 69), ("bob", "leakage_rate"): (0.125, 35),
    ("bob", "wiki_conflict"): (None, 0),
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    rows = [
        LeaderboardRow(
            edition="e", protocol="wiki_fact", agent=agent, metric=metric, judge="offline",
            value=value, macro=value, micro=value, n_items=n_reports, n_reports=n_reports,
            n_open=0, provisional=False, n_delivered=69, n_missing=0, n_assignments=69,
        )
        for (agent, metric), (value, n_reports) in FIGURES.items()
    ]  # fmt: skip
    with open_warehouse(path) as warehouse:
        edition = Edition(edition="e", source="wlc", title="E", imported_at=utc_now())
        warehouse.write(Change(Edition, [edition]), Change(LeaderboardRow, rows))
    return path


def test_a_column_without_any_figure_is_named_in_the_note_and_stays_in_json(
    path: Path, evergreen: Evergreen
) -> None:
    chosen = ("leaderboard", "--edition", "e", "--warehouse", path)
    code, out, _ = evergreen(*chosen)
    assert code == 0
    headings = next(line for line in out.splitlines() if "Agent" in line)
    assert headings.split()[:4] == ["#", "Agent", "Cov.", "Facts"]
    assert "Confl." not in headings
    assert "No figures by this judge: Soft cov., All cl., Confl.," in " ".join(out.split())
    code, out, _ = evergreen(*chosen, "--format", "json")
    assert {row["metric"] for row in json.loads(out)} == {metric for _, metric in FIGURES}


def test_a_figure_of_few_reports_is_marked(path: Path, evergreen: Evergreen) -> None:
    _, out, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", path)
    assert "25.0†" in out
    assert "†: based on fewer than half of the agent's reports." in " ".join(out.split())
    with open_warehouse(path) as warehouse:
        frame = load_leaderboard(warehouse, "e")
    assert [row["Leak"] for row in leaderboard_rows(frame)] == ["25.0†", "12.5"]


@pytest.mark.parametrize(
    ("judge", "stands"), [("gemini-3.5-flash-lite", True), ("gemini-3.8-flash", False)]
)
def test_a_board_says_for_which_judge_its_judge_stands(
    judge: str, stands: bool, path: Path, evergreen: Evergreen
) -> None:
    with open_warehouse(path) as warehouse:
        rows = [
            row.model_copy(update={"judge": judge})
            for row in warehouse.rows(LeaderboardRow, "true", [])
        ]
        warehouse.write(Change(LeaderboardRow, rows))
    _, out, _ = evergreen("leaderboard", "--edition", "e", "--judge", judge, "--warehouse", path)
    said = " ".join(out.split())
    assert "Gemini 3." in said
    assert ("stands for Gemini 2.5 Flash" in said) == ("is not measured." in said) == stands


def test_reports_that_came_after_the_figures_are_counted_by_agent(
    path: Path, evergreen: Evergreen
) -> None:
    def report(agent: str, assignment: str, status: str = "ok") -> Report:
        return Report(edition="e", agent=agent, assignment=assignment, text="…", text_sha="",
                      status=status, source_path="here")  # fmt: skip

    with open_warehouse(path) as warehouse:
        reports = [report("ann", "x0"), report("ann", "x1"), report("ann", "x2", "empty"),
                   report("bob", "x0"), report("cid", "x0")]  # fmt: skip
        judged = Score(edition="e", protocol="wiki_fact", agent="bob", assignment="x0",
                       metric="coverage_wiki", judge="offline", value=0.4, state="done",
                       scorer_version="1")  # fmt: skip
        warehouse.write(Change(Report, reports), Change(Score, [judged]))
    _, out, _ = evergreen("leaderboard", "--edition", "e", "--warehouse", path)
    said = [line for line in out.splitlines() if "since these figures" in line]
    assert said == ["ann: 2 reports new or changed since these figures: evergreen evaluate"]


def test_a_figure_of_several_models_is_marked(path: Path, evergreen: Evergreen) -> None:
    with open_warehouse(path) as warehouse:
        for n, model in enumerate(("writer-1", "gateway/Writer-1", "writer-2")):
            of: dict[str, Any] = {"edition": "e", "agent": "bob", "assignment": f"x{n}"}
            job = Job(**of, job=f"j{n}", attempt=1, kind="chat", parameters="{}", prompt="",
                      prompt_sha="", state="done", model_version=model)  # fmt: skip
            report = Report(**of, text="…", text_sha="", status="ok", source_path=f"job j{n}")
            score = Score(**of, protocol="wiki_fact", metric="coverage_wiki", judge="offline",
                          value=0.4, state="done", scorer_version="1")  # fmt: skip
            warehouse.write(Change(Job, [job]), Change(Report, [report]), Change(Score, [score]))
    said = "two models: 2 and 1 reports (writer-1, writer-2)"
    chosen = ("leaderboard", "--edition", "e", "--warehouse", path)
    _, out, _ = evergreen(*chosen)
    assert "40.0§" in out
    assert out.count("§") == 2  # in the note, too; no figure of leakage rests on these reports
    assert f"§: bob answered as {said}." in " ".join(out.split())
    _, out, _ = evergreen(*chosen, "--format", "json")
    models = {(row["agent"], row["metric"]): row["models"] for row in json.loads(out)}
    assert models == dict.fromkeys(FIGURES) | {("bob", "coverage_wiki"): said}


def test_a_figure_that_refused_items_could_move_out_of_its_interval_is_marked(
    path: Path, evergreen: Evergreen
) -> None:
    refused = {"n_blocked": 9, "blocked_share": 0.125, "bound_low": 0.3, "bound_high": 0.6}
    with open_warehouse(path) as warehouse:
        rows = [
            row.model_copy(update={"low": low, "high": 0.7} | refused)
            for row in warehouse.rows(LeaderboardRow, "metric = 'coverage_wiki'")
            for low in [0.35 if row.agent == "ann" else 0.2]
        ]
        warehouse.write(Change(LeaderboardRow, rows))
    chosen = ("leaderboard", "--edition", "e", "--warehouse", path)
    _, out, _ = evergreen(*chosen)
    said = " ".join(out.split())
    assert "50.0¶" in said
    assert out.count("¶") == 2  # in the note, too
    assert "¶: uncertain: the judge refused items; as the worst or best they would move" in said
    assert "Refused by the judge, of what it was asked: ann 12.5% (Wiki Fact), bob 12.5%" in said
    _, out, _ = evergreen(*chosen, "--format", "json")
    found = {(row["agent"], row["metric"]): row for row in json.loads(out)}
    assert [key for key, row in found.items() if row["uncertain"]] == [("ann", "coverage_wiki")]
    assert refused.items() <= found["bob", "coverage_wiki"].items()

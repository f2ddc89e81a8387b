"""Another judge on the same reports: its verdicts stand beside the others, changes are shown."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.warehouse.results import Cell, LeaderboardRow, Score, Verdict
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import KEY, at_hand, value
from tests.servers.openai import OpenAiServer

pytestmark = pytest.mark.usefixtures("judges")
REPORT = ("sample_blogger", "Eddystone_Lighthouse")


@pytest.fixture
def warehouse(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(small, tmp_path / "warehouse.duckdb"))


def of_offline(path: Path) -> dict[str, bytes]:
    """All that the offline judge has decided, byte by byte."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            table: connection.sql(
                f"SELECT * FROM {table} WHERE judge = 'offline' ORDER BY ALL"
            ).pl().write_csv().encode()
            for table in (Cell.table, Verdict.table, Score.table, "leaderboard")
        }  # fmt: skip


def rejudge(evergreen: Evergreen, warehouse: Path, *more: str) -> tuple[dict[str, Any], str]:
    code, answer, said = evergreen(
        "rejudge", "--edition", "sample", "--judge", "openai", "--protocol", "wiki_fact",
        "--format", "json", "--warehouse", warehouse, *more,
    )  # fmt: skip
    assert code == 0, said
    return json.loads(answer), said


def test_one_report_is_judged_again_and_the_others_count_as_open(
    sample: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    warehouse = Path(shutil.copy(sample, tmp_path / "three_articles.duckdb"))
    before = of_offline(warehouse)
    server = OpenAiServer()
    with at_hand(server, "openai"):
        found, _ = rejudge(evergreen, warehouse, "--report", "/".join(REPORT))
    assert of_offline(warehouse) == before
    cells = "SELECT count(*) FROM cells WHERE judge = 'openai' AND agent || '/' || assignment = "
    assert value(warehouse, cells + f"'{'/'.join(REPORT)}'") == 1
    assert value(warehouse, "SELECT count(*) FROM cells WHERE judge = 'openai'") == 1
    board = "FROM leaderboard WHERE judge = 'openai' AND metric = 'coverage_wiki'"
    assert value(warehouse, f"SELECT list(agent) {board}") == [REPORT[0]]
    assert value(warehouse, f"SELECT [provisional::INT, n_reports] {board}") == [1, 1]

    assert found["complete"]
    assert {row["step"] for row in found["agreement"]} == {
        "coverage", "coverage_all", "citation", "all",
    }  # fmt: skip
    assert {(row["agent"], row["assignment"]) for row in found["changed"]} <= {REPORT}
    figures = {row["metric"]: row for row in found["figures"]}
    coverage = figures["coverage_wiki"]
    assert (coverage["before_reports"], coverage["after_reports"]) == (3, 1)
    assert coverage["exchanged"] is not None
    assert figures["coverage_wiki_soft"]["exchanged"] is None  # models give no soft figure

    asked = sum(server.log.answered().values())
    assert asked > 0
    with at_hand(server, "openai"):
        again, said = rejudge(evergreen, warehouse, "--report", "/".join(REPORT))
    assert again["figures"] == found["figures"]
    assert "Judging" not in said
    assert sum(server.log.answered().values()) == asked


def test_verdicts_are_followed_to_the_published_leaderboard_through_budgets_and_kills(
    warehouse: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    to = tmp_path / "sites"
    chosen = ("--report", "sample_blogger/Eddystone Lighthouse", "--to", str(to))

    def kept() -> Any:
        return json.loads((to / "changes.json").read_text("utf-8"))

    with at_hand(OpenAiServer(), "openai"):
        code, _, said = evergreen("rejudge", "--edition", "sample", "--judge", "openai",
                                  "--protocol", "wiki_fact", "--warehouse", warehouse, *chosen,
                                  "--budget", "0.001")  # fmt: skip
        assert (code, "Partial" in said) == (1, True)
        assert kept()["complete"] is False
        first, _ = rejudge(evergreen, warehouse, *chosen)
        assert first["changed"]
        changed = {(row["agent"], row["judge"], row["metric"]) for row in first["changed_figures"]}
        assert ("sample_blogger", "openai", "ref_acc") in changed
        assert {judge for _, judge, _ in changed} == {"openai"}
        assert kept()["complete"] is True
        assert {row["before"] for row in kept()["figures"] if row["judge"] == "openai"} == {None}
        assert "openai" in (to / "after" / "data" / "leaderboard.csv").read_text("utf-8")
        assert sorted(path.name for path in to.iterdir()) == [
            "after", "before.json", "changes.json"
        ]  # fmt: skip

        before = (to / "before.json").read_bytes()
        (to / "changes.json").unlink()  # as if it had been killed while it wrote the site
        shutil.rmtree(to / "after")
        again, said = rejudge(evergreen, warehouse, *chosen)
        assert "the start of an earlier, interrupted run" in said
        assert (to / "before.json").read_bytes() == before
        assert again["changed_figures"] == first["changed_figures"] != []
        anew, _ = rejudge(evergreen, warehouse, *chosen)
    assert anew["changed_figures"] == []


def test_the_tables_say_what_the_figures_rest_on(warehouse: Path, evergreen: Evergreen) -> None:
    with at_hand(OpenAiServer(), "openai"):
        code, shown, said = evergreen(
            "rejudge", "--edition", "sample", "--judge", "openai", "--agent", "sample_blogger",
            "--protocol", "wiki_fact", "--warehouse", warehouse,
        )  # fmt: skip
    assert code == 0, said
    for words in ("do offline and openai agree?", "kappa", "1 rep., 18 items", "exchanged", " → "):
        assert words in shown
    assert "Verdicts that differ" in said


def test_what_cannot_end_well_is_refused_before_anything_is_judged(
    warehouse: Path, tmp_path: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    common = ("rejudge", "--edition", "sample", "--judge", "openai", "--warehouse", warehouse)
    code, _, said = evergreen(*common, "--to", tmp_path / "sites")
    assert (code, f"The judge openai has no key: set the variable {KEY}" in said) == (1, True)
    assert not (tmp_path / "sites").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    server = OpenAiServer()
    with at_hand(server, "openai"):
        code, _, said = evergreen(*common, "--to", tmp_path / "mine")
        assert (code, "mine holds other files than after/" in said) == (1, True)
        with open_warehouse(warehouse) as store:
            store.write(Change(LeaderboardRow, [], replacing={"edition": "sample"}))
        code, _, said = evergreen(*common, "--to", tmp_path / "sites")
        assert (code, "The leaderboard of sample is behind its scores" in said) == (1, True)
    assert "Traceback" not in said
    assert sum(server.log.answered().values()) == 0

"""A rubric that is edited: no verdict goes under another version of it, and agents that were judged
by different versions do not stand side by side as final."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from tasks.analysis.protocols import compare_headline_metrics
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.rubrics import RUBRICS_VARIABLE
from tasks.judges.questions.grade_items import GradeItems
from tasks.judging.cases import load_cases
from tasks.judging.cells import CellPlan, plan_cells
from tasks.protocols.cell import get_protocol_version, judge_case
from tasks.protocols.registry import get_protocol, resolve_name
from tasks.scores import compute_scores
from tasks.scoring.rows import build_leaderboard_rows
from tasks.verdicts import CellJudge, write_cell
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.rigs import research_editions
from tests.tasks.protocols.framed import Told, ok

BEFORE = "title: t\nitems: [{id: a, text: Is it long?}, {id: b, text: Is it sourced?}]\n"
AFTER = "title: t\nitems: [{id: a, text: Is it short?}]\n"


@pytest.fixture
def rubric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(RUBRICS_VARIABLE, "")
    file = tmp_path / "mine.yaml"
    file.write_text(BEFORE, "utf-8")
    resolve_name(str(file))
    return file


@pytest.fixture
def warehouse(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    monkeypatch.setattr(research_editions, "PROTOCOLS", {"gym": "research_gym"})
    research_editions.write_research_editions(warehouse)
    return warehouse


def judge() -> Told:
    return Told({GradeItems: lambda r: [ok("1" if i.id == "a" else "0") for i in r.items]})


def plans(warehouse: Warehouse, by: Told, *agents: str) -> list[CellPlan]:
    return plan_cells(warehouse, "gym", get_protocol("mine"), by, agents)


def evaluate(warehouse: Warehouse, *agents: str) -> dict[tuple[str, str], LeaderboardRow]:
    """The leaderboard after these agents were evaluated, all if none is named."""
    by = judge()
    for agent in agents or ("terse", "thorough"):
        for plan in plans(warehouse, by, agent):
            case = load_cases(warehouse, [plan])[plan.cell_id]
            found = asyncio.run(judge_case("mine", by, case, plan.protocol_version))
            asyncio.run(write_cell(warehouse, plan, found))
        of_agent = {"edition": "gym", "protocol": "mine", "agent": agent, "judge": by.name}
        rows = compute_scores(warehouse, get_protocol("mine"), by, plans(warehouse, by, agent))
        warehouse.write(Change(Score, rows, replacing=of_agent))
    board = build_leaderboard_rows(warehouse, "gym", [get_protocol("mine")])
    warehouse.write(Change(LeaderboardRow, board, replacing={"edition": "gym"}))
    return {(row.agent, row.metric): row for row in board}


@pytest.mark.parametrize("cpu_bound", [False, True])
def test_a_cell_that_was_planned_before_an_edit_is_not_judged_by_what_the_file_says_now(
    cpu_bound: bool, warehouse: Warehouse, rubric: Path
) -> None:
    by = judge()
    by.cpu_bound, by.name = cpu_bound, "offline"
    helpers = SimpleNamespace(run=lambda function, *given, **_: asyncio.to_thread(function, *given))
    run, session = SimpleNamespace(store=warehouse, helpers=helpers), SimpleNamespace(judge=by)
    [plan, *_] = plans(warehouse, by)

    def judged() -> int:
        judge_of_cells = CellJudge(run, session, [plan])  # type: ignore[arg-type]
        asyncio.run(judge_of_cells.judge(plan, lambda n: None))
        return warehouse.frame("SELECT * FROM verdicts").height

    rubric.write_text(AFTER, "utf-8")
    with pytest.raises(ConfigurationError, match=r"mine was changed during this run.* Run again"):
        judged()
    assert (by.asked, warehouse.frame("SELECT * FROM verdicts").height) == ([], 0)
    rubric.write_text(BEFORE, "utf-8")
    assert judged() == 2


def test_a_built_in_protocol_is_kept_by_version() -> None:
    version = get_protocol("wiki_fact").version
    assert get_protocol_version("wiki_fact", version) is get_protocol_version("wiki_fact", version)
    with pytest.raises(ConfigurationError, match="planned version an earlier one"):
        get_protocol_version("wiki_fact", "an earlier one")


def test_agents_judged_by_an_earlier_version_are_provisional_with_the_reason(
    warehouse: Warehouse, rubric: Path
) -> None:
    before = evaluate(warehouse)
    assert {(row.value, row.provisional, row.reason) for row in before.values()} == {
        (0.5, False, None), (1.0, False, None),
    }  # fmt: skip
    assert not any(
        "another version" in said
        for said in compare_headline_metrics(warehouse, "gym", "told").remarks
    )

    rubric.write_text(AFTER, "utf-8")
    mixed = evaluate(warehouse, "terse")
    new, old = mixed["terse", "rubric_score"], mixed["thorough", "rubric_score"]
    assert (new.value, new.provisional, new.n_open, new.reason) == (1.0, False, 0, None)
    assert (old.value, old.provisional, old.n_open) == (0.5, True, old.n_reports)
    assert old.reason == "another version of the protocol judged it: evaluate this agent again"
    found = compare_headline_metrics(warehouse, "gym", "told")
    stars = found.agents.filter(metric="rubric_score").select("agent", "provisional").rows()
    assert stars == [("terse", False), ("thorough", True)]
    [said] = [remark for remark in found.remarks if "another version" in remark]
    assert "mine: thorough" in said

    rubric.unlink()
    assert compare_headline_metrics(warehouse, "gym", "told").metrics == (), (
        "without its file it is left out"
    )
    rubric.write_text(AFTER, "utf-8")
    assert not any(row.provisional for row in evaluate(warehouse).values())

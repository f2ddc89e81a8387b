"""What another judge has left to do is known before a Prefect server is started."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.planning.options import EvaluateOptions
from tasks.run import Plan, Selection
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import KEY, at_hand
from tests.flows.plain_evaluation import evaluate_plainly
from tests.flows.refused_server import STARTED, change, refused_server
from tests.servers.openai import OpenAiServer

__all__ = ["refused_server"]
AGENT = "sample_blogger"
REJUDGE = ("rejudge", "--edition", "sample", "--judge", "openai", "--protocol", "wiki_fact",
           "--agent", AGENT)  # fmt: skip


@pytest.fixture(scope="module")
def judge_of_a_model(judges: Path) -> Iterator[None]:
    """`openai`, served as long as the tests last."""
    with at_hand(OpenAiServer(), "openai"):
        yield


@pytest.fixture(scope="module")
def judged_twice(
    small: Path, judge_of_a_model: None, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with a small edition of which a second judge has judged one agent; to be copied."""
    path = Path(shutil.copy(small, tmp_path_factory.mktemp("twice") / "w.duckdb"))
    evaluate_plainly(path, ("wiki_fact",), (AGENT,), "openai")
    return path.parent


@pytest.fixture
def rejudged(judged_twice: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(judged_twice, tmp_path / "w", symlinks=True)) / "w.duckdb"


def test_judges_that_have_judged_all_are_compared_at_once(
    rejudged: Path, evergreen: Evergreen
) -> None:
    code, shown, said = evergreen(*REJUDGE, "--warehouse", rejudged)
    assert code == 0, said
    assert "Nothing was pending: openai and offline both decided" in said
    for words in ("do offline and openai agree?", "Verdicts of openai that differ", "exchanged"):
        assert words in shown
    code, answer, _ = evergreen(*REJUDGE, "--format", "json", "--warehouse", rejudged)
    found = json.loads(answer)
    assert (code, found["complete"]) == (0, True)
    assert found["agreement"]
    assert found["figures"]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM cells WHERE judge = 'openai' AND assignment LIKE 'Eddystone%'",
        "UPDATE cells SET n_open = 1 WHERE judge = 'openai'",
        "DELETE FROM scores WHERE judge = 'openai'",
        "DELETE FROM leaderboard WHERE judge = 'openai'",
    ],
    ids=["a report", "an open item", "scores", "leaderboard"],
)
def test_what_the_new_judge_has_not_done_is_done_by_a_run(
    sql: str, rejudged: Path, evergreen: Evergreen
) -> None:
    change(rejudged, sql)
    code, _, said = evergreen(*REJUDGE, "--warehouse", rejudged)
    assert (code, STARTED in said) == (1, True)


def test_only_the_chosen_report_need_be_judged(
    rejudged: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Selection] = []

    def find_outcome(options: EvaluateOptions, plan: Plan) -> None:
        asked.append(plan.selection)

    monkeypatch.setattr(EvaluateOptions, "find_outcome", find_outcome)
    report = ("--report", f"{AGENT}/Eddystone Lighthouse")
    evergreen(*REJUDGE[:-2], *report, "--warehouse", rejudged)
    [run] = asked
    assert (run.agents, run.assignments) == ((AGENT,), ("Eddystone_Lighthouse",))
    assert (run.protocols, run.judge) == (("wiki_fact",), "openai")


def test_a_comparison_is_exported_if_the_run_before_was_killed(
    rejudged: Path, evergreen: Evergreen
) -> None:
    with open_warehouse(rejudged) as store:
        store._connection.execute("UPDATE editions SET title = 'Another title'")
    assert STARTED in evergreen(*REJUDGE, "--warehouse", rejudged)[2]


def test_two_sites_are_written_whatever_was_judged(
    rejudged: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    said = evergreen(*REJUDGE, "--to", tmp_path / "sites", "--warehouse", rejudged)[2]
    assert STARTED in said


def test_a_judge_without_its_key_is_refused_where_nothing_is_pending(
    rejudged: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY)
    code, _, said = evergreen(*REJUDGE, "--warehouse", rejudged)
    assert (code, f"The judge openai has no key: set the variable {KEY}" in said) == (1, True)

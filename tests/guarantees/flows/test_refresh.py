"""A month's steps: which follow which, how it ends, what it may spend."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import rows, value
from tests.flows.months import ARTICLES, EDITION, refresh, renew, site_of, steps_of
from tests.flows.plain_prefect import Artifacts
from tests.guarantees.flows.test_refresh_refusals import BOTH, STEPS, collected, path, renewed
from tests.rigs.compared_tables import contents
from tests.rigs.month_places import SINCE, UNTIL
from tests.rigs.month_world import AGENTS, BASELINE, JUDGE, World
from tests.servers.jobs import JobScript

__all__ = ["collected", "path", "renewed"]

ENDED = "SELECT edition, outcome FROM refreshes ORDER BY began_at"


@pytest.fixture(scope="module")
def finished(
    plain: Artifacts,
    outside: World,
    collected: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Any, Artifacts]:
    """A month that was done in one go, how it ended and what it showed; to be copied."""
    path = Path(shutil.copy(collected, tmp_path_factory.mktemp("finished")))
    renew(outside)
    before = len(plain)
    return path, refresh(path), plain[before:]


def test_a_month_goes_through_all_its_steps_to_the_site(
    outside: World, finished: tuple[Path, Any, Artifacts]
) -> None:
    path, state, shown = finished
    assert (state.type.value, state.name) == ("COMPLETED", "Completed"), state.message
    assert str(site_of(outside)) in state.message
    assert steps_of(shown) == dict.fromkeys(STEPS, "Completed") | {"collect": "Cached"}
    assert {"leaderboard", "cost"} <= {each["key"] for each in shown}
    reports = rows(path, "SELECT agent, count(*) FROM reports GROUP BY ALL ORDER BY agent")
    assert reports == [(agent, ARTICLES) for agent in sorted([*AGENTS, BASELINE])]
    assert "no LLM used" in (site_of(outside) / "index.html").read_text("utf-8")
    assert rows(path, ENDED) == [(EDITION, "ok")]
    assert rows(path, "SELECT folder FROM publications") == [(str(site_of(outside)),)]


def test_the_months_judge_extracts_facts_and_claims_once_a_budget_permits_it(
    outside: World, path: Path
) -> None:
    renew(outside)
    outside.configure(extractor=None)
    chosen: dict[str, Any] = {"agents": [AGENTS[0]], "judge": JUDGE, "to_publish": False}
    try:
        refused = refresh(path, **chosen)
        assert "would extract the facts and claims of" in refused.message
        assert (outside.agents[AGENTS[0]].n_made, outside.model.log.entries) == (0, [])
        state = refresh(path, budget_usd=100.0, **chosen)
        assert state.name == "Completed", state.message
        asked = len(outside.model.log.entries)
        assert refresh(path, **chosen).name == "Cached", "nothing is left to permit"
        assert len(outside.model.log.entries) == asked
    finally:
        outside.configure(extractor="offline")
    by = "SELECT source, agent = '' AS of_article, count(*) FROM extractions GROUP BY ALL"
    assert rows(path, f"{by} ORDER BY ALL") == [
        ("judge", False, ARTICLES),
        ("judge", True, ARTICLES),
    ]
    assert value(path, "SELECT count(*) FROM calls WHERE protocol = 'extraction'") == 2 * ARTICLES


def test_the_agent_that_searches_archived_pages_is_asked_when_there_are_some(
    finished: tuple[Path, Any, Artifacts],
) -> None:
    path, *_ = finished
    asked = value(path, f"SELECT min(created_at) FROM jobs WHERE agent = '{BASELINE}'")
    fetched = value(path, "SELECT max(fetched_at) FROM fetches")
    assert asked > fetched
    traced = value(path, f"SELECT count(*) FROM search_traces WHERE agent = '{BASELINE}'")
    assert traced == ARTICLES


def test_a_second_time_it_is_verified_and_nothing_is_bought_fetched_or_written(
    outside: World, finished: tuple[Path, Any, Artifacts], tmp_path: Path
) -> None:
    path = Path(shutil.copy(finished[0], tmp_path))
    before, mark = contents(path), site_of(outside) / "site.json"
    written = mark.stat().st_mtime_ns
    state = refresh(path)
    assert state.name == "Cached"
    assert "up to date" in state.message
    assert set(outside.counts().values()) == {0}
    assert contents(path) == before
    assert mark.stat().st_mtime_ns == written


def test_reports_that_are_missing_leave_the_month_partial_and_the_others_judged(
    plain: Artifacts, outside: World, path: Path
) -> None:
    outside.scripts[AGENTS[0]] = JobScript(ends="failed")
    outside.renewed()
    state = refresh(path, agents=list(AGENTS), to_publish=False)
    assert state.name == "Partial"
    steps = steps_of(plain)
    assert [step for step, ended in steps.items() if ended == "Partial"] == [f"ask {BOTH}"]
    assert list(steps)[-1] == "evaluate"
    assert f"ask {BOTH}: " in state.message
    assert value(path, "SELECT count(DISTINCT agent) FROM leaderboard") == 1
    assert rows(path, ENDED) == [(EDITION, "incomplete")]


def test_a_step_that_fails_is_named_and_none_follows(
    plain: Artifacts, outside: World, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the pages cannot be told")

    monkeypatch.setattr("flows.fetch.check_edition", broken)
    state = refresh(path)
    assert state.type.value == "FAILED"
    assert "the step fetch failed, and no later one was started" in state.message
    error = asyncio.run(state.aresult(raise_on_failure=False))
    assert isinstance(error, RuntimeError)
    assert "the pages cannot be told" in str(error)
    assert list(steps_of(plain)) == STEPS[:4]
    assert value(path, f"SELECT count(*) FROM jobs WHERE agent = '{BASELINE}'") == 0
    assert value(path, "SELECT count(*) FROM cells") == 0
    assert rows(path, ENDED) == [(EDITION, "begun")]


def test_the_budget_is_of_the_month_however_often_it_is_run(outside: World, path: Path) -> None:
    def came() -> int:
        return sum(server.n_made for server in outside.agents.values())

    chosen = {"agents": list(AGENTS), "to_publish": False}
    # A report costs some 0.4 and sets 5 aside: the third one does not fit any more.
    state = refresh(path, budget_usd=5.5, **chosen)
    first = came()
    assert state.name == "Partial"
    assert "The budget of $5.50 is used up" in state.message
    assert 0 < first < 2 * ARTICLES
    assert refresh(path, budget_usd=5.5, **chosen).name == "Partial"
    assert came() == first
    state = refresh(path, budget_usd=20.0, **chosen)
    assert (state.name, came()) == ("Completed", 2 * ARTICLES)


def test_the_command_does_a_month_and_says_beforehand_what_it_would_take(
    outside: World, evergreen: Evergreen, tmp_path: Path
) -> None:
    path, to = tmp_path / "warehouse.duckdb", tmp_path / "site"
    asked = ("refresh", "--edition", EDITION, "--since", f"{SINCE:%Y-%m-%d}",
             "--until", f"{UNTIL:%Y-%m-%d}", "--agent", AGENTS[0], "--budget", "30", "--site", to,
             "--warehouse", path, "--format", "json")  # fmt: skip
    code, answer, said = evergreen(*asked, "--dry-run")
    assert code == 0, said
    planned = json.loads(answer)
    assert not path.exists()
    assert set(outside.counts().values()) == {0}
    asks = [row for row in planned["steps"] if row["step"] == "ask"]
    assert [(row["n"], row["usd"], row["usd_at_most"]) for row in asks] == [
        (ARTICLES, 2.0 * ARTICLES, 5.0 * ARTICLES)
    ]
    assert planned["account"]["verdict"] == "enough"
    assert planned["would_not_begin"] == []

    code, answer, said = evergreen(*asked)
    assert code == 0, said
    done = json.loads(answer)
    assert done["complete"] is True
    assert {row["agent"] for row in done["leaderboard"]} == {AGENTS[0]}
    assert (to / "index.html").exists()
    assert outside.agents[AGENTS[0]].n_made == ARTICLES
    assert rows(path, ENDED)[-1] == (EDITION, "ok")

    before = contents(path)
    code, answer, _ = evergreen(*asked, "--dry-run")
    planned = json.loads(answer)
    assert (code, sum(row["n"] for row in planned["steps"])) == (0, 0)
    assert planned["account"]["spent_usd"] > 0
    assert contents(path) == before
    code, answer, said = evergreen(*asked[:-2], "--dry-run")
    assert "is up to date" in " ".join(answer.split())
    assert "Nothing was asked, bought or written." in said

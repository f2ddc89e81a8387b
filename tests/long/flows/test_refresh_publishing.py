"""How a month is published: when there is something new to show, and a person agrees."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from flows import site_step
from tasks.configuration.errors import ConfigurationError
from tasks.editions.refresh import load_refresh
from tasks.planning.edition_options import RefreshOptions
from tasks.planning.month import resolve_month
from tasks.publishing.downloads import is_current
from tasks.warehouse.location import parse_location
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.rows import utc_now
from tests import patient
from tests.conftest import PREFECT_HOME
from tests.flows.months import EDITION, collect, refresh, renew, site_of
from tests.long.flows.test_publish_decisions import artifacts, decide
from tests.processes.deployed_runs import answer_run, run_of, state_of
from tests.processes.flows.served_flows import deployments_of, served
from tests.rigs.month_world import AGENTS, World, environment_of
from tests.servers.jobs import JobScript
from tests.waiting import until


@pytest.fixture(autouse=True)
def renewed(outside: World) -> None:
    renew(outside)


@pytest.fixture(scope="module")
def finished(outside: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A month of one agent that was done in one go; to be copied."""
    path = tmp_path_factory.mktemp("finished") / "warehouse.duckdb"
    renew(outside)
    assert refresh(path, agents=[AGENTS[0]]).name == "Completed"
    return path


def test_a_site_is_as_it_should_be_only_with_these_very_figures(
    outside: World, finished: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(finished, tmp_path))
    site = Path(shutil.copytree(site_of(outside), tmp_path / "site"))
    mark = json.loads((site / "site.json").read_text("utf-8"))

    def is_there(edition: str = EDITION, **wanted: Any) -> bool:
        with open_for_reading(path) as source:
            return is_current(source, edition, site, **wanted)

    assert is_there()
    assert is_there(judges=["offline"])
    assert not is_there(judges=["offline", "local"])
    assert not is_there(edition="2026-01")
    for spoilt in ({"unfinished": True}, {"judges": ["local"]}, {"edition": "2026-01"}):
        (site / "site.json").write_text(json.dumps(mark | spoilt), "utf-8")
        assert not is_there(), spoilt
    (site / "site.json").write_text(json.dumps(mark), "utf-8")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE scores SET n_open = n_open + 1 WHERE agent = $1", [AGENTS[0]])
    assert not is_there()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE scores SET n_open = n_open - 1 WHERE agent = $1", [AGENTS[0]])
    assert is_there()
    (site / "data" / "leaderboard.csv").unlink()
    assert not is_there()


def test_only_a_complete_month_is_published_where_that_is_wanted(
    api: str, outside: World, tmp_path: Path
) -> None:
    path = tmp_path / "warehouse.duckdb"
    collect(path)
    outside.scripts[AGENTS[0]] = JobScript(ends="failed")
    outside.renewed()
    state = refresh(path, agents=list(AGENTS), site=str(tmp_path / "early"))
    assert state.name == "Partial"
    assert (tmp_path / "early" / "index.html").exists()
    outside.configure(publish={"to": str(tmp_path / "site"), "only_complete": True})
    state = refresh(path, agents=list(AGENTS))
    assert json.loads(artifacts(api, state)["steps"])[-1]["ended"] == "Left out"
    assert state.name == "Partial"
    assert not (tmp_path / "site").exists()
    state = refresh(path, agents=[AGENTS[1]])  # of whom nothing is missing
    assert state.name == "Completed"
    assert (tmp_path / "site" / "index.html").exists()


def refreshed_by(api: str, path: Path, answer: dict[str, Any], **parameters: Any) -> Any:
    """A month in which a person is asked and says this; how it ended."""
    from flows.refresh import refresh as flow

    state, _ = decide(api, path, [answer], flow, edition=EDITION, **parameters)
    return state


def test_a_person_is_asked_before_publishing_and_holds_nothing_up(
    api: str, finished: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(finished, tmp_path))
    to = tmp_path / "site"
    answer = {"publish": False, "note": "not yet"}
    state = refreshed_by(api, path, answer, site=str(to))
    assert (state.type.value, state.name) == ("COMPLETED", "Declined")
    assert "not yet" in state.message
    assert not to.exists()
    state = refreshed_by(api, path, {"publish": True}, site=str(to))
    assert state.name == "Completed"
    assert (to / "index.html").exists()
    state = refresh(path, site=str(to), approve=True)  # which shows just this: nobody is asked
    assert state.name == "Completed"


def test_where_nobody_could_be_asked_the_month_does_not_begin(
    api: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flows.deployments import build_deployments

    [served] = build_deployments(parse_location(tmp_path / f"{tmp_path.name}.duckdb"), ["refresh"])
    alone: Any = served.apply()
    monkeypatch.setattr(site_step, "_get_current_deployment", lambda: alone)
    with open_for_reading(finished) as source:
        gated = resolve_month(
            source, load_refresh(), RefreshOptions(edition=EDITION, approve=True), utc_now()
        )
        free = resolve_month(source, load_refresh(), RefreshOptions(edition=EDITION), utc_now())
    with pytest.raises(ConfigurationError, match=rf"`publish` on .*{tmp_path.name}\.duckdb, which"):
        asyncio.run(site_step.check_publishing(gated))
    asyncio.run(site_step.check_publishing(free))
    monkeypatch.setattr(
        site_step, "_get_current_deployment", lambda: None
    )  # a run of the command line
    asyncio.run(site_step.check_publishing(gated))


def test_a_run_of_a_deployment_has_another_one_ask_and_asks_once(
    api: str, outside: World, finished: Path, tmp_path: Path
) -> None:
    path, to = Path(shutil.copy(finished, tmp_path / "asked.duckdb")), tmp_path / "site"
    outside.configure(publish={"to": str(to), "approve": True})
    log = tmp_path / "log"

    def until_named(run: str, name: str) -> None:
        until(
            f"run that is {name}",
            lambda: state_of(api, run)["name"] == name,
            detail=lambda: f"{_states(api, run)}\n{log.read_text('utf-8')}",
        )

    environment = environment_of(outside, PREFECT_HOME)
    with served(path, ["refresh", "publish"], log, environment=environment):
        begun, published = deployments_of(api, path, "refresh", "publish")

        def refreshed() -> str:
            given = {"agents": [AGENTS[0]], "budget_usd": "unlimited"}
            run = run_of(api, begun["id"], edition=EDITION, **given)
            return str(until("end", lambda: _ended(api, run))["message"])

        said = refreshed()
        assert "is waiting for approval to be published" in said
        [asking] = _runs_of(api, published["id"])
        assert asking["id"] in said
        until_named(asking["id"], "Suspended")
        assert asking["id"] in refreshed()  # the same figures: the same question
        assert len(_runs_of(api, published["id"])) == 1
        answer_run(api, asking["id"], publish=False, note="no")
        until_named(asking["id"], "Declined")
        assert asking["id"] not in refreshed()  # what was declined is asked about anew
        [again] = [run for run in _runs_of(api, published["id"]) if run["id"] != asking["id"]]
        until_named(again["id"], "Suspended")
        answer_run(api, again["id"], publish=True)
        until_named(again["id"], "Completed")
        assert (to / "index.html").exists()
        assert "up to date" in refreshed()
        assert len(_runs_of(api, published["id"])) == 2


def _states(api: str, run: str) -> str:
    """The states that a run has been in, a line each."""
    states = patient.get(f"{api}/flow_run_states/", params={"flow_run_id": run}).json()
    return "\n".join(f"{at['timestamp']} {at['name']}: {at['message']}" for at in states)


def _ended(api: str, run: str) -> Any:
    state = state_of(api, run)
    assert state["type"] not in ("FAILED", "CRASHED"), state
    return state if state["type"] == "COMPLETED" else None


def _runs_of(api: str, deployment: str) -> list[dict[str, Any]]:
    asked = {"deployments": {"id": {"any_": [deployment]}}}
    found: list[dict[str, Any]] = patient.post(f"{api}/flow_runs/filter", json=asked).json()
    return found

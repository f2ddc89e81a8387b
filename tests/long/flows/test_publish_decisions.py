"""Publishing with a person's decision: a run waits, holds nothing, and goes by the answer."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tasks.protocols.registry import get_protocol
from tasks.scoring.rows import add_statistics, build_leaderboard_rows
from tasks.warehouse import store as warehouses
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests import patient, waiting
from tests.processes.deployed_runs import is_taken


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sample, tmp_path / "warehouse.duckdb"))


def decide(
    api: str, warehouse: Path, answers: Sequence[Any], flow: Any = None, **more: Any
) -> tuple[Any, int]:
    """Run the flow (`publish`) and give these answers, one whenever it waits; its final state, and
    how often it waited. An answer may be a function that is called when it is to be given."""
    from flows.publish import publish

    parameters: dict[str, Any] = {
        "edition": "sample", "approve": True, "warehouse": str(warehouse),
    } | more  # fmt: skip
    waited = 0

    async def run() -> Any:
        nonlocal waited
        running: Any = (flow or publish)(**parameters, return_state=True)
        task: asyncio.Task[Any] = asyncio.create_task(running)
        async with patient.AsyncClient(base_url=api) as client:
            for answer in answers:
                run_id = await paused(client, task, warehouse, parameters["edition"])
                assert str(warehouse) not in warehouses._open, "held while a person thinks"
                waited += 1
                if answer == "cancel":
                    await cancelled(client, run_id)
                    continue
                given = {"run_input": answer() if callable(answer) else answer}
                await resumed(client, run_id, given)
        return await asyncio.wait_for(task, waiting.SECONDS)

    return asyncio.run(run()), waited


async def paused(
    client: httpx.AsyncClient, task: asyncio.Task[Any], warehouse: Path, edition: str
) -> str:
    """The id of this run, once it waits; another test's may wait beside it."""
    waiting = {"name": {"any_": [f"publish / {edition}"]}, "state": {"type": {"any_": ["PAUSED"]}}}
    wanted = {"flow_runs": waiting, "sort": "START_TIME_DESC"}
    while True:
        assert not task.done(), task.result()
        answer = await client.post("/flow_runs/filter", json=wanted)
        for run in answer.json() if answer.is_success else ():
            if run["parameters"]["warehouse"] == str(warehouse):
                return str(run["id"])
        await asyncio.sleep(0.2)


async def cancelled(client: httpx.AsyncClient, run_id: str) -> None:
    while True:
        wanted = {"state": {"type": "CANCELLING"}}
        answer = await client.post(f"/flow_runs/{run_id}/set_state", json=wanted)
        if answer.is_success:
            return
        await asyncio.sleep(0.2)


async def resumed(client: httpx.AsyncClient, run_id: str, given: dict[str, Any]) -> None:
    address = f"/flow_runs/{run_id}/resume"
    while not is_taken(await client.post(address, json=given)):  # noqa: ASYNC110 (no event)
        await asyncio.sleep(0.1)


def artifacts(api: str, state: Any) -> dict[str, str]:
    """By key what the run left in the UI."""
    ids = [str(state.state_details.flow_run_id)]
    asked = {"artifacts": {"flow_run_id": {"any_": ids}}}
    found = patient.post(f"{api}/artifacts/filter", json=asked).json()
    return {each["key"]: str(each["data"]) for each in found}


def test_a_person_who_agrees_has_it_published_and_the_note_is_kept(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    to = tmp_path / "site"
    answer = {"publish": True, "note": "looks <b>[right](http://evil.example)</b>"}
    state, waited = decide(api, warehouse, [answer], to=str(to))
    assert (state.name, waited) == ("Completed", 1)
    assert str(to) in state.message
    assert (to / "index.html").exists()
    left = artifacts(api, state)
    assert {"approval", "leaderboard", "published", "cost"} <= set(left)
    assert "looks" in left["published"]
    assert "http://evil" not in left["published"]
    assert "<b>" not in left["published"]


@pytest.mark.parametrize(
    ("answers", "more", "ended", "said"),
    [
        ([{"publish": False, "note": "not yet"}], {}, ("COMPLETED", "Declined"), "not yet"),
        ([], {"approval_hours": 1 / 3600}, ("COMPLETED", "Declined"), "nobody decided in time"),
        (["cancel"], {}, ("CANCELLED", "Cancelled"), ""),
    ],
    ids=["declined", "not in time", "cancelled"],
)
def test_where_nobody_agrees_nothing_is_written(
    api: str, warehouse: Path, tmp_path: Path, answers: list[Any], more: dict[str, Any],
    ended: tuple[str, str], said: str,
) -> None:  # fmt: skip
    to = tmp_path / "site"
    state, _ = decide(api, warehouse, answers, to=str(to), **more)
    assert (state.type.value, state.name) == ended
    assert said in (state.message or "")
    assert not to.exists()


def test_figures_of_a_judge_that_is_not_published_may_change_meanwhile(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    with open_warehouse(warehouse) as store:
        theirs = [
            score.model_copy(update={"judge": "local"})
            for score in store.rows(Score, "edition = 'sample' AND judge = 'offline'")
        ]
        store.write(Change(Score, theirs))
        rank(store)

    def changed() -> dict[str, Any]:
        with open_warehouse(warehouse, wait_seconds=0) as store:
            worsen(store, "local")
            rank(store)
        return {"publish": True}

    to = tmp_path / "site"
    state, waited = decide(api, warehouse, [changed], to=str(to), judges=["offline", "offline"])
    assert (state.name, waited) == ("Completed", 1)
    assert "local" not in (to / "data" / "leaderboard.csv").read_text("utf-8")
    assert "| judges | offline |" in artifacts(api, state)["published"]


def test_figures_that_are_not_those_of_the_scores_are_neither_asked_about_nor_published(
    api: str, warehouse: Path, tmp_path: Path
) -> None:
    to = tmp_path / "site"

    def changed() -> dict[str, Any]:
        with open_warehouse(warehouse, wait_seconds=0) as store:
            worsen(store)  # and is killed before it ranks
        return {"publish": True}

    for answers in ([changed], []):
        state, waited = decide(api, warehouse, answers, to=str(to))
        assert (state.type.value, waited) == ("FAILED", len(answers))
        assert "Run `evergreen evaluate --edition sample`, then publish" in state.message
    assert not to.exists()


def worsen(store: Warehouse, judge: str = "offline") -> None:
    """Another score of one report, without what follows from it."""
    score = store.rows(Score, "judge = $1 AND value > 0", [judge])[0]
    store.write(Change(Score, [score.model_copy(update={"value": 0.0, "numerator": 0.0})]))


def rank(store: Warehouse) -> None:
    """The leaderboard as the scores have it."""
    rows = build_leaderboard_rows(store, "sample", [get_protocol("wiki_fact")])
    whole, _ = add_statistics(store, "sample", rows)
    store.write(Change(LeaderboardRow, whole, replacing={"edition": "sample"}))

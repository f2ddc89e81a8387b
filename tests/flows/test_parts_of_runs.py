"""What a part of a run takes over from the whole, and which parts are waited for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.fetch import fetch
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_stage
from tasks.outcome import Outcome
from tasks.planning.options import EvaluateOptions, FetchOptions, FlowOptions, ReadOptions
from tasks.run import RunContext
from tasks.stage import Ownership, Stage, Worker
from tasks.warehouse.store import open_warehouse
from tests.flows.plain_prefect import plain_prefect
from tests.tasks.runs import run_of


@pytest.mark.parametrize(
    ("options", "batch"),
    [(FetchOptions(edition="e"), False), (EvaluateOptions(edition="e", batch=True), True),
     (EvaluateOptions(edition="e"), False)],
    ids=["fetch has no batches", "asked for", "not asked for"],
)  # fmt: skip
def test_only_the_options_of_a_part_have_it_use_batches(
    options: FlowOptions, batch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[RunContext] = []

    async def begin(part: RunContext, _: FlowOptions) -> State[None]:
        begun.append(part)
        return Completed()

    monkeypatch.setattr(fetch, "begin", begin)
    with open_warehouse(tmp_path / "w.duckdb") as store, run_of(store) as run:
        run.batch = not batch
        asyncio.run(fetch.within(run, options))  # type: ignore[arg-type]
    [part] = begun
    assert (part.batch, part.budget, part.helpers) == (batch, run.budget, run.helpers)


def test_a_part_that_another_process_does_holds_up_no_other_of_its_title(tmp_path: Path) -> None:
    """Cells of questions about one article have one title."""
    asked: list[tuple[int, bool]] = []

    @asynccontextmanager
    async def hold(part: list[int], *, wait: bool) -> AsyncIterator[Ownership]:
        asked.append((part[0], wait))
        yield "done" if wait else "taken"

    async def do(part: list[int], _: Any) -> None: ...

    @asynccontextmanager
    async def open_stage(
        run: RunContext, todo: Sequence[list[int]]
    ) -> AsyncIterator[Worker[list[int]]]:
        yield Worker(do, concurrency=1, hold=hold)

    stage = Stage(
        name="scores", task="t", find_pending=lambda plan: [[1], [2]], open=open_stage,
        title=lambda part: "Mercury",
    )  # fmt: skip
    with plain_prefect(), open_warehouse(tmp_path / "w.duckdb") as store, run_of(store) as run:
        assert asyncio.run(run_stage(run, stage)).kind == "done"
    assert sorted(asked) == [(1, False), (1, True), (2, False), (2, True)]


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_planned_before_a_lock_counts_only_where_nobody_else_works(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a lake another process may have had the same reports meanwhile: they are not bought."""
    plans = []

    @warehouse_flow("seen", ReadOptions, "seen")
    async def seen(run: RunContext, options: ReadOptions) -> Outcome:
        plans.append(run.plan)
        return Outcome("done", "")

    with plain_prefect(), open_warehouse(tmp_path / "w.duckdb") as store, run_of(store) as run:
        monkeypatch.setattr(store.locks, "shared", shared)
        before = run.plan
        asyncio.run(seen.begin(run, ReadOptions(edition="e")))
    assert (plans == [before]) == (not shared)

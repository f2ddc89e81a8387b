"""Work ends when it is interrupted or has lost its server, and paid calls are waited for."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES

from flows.runtime import watched_runs
from flows.runtime.server_record import ServerLost
from flows.runtime.watched_runs import watch
from flows.stages import run_stage
from tasks.run import Plan, Selection


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_runs, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(watched_runs, "PATIENCE_SECONDS", 0.01)


def test_work_that_has_lost_its_server_is_cancelled_and_nothing_is_told_twice_to_it() -> None:
    retries = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            retries.append(PREFECT_CLIENT_MAX_RETRIES.value())
            raise ConnectionError  # what Prefect makes of it

    before = PREFECT_CLIENT_MAX_RETRIES.value()
    with pytest.raises(ServerLost):
        asyncio.run(watch(work(), lambda: True))
    assert before > 0
    assert retries == [0]
    assert PREFECT_CLIENT_MAX_RETRIES.value() == before


def test_interrupted_work_counts_as_interrupted_whatever_error_it_ends_with() -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ConnectionError

    async def run() -> None:
        task = asyncio.create_task(watch(work(), lambda: False))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


def test_an_interruption_waits_for_a_paid_call(capsys: pytest.CaptureFixture[str]) -> None:
    kept = []

    async def work(answered: asyncio.Event) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await answered.wait()
            kept.append("answer")

    async def run() -> None:
        answered = asyncio.Event()
        task = asyncio.create_task(watch(work(answered), lambda: False))
        await asyncio.sleep(0.01)
        task.cancel()
        while "press Ctrl-C again" not in capsys.readouterr().err:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        answered.set()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert kept == ["answer"]


def test_no_stage_starts_after_an_interruption_that_prefect_has_dropped() -> None:
    started: list[object] = []
    stage: Any = SimpleNamespace(name="scores", find_pending=lambda plan: [1], open=started.append)
    context: Any = SimpleNamespace(plan=Plan(None, Selection(edition="e")))  # type: ignore[arg-type]

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with suppress(asyncio.CancelledError):  # as Prefect does while a flow ends
            await asyncio.sleep(0)
        await run_stage(context, stage)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert started == []

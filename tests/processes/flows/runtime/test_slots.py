"""Runs wait for their providers' slots."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.deployments import limit_runs
from flows.runtime import budgets, warehouse
from flows.runtime.warehouse import hold_slots
from tasks.editions.refresh import load_refresh
from tasks.planning.options import AskOptions, EvaluateOptions
from tests import patient
from tests.changed_configs import copy_configs, reading
from tests.processes.flows.served_flows import ALERTS

GEMINI = EvaluateOptions(edition="e", judge="gemini-3.8-flash")


@pytest.fixture
def one_at_a_time(api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One run at a time may use Gemini, and this process does runs of deployments."""
    configs = copy_configs(
        tmp_path, refresh=lambda s: s.update(runs_at_once={"gemini": 1, "perplexity_high": 1})
    )
    monkeypatch.setattr(budgets, "_is_served", lambda: True)
    with ALERTS, reading(configs, load_refresh):
        asyncio.run(limit_runs(load_refresh().runs_at_once))
        yield
        asyncio.run(limit_runs({}))


def slots(api: str) -> dict[str, int]:
    """Our limits, with the slots that are taken of each."""
    found = patient.post(f"{api}/v2/concurrency_limits/filter", json={}).json()
    ours = [each for each in found if each["name"].startswith("evergreen-")]
    return {each["name"]: each["active_slots"] for each in ours}


@pytest.mark.usefixtures("one_at_a_time")
def test_a_run_waits_for_the_one_that_uses_the_same_provider_and_no_other(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def second(waits: asyncio.Event) -> None:
        monkeypatch.setattr(warehouse, "print_message", lambda _: waits.set())
        async with await hold_slots(GEMINI):
            assert slots(api)["evergreen-gemini"] == 1

    async def run() -> None:
        waits = asyncio.Event()
        async with await hold_slots(GEMINI):
            assert slots(api) == {"evergreen-gemini": 1, "evergreen-perplexity_high": 0}
            async with await hold_slots(AskOptions(edition="e", agents=["perplexity_high"])):
                assert slots(api)["evergreen-perplexity_high"] == 1
            waiting = asyncio.create_task(second(waits))
            await waits.wait()
        await waiting
        async with await hold_slots(GEMINI.model_copy(update={"judge": "offline"})):
            assert slots(api)["evergreen-gemini"] == 0

    asyncio.run(run())


@pytest.mark.usefixtures("one_at_a_time")
def test_limits_go_with_their_settings(api: str) -> None:
    asyncio.run(limit_runs({"openai": 2}))
    assert [*slots(api)] == ["evergreen-openai"]

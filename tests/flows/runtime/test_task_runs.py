"""A task that cannot begin, because the Prefect server is away, begins when it is back."""

import asyncio
from typing import Any

import pytest
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.states import Completed
from tenacity import wait_none

from flows.runtime import task_runs
from flows.runtime.task_runs import run_task


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_runs, "wait_random_exponential", lambda **_: wait_none())


class Server:
    """Gives no place to so many tasks, then to all."""

    def __init__(self, refusals: int) -> None:
        self.refusals, self.asked = refusals, 0

    async def begin(self, item: str, *, return_state: bool) -> Any:
        self.asked += 1
        if self.asked <= self.refusals:
            raise ConcurrencySlotAcquisitionError("All connection attempts failed")
        return Completed(message=item)


def test_it_is_begun_again_until_the_server_has_a_place_for_it() -> None:
    server = Server(refusals=3)
    state = asyncio.run(run_task(server.begin, "cell"))
    assert (state.message, server.asked) == ("cell", 4)


def test_a_server_that_stays_away_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(task_runs, "MAX_OUTAGE_SECONDS", 0)
    server = Server(refusals=3)
    with pytest.raises(ConcurrencySlotAcquisitionError):
        asyncio.run(run_task(server.begin, "cell"))
    assert server.asked == 1


def test_what_fails_otherwise_is_not_begun_again() -> None:
    begun = []

    async def broken(*, return_state: bool) -> Any:
        begun.append(1)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(run_task(broken))
    assert begun == [1]

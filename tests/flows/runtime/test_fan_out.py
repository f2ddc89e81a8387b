"""How items are run together, and what is said of what could not be done."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from flows.runtime import task_runs
from flows.runtime.task_runs import Later, run_items
from tasks.models.errors import Misconfigured
from tasks.outcome import Failure, PartLeft, PartOpen, format_failures
from tasks.warehouse.errors import UnwritableWarehouse


class Bar:
    """Counts in place of a bar and an artifact."""

    def __init__(self) -> None:
        self.done = 0

    def describe(self, doing: str) -> None:
        """Forget it."""

    def advance(self, items: int) -> None:
        self.done += items


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Bar:
    shown = Bar()

    @asynccontextmanager
    async def stage_progress(stage: str, total: int, item: str) -> AsyncIterator[Bar]:
        yield shown

    monkeypatch.setattr(task_runs, "stage_progress", stage_progress)
    return shown


def run(
    errors: dict[str, BaseException | None], **settings: Any
) -> tuple[list[Failure], list[str]]:
    """Run the items that end with these errors; the failures, and the items that were begun."""
    begun: list[str] = []

    async def one(item: str, on_progress: Any) -> BaseException | None:
        begun.append(item)
        await asyncio.sleep(0)
        return errors[item]

    work = [(item, item) for item in errors]
    return asyncio.run(run_items("pages", work, one, **settings)).failures, begun


def test_an_item_that_fails_stops_no_other(bar: Bar) -> None:
    failures, begun = run({"a": None, "b": ValueError("no"), "c": None}, concurrency=1)
    assert failures == [Failure("pages", "b", "ValueError: no")]
    assert (begun, bar.done) == (["a", "b", "c"], 3)


def test_an_error_that_no_item_could_escape_stops_its_own_group(bar: Bar) -> None:
    no_key = Misconfigured("No key.")
    failures, begun = run(
        {"a1": no_key, "a2": None, "b1": None, "a3": None},
        concurrency={"a": 1, "b": 1},
        group=lambda item: item[0],
    )
    assert failures == [Failure("pages", "a 3 of 3 are left", "No key.")]
    assert begun == ["a1", "b1"]


def test_items_that_run_at_a_time_are_limited(bar: Bar) -> None:
    at_a_time: list[int] = [0]

    async def one(item: str, on_progress: Any) -> None:
        at_a_time.append(at_a_time[-1] + 1)
        await asyncio.sleep(0.001)
        at_a_time.append(at_a_time[-1] - 1)

    work = [(item, item) for item in "abcdef"]
    asyncio.run(run_items("pages", work, one, concurrency=2))
    assert max(at_a_time) == 2


def test_an_item_that_has_to_wait_is_run_once_more_when_the_others_are_done(bar: Bar) -> None:
    begun: list[str] = []

    async def one(item: str, on_progress: Any) -> BaseException | None:
        begun.append(item)
        return Later() if begun.count(item) == 1 and item == "a" else None

    found = asyncio.run(run_items("verdicts", [("a", "a"), ("b", "b")], one, concurrency=1))
    assert (found.failures, found.n, found.left) == ([], 2, 0)
    assert (begun, bar.done) == (["a", "b", "a"], 2)


def test_a_warehouse_that_cannot_be_written_cancels_what_is_under_way(bar: Bar) -> None:
    ended: list[str] = []

    async def one(item: str, on_progress: Any) -> None:
        if item == "a":
            raise UnwritableWarehouse("The disk is full.")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(item)

    with pytest.raises(UnwritableWarehouse, match="full"):
        asyncio.run(run_items("scores", [("b", "b"), ("a", "a")], one))
    assert ended == ["b"]


def test_a_part_that_left_some_of_its_items_has_done_the_others(bar: Bar) -> None:
    async def one(item: str, on_progress: Any) -> BaseException | None:
        return PartOpen("2 hosts ask to wait.", left=2) if item == "a" else PartLeft("No answer.")

    work = [("a", "a"), ("b", "b")]
    found = asyncio.run(run_items("fetch", work, one, size=lambda item: 10))
    assert (found.n, found.left, found.is_open) == (20, 2 + 10, True)
    assert [failure.item for failure in found.failures] == ["b"]


def test_an_error_is_told_once_with_the_items_that_it_is_about() -> None:
    wrong_key = "The key was refused."
    failures = [
        Failure("verdicts", "Ants", wrong_key),
        Failure("verdicts", "Bees", "No answer."),
        *(Failure("verdicts", name, wrong_key) for name in ("Cows", "Dogs", "Eels")),
    ]
    assert format_failures(failures) == (
        f"\n  Ants; Cows; Dogs and 1 more: {wrong_key}\n  Bees: No answer."
    )


def test_of_many_errors_the_first_are_told_and_the_others_counted() -> None:
    failures = [Failure("verdicts", str(n), f"Error {n}.") for n in range(8)]
    lines = format_failures(failures).splitlines()
    assert (len(lines), lines[1], lines[-1]) == (7, "  0: Error 0.", "  (and 3 more)")
    assert format_failures([]) == ""

"""What a lake refuses to compact is tried again, and then left to the next one."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from tasks.warehouse import compaction
from tasks.warehouse.compaction import CompactionStep


class Refusing:
    """A connection to a lake whose every call is refused so many times."""

    def __init__(self, times: int) -> None:
        self.left, self.calls = times, 0

    def execute(self, sql: str) -> Any:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise duckdb.TransactionException("Failed to commit.\nAnother one has compacted it")
        return SimpleNamespace(fetchall=lambda: [("main", "facts", 7)])


@pytest.mark.parametrize(
    ("times", "calls", "expected"),
    [
        (2, 3, CompactionStep("files merged", "facts", 7)),
        (99, 5, CompactionStep("files merged", "facts", 0, "Another one has compacted it")),
    ],
)
def test_what_is_refused_is_tried_again_and_then_left_to_the_next_one(
    times: int, calls: int, expected: CompactionStep, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tasks.warehouse.compaction.time.sleep", waited.append)
    locks: Any = SimpleNamespace(commit_lock=nullcontext)
    connection: Any = Refusing(times)
    step = compaction._run_step(locks, connection, "files merged", "merge()", "facts", 2)
    assert step == expected
    assert connection.calls == calls
    assert waited == [0, 1, 2, 3, 4][:calls]

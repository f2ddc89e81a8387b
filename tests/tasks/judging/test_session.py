"""Sessions with judges: how many items a process begins."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tasks.judges.registry import load_judge_entry
from tasks.judging.session import ITEMS_PER_CALL, JudgeSession
from tasks.warehouse.store import open_warehouse
from tests.tasks.runs import open_judge

JUDGE: Any = object()


def limit_of(warehouse_path: Path, judge: str, most: int) -> int | None:
    """How many items a process begins whose session with this judge is open."""

    async def read() -> int | None:
        with open_warehouse(warehouse_path) as warehouse:
            async with open_judge(warehouse, judge) as session:
                return session.limit_concurrency(most)

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("max_calls", "most", "expected"), [(4, 64, 8), (50, 64, 64), (1, 16, 2), (None, 64, 64)]
)
def test_a_process_begins_no_more_items_than_keep_its_model_busy(
    max_calls: int | None, most: int, expected: int
) -> None:
    assert JudgeSession(JUDGE, max_calls=max_calls).limit_concurrency(most) == expected


def test_the_limit_is_that_of_the_judge_s_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, entry = load_judge_entry("gemini-3.8-flash")
    monkeypatch.setenv("GEMINI_API_KEY", "test-key")
    expected = ITEMS_PER_CALL * entry.limits.concurrency  # type: ignore[union-attr]
    assert limit_of(tmp_path / "warehouse.duckdb", name, 1_000) == expected
    assert limit_of(tmp_path / "warehouse.duckdb", "offline", 1_000) == 1_000


def test_a_batch_takes_all_items_at_once() -> None:
    batch: Any = object()
    assert JudgeSession(JUDGE, batch=batch, max_calls=4).limit_concurrency(64) is None

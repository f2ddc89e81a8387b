"""Sessions with judges: how many items a process begins."""

from typing import Any

import pytest

from tasks.judging.session import JudgeSession

JUDGE: Any = object()


@pytest.mark.parametrize(
    ("max_calls", "most", "expected"), [(4, 64, 8), (50, 64, 64), (1, 16, 2), (None, 64, 64)]
)
def test_a_process_begins_no_more_items_than_keep_its_model_busy(
    max_calls: int | None, most: int, expected: int
) -> None:
    assert JudgeSession(JUDGE, max_calls=max_calls).limit_concurrency(most) == expected


def test_a_batch_takes_all_items_at_once() -> None:
    batch: Any = object()
    assert JudgeSession(JUDGE, batch=batch, max_calls=4).limit_concurrency(64) is None

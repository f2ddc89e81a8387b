"""What a site says at the top of every page."""

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from tasks.publishing.site import _describe_site


@pytest.mark.parametrize("trial", [False, True])
def test_reports_that_never_came_and_a_trial_are_said_at_the_top(trial: bool) -> None:
    board = pl.DataFrame(
        [("ann", 3, 0, 3, 0.5, False), ("bob", 1, 1, 3, 0.4, True), ("bob", 2, 0, 3, 0.3, True)],
        schema=["agent", "n_delivered", "n_missing", "n_assignments", "value", "provisional"],
        orient="row",
    )
    scores = pl.DataFrame(
        schema={"agent": pl.String, "assignment": pl.String, "state": pl.String,
                "n_open": pl.Int64}
    )  # fmt: skip
    material = SimpleNamespace(
        leaderboard=board, scores=scores, offline=(), judges=("j",), title="T", edition="e",
        source=SimpleNamespace(frame=lambda sql, edition: pl.DataFrame({"trial": [trial]})),
    )  # fmt: skip
    *others, (kind, said) = _describe_site(cast(Any, material)).notices
    assert [kind for kind, _ in others] == ["trial"] * trial
    assert kind == "provisional"
    assert said.endswith("may still change; 1 report never came.")

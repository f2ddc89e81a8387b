"""Figures that are published are those of the scores; who may mend it is told how."""

import pytest

from tasks.editions.names import OutdatedLeaderboard
from tasks.protocols.registry import get_protocol
from tasks.scoring.current import check_current
from tasks.scoring.rows import add_statistics, build_leaderboard_rows
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.annotated import AGENT, score, warehouse

__all__ = ["warehouse"]


def scored(warehouse: Warehouse, value: float, judge: str = "offline") -> None:
    row = score(judge, "race", AGENT, "race_overall", value)
    counted = row.model_copy(update={"numerator": value, "n_items": 1})
    warehouse.write(Change(Score, [counted]))


def ranked(warehouse: Warehouse) -> None:
    rows = build_leaderboard_rows(warehouse, "sample", [get_protocol("race")])
    whole, _ = add_statistics(warehouse, "sample", rows)
    warehouse.write(Change(LeaderboardRow, whole, replacing={"edition": "sample"}))


def test_scores_that_nobody_ranked_are_named_with_the_command_that_does(
    warehouse: Warehouse,
) -> None:
    check_current(warehouse, "sample")  # without scores there is nothing to be behind
    scored(warehouse, 0.5)
    with pytest.raises(OutdatedLeaderboard, match=r"behind its scores \(race\)"):
        check_current(warehouse, "sample")
    ranked(warehouse)
    check_current(warehouse, "sample")
    scored(warehouse, 0.6)
    command = "`evergreen evaluate --edition sample --protocol race`, then publish"
    with pytest.raises(OutdatedLeaderboard, match=command):
        check_current(warehouse, "sample")


def test_the_command_has_nobody_judge_who_has_not(warehouse: Warehouse) -> None:
    scored(warehouse, 0.5, "local")
    with pytest.raises(OutdatedLeaderboard, match="--protocol race --judge local`"):
        check_current(warehouse, "sample")

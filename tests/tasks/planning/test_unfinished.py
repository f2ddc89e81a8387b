"""Months whose last refresh left something: which they are, and what goes on with them."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from tasks.doctor import work
from tasks.planning.month import command_to_refresh, find_unfinished
from tasks.warehouse.jobs import Job
from tasks.warehouse.operations import MonthRefresh
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.asked_agents import AGENT, EDITION, with_assignments
from tests.tasks.jobs.test_resolve import a_job, a_report
from tests.tasks.planning.test_month import BEGUN, SETTINGS, begun


def ran(
    warehouse: Warehouse, outcome: Any, edition: str, *, at: datetime = BEGUN, **options: Any
) -> None:
    """A refresh as it was recorded."""
    run = MonthRefresh(edition=edition, began_at=at, outcome=outcome, options=json.dumps(options))
    warehouse.write(Change(MonthRefresh, [run]))


def names(warehouse: Warehouse, current: str = "2026-12", **settings: Any) -> list[str]:
    chosen = SETTINGS.model_copy(update=settings)
    return [*find_unfinished(warehouse, chosen, current)]


@pytest.mark.parametrize("outcome", ["incomplete", "begun"])
@pytest.mark.parametrize("edition", ["2026-11", ""], ids=["named", "by schedule"])
def test_a_month_is_unfinished_until_a_refresh_of_it_has_left_nothing(
    warehouse: Warehouse, outcome: str, edition: str
) -> None:
    begun(warehouse, "2026-11")
    ran(warehouse, outcome, edition)
    assert names(warehouse) == ["2026-11"]
    assert names(warehouse, current="2026-11") == []
    ran(warehouse, "ok", "2026-11", at=BEGUN + timedelta(days=20))
    assert names(warehouse) == []
    ran(warehouse, "incomplete", "2026-11", at=BEGUN + timedelta(days=21))
    assert names(warehouse) == ["2026-11"]


def test_only_editions_that_refresh_has_begun_are_months(warehouse: Warehouse) -> None:
    for edition in ("trial", "2026-09", "autumn", "2026-10"):
        begun(warehouse, edition)
    ran(warehouse, "incomplete", "2026-10")
    ran(warehouse, "incomplete", "autumn", at=BEGUN + timedelta(days=1))
    ran(warehouse, "begun", "never-begun")
    assert names(warehouse) == ["2026-10", "autumn"]
    assert names(warehouse, closed=("autumn",)) == ["2026-10"]


def test_it_is_told_with_its_paid_jobs_and_the_command_that_goes_on_with_it(
    warehouse: Warehouse,
) -> None:
    begun(warehouse, EDITION)
    with_assignments(warehouse, 7)
    gave_up_soon = {
        "remote_id": "r", "created_at": BEGUN, "finished_at": BEGUN + timedelta(seconds=1),
    }  # fmt: skip
    states = [
        a_job(n, state) for n, state in enumerate(["overdue", "running", "failed", "refused"])
    ]
    warehouse.write(
        Change(Job, [*states, a_job(4, "done"), a_job(5, "failed", **gave_up_soon),
                     a_job(6, "answered", agent="another")])
    )  # fmt: skip
    warehouse.write(Change(type(a_report(4)), [a_report(4)]))
    ran(warehouse, "incomplete", EDITION, since="2026-03-01", until="2026-09-01", publish=True)
    assert find_unfinished(warehouse, SETTINGS) == {
        EDITION: "2026-11 is unfinished, with 4 paid jobs under way. Finish it: evergreen refresh "
        "--edition 2026-11; or list it under `closed` in configs/refresh.yaml."
    }


def test_a_month_without_jobs_is_told_too_and_doctor_warns(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "load_refresh", lambda: SETTINGS)
    assert [found.status for found in work.check_next_month(warehouse)] == []
    begun(warehouse, "2026-11", frozen_at=BEGUN)
    ran(warehouse, "incomplete", "2026-11", agent=[AGENT])
    [found] = work.check_next_month(warehouse)
    assert (found.status, found.check) == ("warn", "the month 2026-11")
    assert found.finding.startswith(
        "2026-11 is unfinished. Finish it: evergreen refresh --edition 2026-11 --agent scripted;"
    )


@pytest.mark.parametrize(
    "given",
    [
        {"agent": ["a", "b c"], "judge": "j", "budget": 5.0, "publish": False, "batch": True},
        {"agents": ["a", "b c"], "judge": "j", "budget_usd": 5.0, "to_publish": False,
         "batch": True, "extractor": None, "wiki_api": "http://w", "created_from": "2026-01-01"},
    ],
    ids=["as a command", "as a flow"],
)  # fmt: skip
def test_who_was_named_is_named_again(given: dict[str, Any]) -> None:
    assert command_to_refresh("x", given) == (
        "evergreen refresh --edition x --agent a --agent 'b c' --judge j --budget 5.0 --batch "
        "--no-publish"
    )

"""What a run asked of models and agents, beside what all runs have."""

from datetime import datetime, timedelta
from typing import Any

from tasks.costs.tokens import load_costs_since
from tasks.warehouse.calls import Call
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

NOW = utc_now()
BEFORE = NOW - timedelta(hours=1)


def call(number: int, at: datetime, **more: Any) -> Call:
    given: dict[str, Any] = {
        "call_id": f"c{number}", "request_id": f"r{number}", "judge": "local", "step": "verify",
        "prompt_tokens": 10, "output_tokens": 5, "cost_usd": 0.5, "called_at": at,
    }  # fmt: skip
    return a_row(Call, **given | more)


def job(number: int, state: str, **more: Any) -> Job:
    given = {"job": f"j{number}", "agent": "asked", "assignment": f"a{number}", "state": state}
    return a_row(Job, **{"created_at": BEFORE} | given | more)


def test_calls_and_jobs_are_counted_for_this_run_and_in_all(warehouse: Warehouse) -> None:
    assert load_costs_since(warehouse, NOW).is_empty()
    warehouse.write(
        Change(
            Call,
            [
                call(1, BEFORE),
                call(2, NOW),
                call(3, NOW, cost_usd=None, prompt_tokens=None, output_tokens=None),
            ],
        ),
        Change(
            Job,
            [
                job(1, "done", cost_usd=2.0, input_tokens=7, finished_at=NOW),
                job(2, "refused"),
                job(3, "sending"),
            ],
        ),
    )
    calls, jobs = load_costs_since(warehouse, NOW).iter_rows(named=True)
    assert (calls["part"], calls["who"], calls["step"]) == ("judging", "local", "wiki_fact/verify")
    assert (calls["n_now"], calls["tokens_now"], calls["usd_now"]) == (2, 15, 0.5)
    assert (calls["n"], calls["tokens"], calls["usd"], calls["unpriced"]) == (3, 30, 1.0, 1)
    assert (jobs["part"], jobs["who"], jobs["n_now"], jobs["n"]) == ("reports", "asked", 1, 1)
    assert (jobs["usd_now"], jobs["tokens"]) == (2.0, 7)


def test_a_price_that_nobody_knows_is_null_and_not_zero(warehouse: Warehouse) -> None:
    warehouse.write(Change(Call, [call(1, BEFORE, cost_usd=None)]))
    [row] = load_costs_since(warehouse, NOW).iter_rows(named=True)
    assert (row["usd"], row["usd_now"], row["n_now"], row["unpriced"]) == (None, None, 0, 1)


def test_a_call_that_failed_needs_no_price(warehouse: Warehouse) -> None:
    failed = call(2, NOW, status="failed", cost_usd=None)
    warehouse.write(Change(Call, [call(1, NOW), failed]))
    [row] = load_costs_since(warehouse, NOW).iter_rows(named=True)
    assert (row["n_now"], row["usd_now"], row["unpriced_now"], row["unpriced"]) == (2, 0.5, 0, 0)

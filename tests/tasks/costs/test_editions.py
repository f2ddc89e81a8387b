"""What reports and their judging cost: what is free, what is known in part, what nobody knows."""

from pathlib import Path
from typing import Any

import pytest

from tasks.costs.editions import load_agent_costs, load_judging_costs
from tasks.warehouse.calls import Call
from tasks.warehouse.jobs import CollectionCost, Job
from tasks.warehouse.results import Cell, Verdict
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row


def report(agent: str, assignment: str) -> Report:
    return a_row(Report, agent=agent, assignment=assignment)


def job(agent: str, assignment: str, usd: float | None, state: Any = "done") -> Job:
    of = {"agent": agent, "assignment": assignment, "state": state}
    return a_row(Job, **of, job=f"{agent} {assignment} {state}", cost_usd=usd)


def entered(agent: str, assignment: str, usd: float | None, minutes: float) -> CollectionCost:
    return CollectionCost(edition="e", agent=agent, assignment=assignment, usd=usd, minutes=minutes)


def judged(warehouse: Warehouse, judge: str, agent: str, *costs: float | None) -> None:
    """A report of the agent, judged with calls that cost this much."""
    ids = [f"{judge} {agent} {n}" for n in range(len(costs))]
    calls = [
        a_row(Call, call_id=name, request_id=name, judge=judge, cost_usd=usd)
        for name, usd in zip(ids, costs, strict=True)
    ]
    of = {"cell_id": f"{judge} {agent}", "agent": agent, "judge": judge, "model_version": None}
    verdicts = [a_row(Verdict, **of, item=name, call_id=name) for name in ids]
    warehouse.write(
        Change(Call, calls), Change(Verdict, verdicts), Change(Cell, [cell(judge, agent)])
    )


def cell(judge: str, agent: str, status: Any = "done", assignment: str = "x") -> Cell:
    of = {"judge": judge, "agent": agent, "assignment": assignment}
    return a_row(Cell, **of, cell_id=f"{judge} {agent} {assignment}", status=status)


def of_reports(warehouse: Warehouse, judge: str = "offline") -> dict[str, dict[str, Any]]:
    frame = load_agent_costs(warehouse, "e", judge, load_judging_costs(warehouse, "e"))
    return {row["agent"]: row for row in frame.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("jobs", "people", "costs"),
    [
        ([job("a", "x", 0.5), job("a", "x", 0.25, "failed"), job("a", "y", 0.25)], [],
         {"jobs_usd": 1.0, "reports_usd": 1.0, "reports_cost": "known", "usd_per_report": 0.5,
          "n_reports": 2, "n_priced": 2}),
        ([job("a", "x", 0.5)], [entered("a", "y", 1.0, 12)],
         {"people_usd": 1.0, "people_minutes": 12, "reports_usd": 1.5, "reports_cost": "known",
          "total_usd": None}),
        ([job("a", "x", 0.5), job("a", "y", 0.25), job("a", "never came", None, "lost")], [],
         {"n_priced": 2, "reports_usd": 0.75, "reports_cost": "at least", "usd_per_report": None}),
        ([job("a", "x", 0.5), job("a", "x", None, "failed")], [],
         {"n_priced": 0, "reports_usd": 0.5, "reports_cost": "at least"}),
    ],
    ids=["what was paid in vain counts too", "what people entered is added",
         "what was asked in vain at an unknown price is missing from the sum",
         "a report of which one attempt has no price is not priced"],
)  # fmt: skip
def test_all_that_was_paid_adds_up(
    warehouse: Warehouse, jobs: list[Job], people: list[CollectionCost], costs: dict[str, Any]
) -> None:
    reports = [report("a", "x"), report("a", "y")]
    warehouse.write(Change(Report, reports), Change(Job, jobs), Change(CollectionCost, people))
    row = of_reports(warehouse)["a"]
    assert {name: row[name] for name in costs} == costs


def test_a_sum_from_which_something_is_missing_says_so_and_has_no_mean(
    warehouse: Warehouse,
) -> None:
    warehouse.write(
        Change(Report, [report(a, n) for a in ("files", "jobs", "minutes") for n in "xy"]),
        Change(Job, [job("files", "x", 0.5), job("jobs", "x", 0.5), job("jobs", "y", None)]),
        Change(CollectionCost, [entered("minutes", n, None, 5) for n in "xy"]),
    )
    found = of_reports(warehouse)
    for agent in ("files", "jobs"):
        row = found[agent]
        assert (row["reports_usd"], row["reports_cost"]) == (0.5, "at least")
        assert row["usd_per_report"] is None
    assert found["jobs"]["jobs_without_cost"] == 1
    row = found["minutes"]
    assert (row["reports_usd"], row["reports_cost"], row["people_minutes"]) == (
        None, "unknown", 10,
    )  # fmt: skip


def test_what_nobody_said_is_null_and_what_is_free_is_0_and_says_so(warehouse: Warehouse) -> None:
    warehouse.write(
        Change(Report, [report("imported", "x"), report("free", "x"), report("half", "x"),
                        report("half", "y")]),
        Change(Job, [job("free", "x", 0.0), job("half", "x", 0.0)]),
    )  # fmt: skip
    for agent in ("imported", "free"):
        judged(warehouse, "offline", agent)
    found = of_reports(warehouse)
    shown = {
        agent: (row["reports_usd"], row["reports_cost"], row["judging_usd"], row["judging_cost"],
                row["total_usd"], row["total_cost"])
        for agent, row in found.items()
    }  # fmt: skip
    assert shown == {
        "imported": (None, "unknown", 0.0, "free", None, "unknown"),
        "free": (0.0, "free", 0.0, "free", 0.0, "free"),
        "half": (None, "unknown", None, "unknown", None, "unknown"),
    }


def test_judging_is_told_by_judge_and_the_total_is_that_of_the_one_asked_for(
    warehouse: Warehouse,
) -> None:
    warehouse.write(Change(Report, [report("a", "x")]), Change(Job, [job("a", "x", 0.5)]))
    judged(warehouse, "offline", "a")
    judged(warehouse, "paid", "a", 0.25, 0.125)
    judged(warehouse, "partly", "a", 0.25, None)
    judged(warehouse, "priceless", "a", None)
    judged(warehouse, "local", "a", 0.0)
    judged(warehouse, "brought_in", "a")
    frame = load_judging_costs(warehouse, "e")
    shown = {r["judge"]: (r["calls"], r["usd"], r["cost"], r["usd_per_report"])
             for r in frame.iter_rows(named=True)}  # fmt: skip
    assert shown == {
        "offline": (0, 0.0, "free", 0.0),
        "paid": (2, 0.375, "known", 0.375),
        "partly": (2, 0.25, "at least", None),
        "priceless": (1, None, "unknown", None),
        "local": (1, 0.0, "free", 0.0),
        "brought_in": (0, None, "unknown", None),
    }
    totals = {judge: of_reports(warehouse, judge)["a"] for judge in shown}
    assert {judge: (row["total_usd"], row["total_cost"]) for judge, row in totals.items()} == {
        "offline": (0.5, "known"), "paid": (0.875, "known"), "partly": (0.75, "at least"),
        "priceless": (None, "unknown"), "local": (0.5, "known"), "brought_in": (None, "unknown"),
    }  # fmt: skip


def test_an_agent_that_was_paid_without_a_report_has_a_cost(warehouse: Warehouse) -> None:
    warehouse.write(Change(Job, [job("a", "x", 0.5, "failed")]))
    row = of_reports(warehouse)["a"]
    assert (row["n_reports"], row["reports_usd"], row["usd_per_report"]) == (0, 0.5, None)
    assert load_judging_costs(warehouse, "e").is_empty()


def test_a_cell_that_failed_may_have_been_paid_for_and_hides_no_other_cost(
    warehouse: Warehouse,
) -> None:
    warehouse.write(Change(Report, [report("a", "x"), report("a", "y")]))
    judged(warehouse, "paid", "a", 1.0)
    assert of_reports(warehouse, "paid")["a"]["judging_cost"] == "known"
    warehouse.write(Change(Cell, [cell("paid", "a", "failed", "y")]))
    row = of_reports(warehouse, "paid")["a"]
    assert (row["judging_usd"], row["judging_cost"]) == (1.0, "at least")
    [each] = load_judging_costs(warehouse, "e").iter_rows(named=True)
    assert (each["n_judged"], each["usd_per_report"]) == (1, None)
    again = {"cell_id": "paid a x"}
    warehouse.write(Change(Cell, [cell("paid", "a", "failed")], replacing=again))
    assert of_reports(warehouse, "paid")["a"]["judging_usd"] == 1.0


def test_money_is_summed_in_one_order_whichever_came_first(tmp_path: Path) -> None:
    dollars = (("done", 0.1), ("failed", 0.2), ("lost", 0.3))
    jobs = [job("a", "x", usd, state) for state, usd in dollars]
    jobs += [job("b", name, usd) for name, (_, usd) in zip("xyz", dollars, strict=True)]
    sums = set()
    for name, ordered in (("as asked", jobs), ("backwards", jobs[::-1])):
        with open_warehouse(tmp_path / f"{name}.duckdb") as opened:
            for one in ordered:
                opened.write(Change(Job, [one]))
            found = of_reports(opened)
            sums.add(tuple((row["jobs_usd"], row["reports_usd"]) for row in found.values()))
    assert len(sums) == 1

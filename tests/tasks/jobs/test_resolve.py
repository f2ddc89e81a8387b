"""What a person enters and decides about reports."""

from pathlib import Path
from typing import Any

import pytest

from tasks.agents.agent import AgentUsage, JobAnswer
from tasks.agents.kind import TokenRates
from tasks.editions.names import UnknownName
from tasks.jobs.estimate import estimate_reports
from tasks.jobs.pending import check_askable, find_pending_reports
from tasks.jobs.resolve import ask_again, record_cost
from tasks.jobs.rows import compute_cost
from tasks.warehouse.jobs import Job
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.asked_agents import AGENT, EDITION, PRICE, ask_entry, path_of, with_assignments
from tests.tasks.made_rows import a_row


def a_job(number: int, state: str, **more: Any) -> Job:
    of = {"edition": EDITION, "agent": AGENT, "assignment": f"Tern_{number}", "state": state}
    return a_row(Job, **{"job": f"evergreen-{number:04}"} | of | more)


def a_report(number: int) -> Report:
    return a_row(Report, edition=EDITION, agent=AGENT, assignment=f"Tern_{number}")


def test_costs_entered_by_hand_stand_beside_what_the_interface_said(warehouse: Warehouse) -> None:
    with_assignments(warehouse, 3)
    warehouse.write(
        Change(Job, [a_job(0, "done", cost_usd=2.5), a_job(1, "failed")]),
        Change(Report, [a_report(0), a_report(2)]),
    )
    assert record_cost(warehouse, EDITION, AGENT, [], usd=None, minutes=7, note="") == 2
    assert record_cost(warehouse, EDITION, AGENT, ["Tern_0"], usd=1, minutes=5, note="") == 1
    (row,) = warehouse.frame("SELECT * FROM report_costs").to_dicts()
    assert (row["asked_reports"], row["jobs"], row["usd"]) == (1, 2, 2.5)
    assert row["jobs_without_cost"] == 1
    assert (row["people_reports"], row["people_usd"], row["people_minutes"]) == (2, 1.0, 12.0)
    with pytest.raises(UnknownName, match="Tern_9"):
        record_cost(warehouse, EDITION, AGENT, ["Tern_9"], usd=1, minutes=None, note=None)
    with pytest.raises(UnknownName, match="no reports of 'nobody'"):
        record_cost(warehouse, EDITION, "nobody", [], usd=1, minutes=None, note=None)


def test_a_job_is_named_by_an_end_that_no_other_has(warehouse: Warehouse) -> None:
    warehouse.write(Change(Job, [a_job(12, "lost"), a_job(22, "lost")]))
    with pytest.raises(UnknownName, match="several"):
        ask_again(warehouse, ["2"])
    with pytest.raises(UnknownName, match="no job"):
        ask_again(warehouse, ["3"])
    (given_up,) = ask_again(warehouse, ["12"])
    assert (given_up.job, given_up.state) == ("evergreen-0012", "abandoned")


def test_an_edition_without_prompts_cannot_be_asked_about(tmp_path: Path) -> None:
    with open_warehouse(path_of(tmp_path)) as warehouse, pytest.raises(UnknownName, match="assign"):
        check_askable(warehouse, EDITION)


def test_an_estimate_counts_only_what_is_still_to_be_bought(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.jobs.estimate.load_ask_entry", lambda agent: ask_entry())
    with_assignments(warehouse, 5)
    warehouse.write(
        Change(Job, [a_job(0, "done"), a_job(1, "running"), a_job(2, "lost")]),
        Change(Report, [a_report(0)]),
    )
    (row,) = estimate_reports(warehouse, [EDITION], [AGENT]).to_dicts()
    assert (row["missing"], row["to_ask"], row["under_way"], row["for_a_person"]) == (4, 2, 1, 1)
    assert (row["usd"], row["usd_at_most"]) == (2 * PRICE.typical_usd, 2 * PRICE.most_usd)


def test_from_five_reports_on_their_mean_is_the_estimate(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.jobs.estimate.load_ask_entry", lambda agent: ask_entry())
    with_assignments(warehouse, 6)
    done = [a_job(n, "done", cost_usd=1.0 + n) for n in range(5)]
    warehouse.write(Change(Job, done), Change(Report, [a_report(n) for n in range(5)]))
    (row,) = estimate_reports(warehouse, [EDITION], [AGENT]).to_dicts()
    assert row["usd_each"] == 3.0
    assert [item.assignment for item in find_pending_reports(warehouse, EDITION, AGENT)] == [
        "Tern_5"
    ]


def test_all_that_a_report_consumed_is_kept_with_its_job() -> None:
    assert set(AgentUsage.model_fields) <= set(Job.model_fields)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (AgentUsage(input_tokens=1_000_000, output_tokens=100_000, searches=100), 2 + 1 + 1.4),
        (AgentUsage(input_tokens=10**6, cached_tokens=5 * 10**5, output_tokens=0, searches=0), 1.1),
        (AgentUsage(input_tokens=4, cache_write_tokens=4, output_tokens=0, searches=0), 1e-5),
        (
            AgentUsage(
                input_tokens=10**6, cached_tokens=10**5, cache_write_tokens=5 * 10**5,
                cache_write_hour_tokens=10**5, output_tokens=0, searches=0,
            ),
            0.4 * 2 + 0.1 * 0.2 + 0.4 * 2.5 + 0.1 * 4,
        ),
        (
            AgentUsage(
                input_tokens=10**6, cache_write_hour_tokens=10**6, output_tokens=0, searches=0
            ),
            4,
        ),
        (AgentUsage(input_tokens=0, output_tokens=0, reasoning_tokens=1_000_000, searches=0), 3),
        (AgentUsage(input_tokens=0, output_tokens=0, citation_tokens=1_000_000, searches=0), 5),
        (AgentUsage(input_tokens=10, output_tokens=None, searches=1), None),
        (AgentUsage(input_tokens=10, output_tokens=10, searches=None), None),
    ],
)  # fmt: skip
def test_a_price_is_the_sum_of_its_parts_or_unknown(usage: AgentUsage, usd: float | None) -> None:
    rates = TokenRates(input=2, cached_input=0.2, output=10, reasoning=3, citation=5)
    price = PRICE.model_copy(update={"tokens": rates, "usd_per_thousand_searches": 14})
    found, _ = compute_cost(
        JobAnswer(outcome="report", text="x", usage=usage), ask_entry(price=price)
    )
    assert found == (None if usd is None else pytest.approx(usd))

"""What a refresh would do, ask and spend is said beforehand; what nobody knows is said to be so."""

from datetime import timedelta
from typing import Any

import pytest

from tasks.planning.edition_options import RefreshOptions
from tasks.planning.judging import PlannedStep, sum_costs
from tasks.planning.month import Month, resolve_month
from tasks.planning.plan import find_refusals, plan_month
from tasks.warehouse.calls import Call
from tasks.warehouse.results import Verdict
from tasks.warehouse.rows import Citation, Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.tasks.asked_agents import EDITION, with_assignments
from tests.tasks.backed_up import contents
from tests.tasks.costs.test_runs import call
from tests.tasks.made_rows import a_row
from tests.tasks.planning.test_month import BEGUN, DECEMBER, SETTINGS, begun

PAID = "gemini_deep_research"
"""A report of it is entered at 3.5 USD, and at 10 at most."""
JUDGE = "gpt-5.5"


@pytest.fixture(autouse=True)
def operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGREEN_OPERATOR", "me@example.org")


def month(warehouse: Warehouse, **wished: Any) -> Month:
    asked = RefreshOptions.model_validate({"edition": EDITION, "agents": [PAID]} | wished)
    return resolve_month(warehouse, SETTINGS, asked, DECEMBER)


def plan(warehouse: Warehouse, **wished: Any) -> dict[str, PlannedStep]:
    """By step; of several the last."""
    return {row.step: row for row in plan_month(warehouse, month(warehouse, **wished))}


def frozen(warehouse: Warehouse, n: int = 4) -> None:
    with_assignments(warehouse, n)
    begun(warehouse, EDITION, n_members=9, frozen_at=BEGUN)


def reported(warehouse: Warehouse, *numbers: int, agent: str = PAID) -> None:
    rows = [
        a_row(
            Report, edition=EDITION, agent=agent, assignment=f"Tern_{n}", text="A tern is a bird."
        )
        for n in numbers
    ]
    warehouse.write(Change(Report, rows))


def test_of_an_edition_that_is_not_there_the_configuration_says_how_much(
    warehouse: Warehouse,
) -> None:
    found = plan(warehouse, agents=[PAID, "lexical_baseline"])
    assert "created 2026-10-01 to before 2026-12-01; freeze 30" in found["collect"].action
    assert (found["collect"].target, found["collect"].n) == ("the wiki", None)
    assert "30 prompts" in found["assign wiki_writing"].action
    asks = [r for r in plan_month(warehouse, month(warehouse, agents=[PAID, "lexical_baseline"]))
            if r.step == "ask"]  # fmt: skip
    assert [(r.target, r.n, r.usd, r.usd_at_most) for r in asks] == [
        (PAID, 30, 30 * 3.5, 300.0),
        ("lexical_baseline", 30, 0.0, 0.0),
    ]
    assert "there are none yet" in asks[1].note
    assert found["fetch"].n is None
    assert (found["evaluate"].usd, found["evaluate"].usd_at_most) == (0.0, 0.0)
    assert "write sites/" in found["publish"].action


def test_of_one_that_was_begun_its_own_size_is_told(warehouse: Warehouse) -> None:
    begun(warehouse, EDITION)
    assert "created 2026-08-12 to before 2026-11-20; freeze 7" in plan(warehouse)["collect"].action
    begun(warehouse, EDITION, n_members=900)
    assert "continue with 900 listed" in plan(warehouse)["collect"].action
    assert plan(warehouse)["ask"].n == 7


def test_of_a_frozen_one_only_what_is_missing(warehouse: Warehouse) -> None:
    frozen(warehouse)
    reported(warehouse, 0, 1, 2)
    found = plan(warehouse)
    assert "verify 4 articles" in found["collect"].action
    assert found["collect"].target == "nobody"
    assert found["assign wiki_writing"].action.startswith("make 0 prompts")
    assert (found["ask"].n, found["ask"].usd, found["ask"].usd_at_most) == (1, 3.5, 10.0)
    assert found["fetch"].n is None  # who knows what the fourth one will cite
    reported(warehouse, 3)
    cited = a_row(Citation, edition=EDITION, agent=PAID, assignment="Tern_0")
    warehouse.write(Change(Citation, [cited]))
    found = plan(warehouse)
    assert (found["ask"].n, found["ask"].usd) == (0, 0.0)
    assert found["fetch"].n == 1


def test_what_judging_reports_to_come_costs_is_unknown_until_enough_were_judged(
    warehouse: Warehouse,
) -> None:
    frozen(warehouse)
    found = plan(warehouse, judge=JUDGE)["evaluate"]
    assert (found.n, found.usd, found.usd_at_most) == (None, None, None)
    assert "4 future reports" in found.action

    def judged(n: int) -> None:
        key = {"edition": "other", "assignment": f"x{n}", "judge": JUDGE}
        warehouse.write(
            Change(Call, [call(n, BEGUN, judge=JUDGE, cost_usd=0.5)]),
            Change(Verdict, [a_row(Verdict, **key, cell_id=f"c{n}", call_id=f"c{n}")]),
        )

    for n in range(4):
        judged(n)
    assert plan(warehouse, judge=JUDGE)["evaluate"].usd is None
    judged(4)
    found = plan(warehouse, judge=JUDGE)["evaluate"]
    assert (found.usd, found.usd_at_most) == (2.0, None)
    assert "5 reports" in found.note


def test_an_extractor_that_is_a_model_is_counted(warehouse: Warehouse) -> None:
    frozen(warehouse)
    reported(warehouse, 0, 1, 2, 3)
    rows = [
        row for row in plan_month(warehouse, month(warehouse, extractor=JUDGE))
        if row.target == f"the judge {JUDGE}"
    ]  # fmt: skip
    assert ["statements of 8 texts" in row.action for row in rows] == [True]
    assert (rows[0].usd or 0) > 0


def test_questions_that_are_still_to_be_made_are_unknown(warehouse: Warehouse) -> None:
    asking = SETTINGS.model_copy(update={"protocols": ("claim_discovery",)})
    asked = RefreshOptions(edition=EDITION, agents=[PAID], judge=JUDGE)
    rows = plan_month(warehouse, resolve_month(warehouse, asking, asked, DECEMBER))
    [assign] = [row for row in rows if row.step == "assign claim_discovery"]
    assert (assign.n, assign.usd) == (None, None)
    [ask] = [row for row in rows if row.step == "ask"]
    assert ask.n == 0
    assert "each accepted question" in ask.note


def test_nothing_is_written_by_looking(warehouse: Warehouse) -> None:
    frozen(warehouse)
    reported(warehouse, 0)
    before = contents(warehouse.location)
    plan_month(warehouse, month(warehouse, judge=JUDGE))
    find_refusals(warehouse, month(warehouse, judge=JUDGE))
    assert contents(warehouse.location) == before


@pytest.mark.parametrize(
    ("wished", "said"),
    [
        ({"created_to": BEGUN, "created_from": DECEMBER}, "window is empty"),
        ({"created_to": DECEMBER + timedelta(days=4000)}, "not over yet"),
        ({"wiki_api": "wiki.example"}, "expected the address of a wiki"),
        ({"edition": "no/name"}, "cannot be an edition's name"),
        ({"judge": "nobody"}, "no judge 'nobody'"),
        ({"agents": ["openai_gpt_5_5"]}, "has no key"),
    ],
)
def test_why_it_would_not_begin_is_said(
    warehouse: Warehouse, wished: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    [why] = find_refusals(warehouse, month(warehouse, created_to=BEGUN, **wished)
                     if "created_to" not in wished else month(warehouse, **wished))  # fmt: skip
    assert said in why
    assert warehouse.rows(Collection, "true") == []


def test_an_imported_edition_cannot_be_refreshed(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    with_assignments(warehouse)
    [why] = find_refusals(warehouse, month(warehouse))
    assert "was imported, not collected" in why


def row(usd: float | None, most: float | None) -> PlannedStep:
    return PlannedStep(step="ask", action="x", target="y", n=1, usd=usd, usd_at_most=most)


@pytest.mark.parametrize(
    ("rows", "budget", "spent", "verdict"),
    [
        ([row(3, 9)], None, 0, "no cap is set"),
        ([row(3, 9)], 10, 1, "enough"),
        ([row(3, 9)], 10, 2, "enough for what is expected"),
        (
            [row(3, 9)],
            10,
            8,
            "not enough: what exceeds it is left out, and the month ends as Partial",
        ),
        ([row(3, 9), row(None, None)], 10, 1, "enough, as far as is known"),
        ([row(3, 9), row(4, None)], 10, 2, "enough for what is expected, as far as is known"),
    ],
)
def test_a_budget_is_held_against_what_is_known(
    rows: list[PlannedStep], budget: float | None, spent: float, verdict: str
) -> None:
    account = sum_costs(rows, budget, spent)
    assert account.verdict == verdict
    assert account.unknown == (("ask: x",) if any(r.usd_at_most is None for r in rows) else ())

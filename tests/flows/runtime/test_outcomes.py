"""How a run ended means the same to Prefect, a parent, a command, a program and a month."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import evergreen as library
import flows.run
from flows.runtime.outcomes import read_outcome, to_state
from flows.runtime.steps import RunSteps
from flows.runtime.warehouse import WarehouseFlow, warehouse_flow
from tasks.outcome import NAMES, Failure, Kind, Outcome, find_worst, join_outcomes
from tasks.planning.options import EvaluateOptions
from tasks.run import RunContext
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.flows.plain_prefect import plain_prefect
from tests.tasks.annotated import sample_warehouse
from tests.tasks.runs import run_of

BROKEN = ValueError("the wheel came off")
OUTCOMES = [
    *(Outcome(kind, "It ended.") for kind in ("done", "cached", "open", "partial")),
    Outcome("done", "It ended.", other_name="Declined"),
    Outcome("failed", "It ended.", error=BROKEN),
    Outcome("cancelled", "It ended.", error=BROKEN),
]  # fmt: skip
SHOWN = {
    "Completed": ("COMPLETED", 0), "Cached": ("COMPLETED", 0), "Open": ("COMPLETED", 1),
    "Partial": ("FAILED", 1), "Declined": ("COMPLETED", 1), "Failed": ("FAILED", 1),
    "Cancelled": ("CANCELLED", 1),
}  # fmt: skip
"""By name, the state's type and the exit code: red is what somebody must act on."""
every_outcome = pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.name)


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have `evaluate` end as it is told, without doing anything."""

    def end(outcome: Outcome) -> WarehouseFlow[EvaluateOptions]:
        @warehouse_flow("evaluate", EvaluateOptions, "evaluate / {edition}")
        async def evaluate(run: RunContext, options: EvaluateOptions) -> Outcome:
            return outcome

        monkeypatch.setattr(flows.run, "load_flow", lambda name: evaluate)
        return evaluate

    return end


@every_outcome
def test_a_state_has_the_type_that_its_outcome_deserves(outcome: Outcome) -> None:
    state = to_state(outcome)
    assert (state.type.value, state.name) == (SHOWN[outcome.name][0], outcome.name)
    read = asyncio.run(read_outcome(state))
    assert (read.kind, read.name, read.message) == (outcome.kind, outcome.name, outcome.message)
    assert outcome.error in (None, read.error)


@every_outcome
def test_a_parent_gets_the_outcome_of_its_part(
    outcome: Outcome, ending: Any, tmp_path: Path
) -> None:
    evaluate = ending(outcome)
    with plain_prefect(), open_warehouse(tmp_path / "w.duckdb") as store, run_of(store) as run:
        found = asyncio.run(evaluate.within(run, EvaluateOptions(edition="e")))
    assert (found.kind, found.name, found.message) == (
        outcome.kind, outcome.name, outcome.message
    )  # fmt: skip


@every_outcome
def test_the_exit_code_says_whether_all_was_done(
    outcome: Outcome, ending: Any, tmp_path: Path, evergreen: Evergreen
) -> None:
    path = sample_warehouse(tmp_path)
    ending(outcome)
    with plain_prefect():
        code, _, said = evergreen(
            "evaluate", "--edition", "sample", "--protocol", "reader", "--warehouse", path
        )
    assert code == SHOWN[outcome.name][1]
    assert ("It ended." in said) == (outcome.kind not in ("failed", "cancelled"))


@pytest.mark.parametrize("outcome", OUTCOMES[:5], ids=lambda outcome: outcome.name)
def test_a_program_is_told_whether_all_was_done(
    outcome: Outcome, ending: Any, tmp_path: Path
) -> None:
    path = sample_warehouse(tmp_path)
    ending(outcome)
    with plain_prefect():
        found = library.evaluate("sample", protocols=["reader"], warehouse=str(path))
    assert found.complete == (SHOWN[outcome.name][1] == 0)
    assert found.message == f"{outcome.name}: It ended."


@every_outcome
def test_only_a_step_that_failed_or_was_cancelled_stops_a_month(outcome: Outcome) -> None:
    steps, begun = RunSteps("2026-12", "evergreen refresh"), []

    async def end(name: str, outcome: Outcome) -> Outcome:
        begun.append(name)
        return outcome

    async def run_both() -> None:
        await steps.run("fetch", end("fetch", outcome))
        await steps.run("evaluate", end("evaluate", Outcome("done", "All is judged.")))

    asyncio.run(steps.run_all(run_both()))
    stops = outcome.kind in ("failed", "cancelled")
    assert begun == (["fetch"] if stops else ["fetch", "evaluate"])
    whole = steps.outcome()
    ended: list[Kind] = [outcome.kind] if stops else [outcome.kind, "done"]
    assert whole.kind == find_worst(ended)
    if outcome.kind in ("open", "partial"):
        assert "fetch: It ended." in whole.message


@pytest.mark.parametrize(("kinds", "worst"), [
    ([], "done"), (["cached"], "cached"), (["cached", "done"], "done"), (["done", "open"], "open"),
    (["open", "partial"], "partial"), (["partial", "failed"], "failed"),
    (["failed", "cancelled"], "cancelled"),
])  # fmt: skip
def test_a_whole_is_as_its_worst_part(kinds: list[Kind], worst: Kind) -> None:
    assert join_outcomes("", [Outcome(kind, "") for kind in kinds]).kind == worst
    assert set(NAMES) == {"done", "cached", "open", "partial", "failed", "cancelled"}


def test_whatever_failed_makes_the_whole_partial_and_is_named() -> None:
    failure = Failure("verdicts", "Ants", "No answer.")
    whole = join_outcomes("1 of 2 done.", [Outcome("done", "", (failure,))])
    assert (whole.kind, whole.failures) == ("partial", (failure,))
    assert whole.message == "1 of 2 done. Left:\n  Ants: No answer."

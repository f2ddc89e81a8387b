"""What Prefect shows of a stage: what was reused, failed, tried again, or waits for its turn."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from flows import stages
from flows.runtime.history import wait_until_stored
from flows.runtime.task_runs import TASK_RUNS
from flows.runtime.warehouse import warehouse_flow
from flows.stages import run_stage
from tasks.models.errors import BudgetExhausted, Misconfigured, ModelDrift, Unreachable
from tasks.outcome import Outcome, PartLeft, PartOpen, join_outcomes
from tasks.planning.options import ReadOptions
from tasks.processes.helper import HelperCrashed
from tasks.run import RunContext
from tasks.stage import Output, Stage, Worker
from tasks.warehouse.errors import NoRoom
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests import patient

Error = Callable[[], BaseException]


class Endpoint:
    """Does parts, each as its list of errors says; an empty list answers."""

    def __init__(self, **errors: Sequence[Error]) -> None:
        self.errors = {part: [*list_] for part, list_ in errors.items()}
        self.tried: Counter[str] = Counter()
        self.answers = 0

    async def do(self, part: str, on_progress: object) -> str:
        self.tried[part] += 1
        if self.errors[part]:
            raise self.errors[part].pop(0)()
        self.answers += 1
        return f"{part} came"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "PART_RETRY_SECONDS", 0)
    monkeypatch.setattr(stages, "STAGE_RETRY_SECONDS", 0)


Shown = dict[str, tuple[str, str, int, str]]
"""By task run: the state's type and name, how often it ran, and the state's message."""


@pytest.fixture
def show(api: str, tmp_path: Path) -> Callable[[Endpoint], tuple[Any, Shown]]:
    """Run a stage whose parts an endpoint does, in a flow; what Prefect has of both."""

    def run(endpoint: Endpoint) -> tuple[Any, Shown]:
        @asynccontextmanager
        async def open_stage(run: RunContext, todo: Sequence[str]) -> AsyncIterator[Worker[str]]:
            yield Worker(endpoint.do, concurrency=1, count_answers=lambda part: endpoint.answers)

        stage = Stage(
            name="verdicts", task="judge_cell", find_pending=lambda plan: [*endpoint.errors],
            open=open_stage, title=lambda part: part, key=lambda part: part, item="cell",
            outputs=(Output("edition", Edition),),
        )  # fmt: skip

        @warehouse_flow("shown", ReadOptions, "shown / {edition}")
        async def shown(run: RunContext, options: ReadOptions) -> Outcome:
            return join_outcomes("All was looked at.", [await run_stage(run, stage)])

        path = tmp_path / "warehouse.duckdb"
        with open_warehouse(path) as store:
            known = Edition(edition="e", source="here")
            store.write(Change(Edition, [known]))
        before = next(TASK_RUNS)
        state = asyncio.run(shown(edition="e", warehouse=str(path), return_state=True))
        run_id: Any = state.state_details.flow_run_id
        wait_until_stored(api, run_id, next(TASK_RUNS) - before - 1)
        asked = {"flow_runs": {"id": {"any_": [str(run_id)]}}}
        found = patient.post(f"{api}/task_runs/filter", json=asked).json()
        return state, {
            each["name"]: (
                each["state"]["type"], each["state"]["name"], each["run_count"],
                each["state"]["message"] or "",
            )
            for each in found
        }  # fmt: skip

    return run


def left(*, may_pass: bool = True) -> Error:
    return lambda: PartLeft("2 verdicts, 1 of them open: no answer", may_pass=may_pass)


def test_a_stage_without_anything_pending_says_what_the_warehouse_has(show: Any) -> None:
    state, shown = show(Endpoint())
    assert (state.type.value, state.name) == ("COMPLETED", "Cached")
    assert shown == {"verdicts / e": ("COMPLETED", "Cached", 1, "1 edition from the warehouse")}


def test_a_stage_says_what_was_done_and_what_was_there(show: Any) -> None:
    state, shown = show(Endpoint(a=[], b=[]))
    assert (state.type.value, state.name) == ("COMPLETED", "Completed")
    assert shown["verdicts / e"] == (
        "COMPLETED", "Completed", 1, "2 of 2 cells done; 1 edition from the warehouse."
    )  # fmt: skip
    assert shown["a"] == ("COMPLETED", "Completed", 1, "a came")


def test_a_failed_part_makes_its_stage_and_its_flow_partial_which_is_red(show: Any) -> None:
    state, shown = show(Endpoint(a=[lambda: ValueError("unreadable")], b=[]))
    assert (state.type.value, state.name) == ("FAILED", "Partial")
    assert shown["verdicts / e"][:3] == ("FAILED", "Partial", 1)
    assert "1 of 2 cells done" in shown["verdicts / e"][3]
    assert "a: ValueError: unreadable" in shown["verdicts / e"][3]
    assert shown["a"][:3] == ("FAILED", "Failed", 1)
    assert shown["b"][:3] == ("COMPLETED", "Completed", 1)


def test_what_may_pass_is_tried_again_and_then_is_green(show: Any) -> None:
    endpoint = Endpoint(a=[], b=[lambda: HelperCrashed("crashed"), lambda: HelperCrashed("again")])
    state, shown = show(endpoint)
    assert state.name == "Completed"
    assert shown["b"][:3] == ("COMPLETED", "Completed", 3)
    assert endpoint.tried == {"a": 1, "b": 3}


def test_a_part_is_tried_three_times_and_no_more(show: Any) -> None:
    endpoint = Endpoint(a=[lambda: HelperCrashed("crashed")] * 5)
    _, shown = show(endpoint)
    assert shown["a"][:3] == ("FAILED", "Failed", 3)
    assert endpoint.tried["a"] == 3


class Busy(Endpoint):
    """Answers some of what each part asks, as long as it is up."""

    async def do(self, part: str, on_progress: object) -> str:
        self.answers += 1
        return await super().do(part, on_progress)


def test_a_part_that_was_answered_in_part_is_tried_again_by_itself(show: Any) -> None:
    endpoint = Busy(a=[left()], b=[left(may_pass=False)])
    state, shown = show(endpoint)
    assert endpoint.tried == {"a": 2, "b": 1}
    assert shown["a"][:3] == ("COMPLETED", "Completed", 2)
    assert shown["b"][:3] == ("FAILED", "Partial", 1)
    assert (state.type.value, state.name) == ("FAILED", "Partial")


def test_an_endpoint_that_answers_nobody_is_tried_once_more_by_its_stage_not_by_each_part(
    show: Any,
) -> None:
    endpoint = Endpoint(a=[left()] * 9, b=[left()] * 9, c=[left()] * 9)
    _, shown = show(endpoint)
    assert endpoint.tried == {"a": 2, "b": 2, "c": 2}
    assert shown["verdicts / e"][:3] == ("FAILED", "Partial", 2)


def test_an_endpoint_that_is_up_again_is_asked_for_what_is_still_pending(show: Any) -> None:
    down = [lambda: Unreachable("gpt cannot be reached (refused).")]
    endpoint = Endpoint(a=down, b=[])
    state, shown = show(endpoint)
    assert state.name == "Completed"
    assert shown["verdicts / e"][:3] == ("COMPLETED", "Completed", 2)
    assert endpoint.tried == {"a": 2, "b": 1}


def test_a_stage_that_is_tried_again_begins_nothing_new(show: Any) -> None:
    """With `ask --first 1` another report is pending once the first has come."""
    endpoint = Endpoint(a=[lambda: Unreachable("The agent cannot be reached.")])
    do = endpoint.do

    async def do_and_find_more(part: str, on_progress: object) -> str:
        endpoint.errors["new"] = []
        return await do(part, on_progress)

    endpoint.do = do_and_find_more  # type: ignore[method-assign]
    show(endpoint)
    assert endpoint.tried == {"a": 2}


@pytest.mark.parametrize("error", [
    BudgetExhausted("The budget is used up."), Misconfigured("The key was refused."),
    ModelDrift("It answered as another one."),
])  # fmt: skip
def test_no_budget_no_key_and_another_model_are_not_tried_again(
    error: Exception, show: Any
) -> None:
    endpoint = Endpoint(a=[lambda: error] * 3, b=[])
    state, shown = show(endpoint)
    assert endpoint.tried == {"a": 1}
    assert shown["verdicts / e"][:3] == ("FAILED", "Partial", 1)
    assert str(error) in state.message


def test_no_room_ends_the_run_at_once(show: Any) -> None:
    endpoint = Endpoint(a=[], b=[lambda: NoRoom.met("the disk")] * 3)
    state, shown = show(endpoint)
    assert endpoint.tried == {"a": 1, "b": 1}
    assert (state.type.value, state.name) == ("FAILED", "Failed")
    assert shown["verdicts / e"][:3] == ("FAILED", "Failed", 1)
    assert shown["a"][:3] == ("COMPLETED", "Completed", 1)


def test_what_only_waits_for_its_second_look_is_open_which_is_green(show: Any) -> None:
    state, shown = show(Endpoint(a=[lambda: PartOpen("The host asks to wait.", left=1)], b=[]))
    assert (state.type.value, state.name) == ("COMPLETED", "Open")
    assert "1 of 2 cells done" in shown["verdicts / e"][3]
    assert shown["verdicts / e"][:3] == ("COMPLETED", "Open", 1)
    assert shown["a"][:2] == ("COMPLETED", "Open")


@pytest.mark.parametrize(("is_free", "usd"), [(True, 0.0), (False, 1.0)])
@pytest.mark.usefixtures("api")
def test_a_stage_that_buys_nothing_is_not_charged_for_the_one_beside_it(
    is_free: bool, usd: float, tmp_path: Path
) -> None:
    charged: list[float] = []

    @asynccontextmanager
    async def open_stage(run: RunContext, todo: Sequence[str]) -> AsyncIterator[Worker[str]]:
        async def do(part: str, on_progress: object) -> None:
            run.budget.spent += 1.0  # by the stage beside it

        yield Worker(do)

    stage = Stage(
        name="diagnostics", task="measure", find_pending=lambda plan: ["text"], open=open_stage,
        title=lambda part: part, is_free=is_free,
    )  # fmt: skip

    @warehouse_flow("shown", ReadOptions, "shown / {edition}")
    async def shown(run: RunContext, options: ReadOptions) -> Outcome:
        outcome = await run_stage(run, stage)
        charged.extend(record.usd for record in run.records)
        return outcome

    path = tmp_path / "warehouse.duckdb"
    with open_warehouse(path) as store:
        store.write(Change(Edition, [Edition(edition="e", source="here")]))
    asyncio.run(shown(edition="e", warehouse=str(path)))
    assert charged == [usd]

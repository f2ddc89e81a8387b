"""What all stages have in common: a stage knows what is pending of it, does one part of that, and
counts what is done. The flows run stages; commands, `status` and `doctor` ask them.

    plan = Plan(store, Selection(edition="2026-12", protocols=("wiki_fact",), judge="offline"))
    plan.find_pending(VERDICTS)
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, Literal, TypeVar

from tasks.base import Frozen, format_count
from tasks.judging.session import JudgeSession, judge_session
from tasks.outcome import Failure
from tasks.processes.helper import HelperCrashed
from tasks.run import Plan, RunContext
from tasks.warehouse.rows import Row
from tasks.warehouse.store import Warehouse

ItemT = TypeVar("ItemT")
PartT = TypeVar("PartT")
OnProgress = Callable[[int], None]
"""Called with how many more items are done."""
ARTICLES = "(articles)"
"""Stands for the agent where the texts are the articles."""


Ownership = Literal["ours", "taken", "done"]
"""Whose a part is while several processes work in a warehouse."""


@asynccontextmanager
async def hold_nothing(part: object, *, wait: bool) -> AsyncIterator[Ownership]:
    """Hold no lock: nobody else does this part."""
    yield "ours"


@dataclass
class Worker(Generic[PartT]):
    """Does the parts of a stage, with what the stage holds open for them."""

    do: Callable[[PartT, OnProgress], Awaitable[str | None]]
    """Returns a line for the run's log."""
    concurrency: int | Mapping[str, int] | None = None
    """How many parts at a time, all if None; a mapping says so by group."""
    group: Callable[[PartT], str] = lambda part: ""
    """A part's group: an error that stops one group does not stop the others."""
    wait_for_capacity: Callable[[], Awaitable[None]] | None = None
    """Called before each start."""
    hold: Callable[..., AbstractAsyncContextManager[Ownership]] = hold_nothing
    """Hold a part's lock: `hold(part, wait=…)`. A part that is `taken` is asked for once more, with
    `wait`, when the others are done."""
    record_failure: Callable[[PartT, BaseException], Awaitable[None]] | None = None
    """Called with each part that failed, unless the error stops the stage or left only items."""
    count_answers: Callable[[PartT], int] | None = None
    """How many answers a part's endpoint has given; None if it has none. A part that got nobody's
    answer is not tried again by itself: its endpoint is down."""


@dataclass(frozen=True)
class Output:
    """A table that a stage writes."""

    item: str
    """A row's noun."""
    row: type[Row]
    where: str = "TRUE"
    """SQL: which of the rows count as done."""
    many: str | None = None
    """The noun's plural, if not with an s."""

    def count(self, plan: Plan) -> int:
        """Count the rows that the warehouse has of what is selected."""
        of = plan.selection
        limits = {
            "judge": [of.judge], "protocol": [*of.protocols], "agent": [*of.agents],
            "assignment": [*of.assignments],
        }  # fmt: skip
        chosen = {k: v for k, v in limits.items() if v and k in self.row.model_fields}
        also = "".join(f" AND {k} IN (SELECT unnest(${n}))" for n, k in enumerate(chosen, start=2))
        return int(plan.store.value(self._sql + also, [of.edition, *chosen.values()]))

    def count_all(self, plan: Plan) -> int:
        """Count the rows that the warehouse has of the edition, whoever has judged or written."""
        return int(plan.store.value(self._sql, [plan.selection.edition]))

    @property
    def _sql(self) -> str:
        return f"SELECT count(*) FROM {self.row.table} WHERE edition = $1 AND {self.where}"


class StageCounts(Frozen):
    """Counts of one stage's items in one edition."""

    order: ClassVar[tuple[str, ...]] = ("done", "pending", "failed", "final")

    edition: str
    stage: str
    done: int = 0
    pending: int = 0
    failed: int = 0
    final: int = 0
    """Items that can never be done: empty reports, scans without text, unfetchable pages, cells
    that are not assessed."""


@dataclass(frozen=True, kw_only=True)
class Stage(Generic[ItemT, PartT]):
    """One stage of the pipeline."""

    name: str
    """As in progress bars and lists of failures."""
    find_pending: Callable[[Plan], Sequence[ItemT]]
    open: Callable[[RunContext, Sequence[ItemT]], AbstractAsyncContextManager[Worker[PartT]]]
    """Open what its parts share, e.g. a judge."""
    item: str = "item"
    """The noun of what is pending."""
    outputs: tuple[Output, ...] = ()
    """What it writes; what is there already is reused."""
    inputs: tuple[str, ...] = ()
    """The tables that it is made from."""
    split: Callable[[Sequence[Any]], Sequence[PartT]] = list
    """Split what is pending into the parts that are done and retried alone."""
    title: Callable[[PartT], str]
    key: Callable[[ItemT], object] | None = None
    """Tells whether two plans mean the same item, where a later one may have others: a stage that
    is tried again does only what it had begun with."""
    size: Callable[[PartT], int] = lambda part: 1
    """How many items a part has."""
    counts_itself: bool = False
    """Whether it calls `OnProgress` itself, not only at the end of each part."""
    task: str
    """The name of its parts' task in the Prefect UI."""
    is_free: bool = False
    """Whether it buys nothing: what is spent meanwhile is of a stage beside it."""
    fails_run: bool = False
    """Whether a part that fails ends the run: nothing could follow."""
    retry_on: tuple[type[BaseException], ...] = (HelperCrashed,)
    """Errors after which a part is tried again, beside a `PartLeft` that may pass. Clients have
    retried their own already."""
    list_open: Callable[[Plan], Iterable[Failure]] | None = None
    """Lists what parts have left, in place of their own messages."""
    count: Callable[[Plan], Iterable[StageCounts]] = lambda plan: ()


def describe_kept(stage: Stage[Any, Any], counts: Sequence[int]) -> str:
    """Say what the warehouse has of a stage: `1,022 cells, 38,800 verdicts from the warehouse`.

    counts: how many rows of each of its outputs.
    """
    rows = [
        format_count(n, output.item, output.many)
        for output, n in zip(stage.outputs, counts, strict=True)
    ]
    return f"{', '.join(rows) or 'all'} from the warehouse"


def open_alone(
    do: Callable[[RunContext, PartT, OnProgress], Awaitable[Any]],
) -> Callable[[RunContext, Sequence[Any]], AbstractAsyncContextManager[Worker[PartT]]]:
    """Return the `open` of a stage whose parts share nothing."""

    @asynccontextmanager
    async def open_stage(run: RunContext, todo: Sequence[Any]) -> AsyncIterator[Worker[PartT]]:
        yield Worker(partial(do, run))

    return open_stage


def open_with_judge(
    do: Callable[[Warehouse, JudgeSession, PartT], Awaitable[Any]], most: int
) -> Callable[[RunContext, Sequence[Any]], AbstractAsyncContextManager[Worker[PartT]]]:
    """Return the `open` of a stage whose parts ask the selected judge.

    most: how many parts at a time; the judge's limits set how many calls run at a time.
    """

    @asynccontextmanager
    async def open_stage(run: RunContext, todo: Sequence[Any]) -> AsyncIterator[Worker[PartT]]:
        async with judge_session(run, run.plan.selection.judge) as session:
            yield Worker(
                lambda part, on_progress: do(run.store, session, part),
                concurrency=session.limit_concurrency(most),
                wait_for_capacity=session.wait_for_capacity,
                count_answers=lambda part: session.count_answers(),
            )

    return open_stage


def split_by(key: Callable[[ItemT], object]) -> Callable[[Sequence[ItemT]], list[list[ItemT]]]:
    """Return a function that splits items into lists of the same key, in the order of the items."""

    def split(items: Sequence[ItemT]) -> list[list[ItemT]]:
        parts: dict[object, list[ItemT]] = {}
        for item in items:
            parts.setdefault(key(item), []).append(item)
        return [*parts.values()]

    return split

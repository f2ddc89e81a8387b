"""What a run is about, what it finds pending, and what it holds open."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tasks.base import Frozen
from tasks.files.room import DiskRoom
from tasks.judges.registry import OFFLINE, resolve_extractor
from tasks.models.prices import Budget
from tasks.outcome import Kind
from tasks.processes.pool import HelperProcesses
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.store import Readable, Warehouse

AnswerT = TypeVar("AnswerT")
ItemT_co = TypeVar("ItemT_co", covariant=True)
OnMessage = Callable[[str], None]
"""Called with a line for people."""


class Selection(Frozen):
    """What of an edition a run is about, and who decides about it."""

    edition: str
    protocols: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Only their reports; all if empty."""
    assignments: tuple[str, ...] = ()
    """Only these; all if empty. The scores and the leaderboard count the others as open."""
    judge: str = OFFLINE
    extractor: str | None = None
    """Who extracts facts and claims that nobody has extracted: a judge, or `offline`; None: the
    judge, if it calls a model."""
    extract_again: bool = False
    """Whether the extractor also replaces what others have extracted, except what is published."""
    fallbacks: tuple[FetchSource, ...] | None = None
    """Sources of pages that fail; None: those of `configs/web.yaml`."""
    again: bool = False
    """Whether pages that were fetched in vain are fetched again."""
    first: int | None = None
    """How many pending reports of each agent, or articles to make questions from; None: all."""
    folder: Path | None = None
    """Where drafts are written."""

    @property
    def extracting_judge(self) -> str | None:
        """The judge whose model extracts; None: the offline extractor does."""
        name = resolve_extractor(self.judge, self.extractor)
        return None if name == OFFLINE else name

    def includes(self, assignment: str) -> bool:
        """Whether an assignment is selected."""
        return not self.assignments or assignment in self.assignments


class HasPending(Protocol[ItemT_co]):
    """A stage, as far as a plan knows it."""

    @property
    def find_pending(self) -> "Callable[[Plan], Sequence[ItemT_co]]":
        """Finds what is pending of it."""


class Plan:
    """What a selection has pending, as the warehouse says. Each question is asked at most once and
    keeps its answer: make a new plan once rows have been written that change it."""

    def __init__(self, store: Readable, selection: Selection) -> None:
        self.store: Any = store  # a Warehouse, but where stages are only counted
        self.selection = selection
        self._answers: dict[object, Any] = {}

    def ask(self, question: "Callable[[Plan], AnswerT]") -> AnswerT:
        """Return a question's answer."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: AnswerT = self._answers[question]
        return answer

    def find_pending(self, stage: HasPending[ItemT_co]) -> Sequence[ItemT_co]:
        """Return what is pending of a stage."""
        return self.ask(stage.find_pending)

    def renew(self) -> "Plan":
        """Return a new plan of the same selection."""
        return Plan(self.store, self.selection)


@dataclass(frozen=True)
class StageRecord:
    """What a stage has done in a run."""

    stage: str
    kind: Kind
    new: Sequence[int] = ()
    """How many rows of each of its outputs there are more than before."""
    usd: float = 0.0


class RunContext:
    """What a run holds open: passed to whom needs it, never looked up.

    A plain class: Prefect walks through dataclasses and models that a task is given.
    """

    def __init__(
        self,
        plan: Plan,
        budget: Budget,
        helpers: HelperProcesses,
        *,
        batch: bool = False,
        on_message: OnMessage = lambda line: None,
        warn: OnMessage = lambda line: None,
        records: list[StageRecord] | None = None,
    ) -> None:
        self.plan = plan
        """What is pending, as far as it was asked; replaced once rows have changed it."""
        self.store: Warehouse = plan.store
        self.budget = budget
        self.helpers = helpers
        self.batch = batch
        """Whether to call models through their batch APIs."""
        self.on_message = on_message
        """Called with lines about the run's progress."""
        self.warn = warn
        """Called with lines that a person should not miss."""
        self.records: list[StageRecord] = [] if records is None else records
        """What stages have done, also in its parts."""

    def renew_if_shared(self) -> None:
        """Make a new plan where other processes may have changed what this one rests on: to be
        called once a lock is held."""
        if self.store.locks.shared:
            self.plan = self.plan.renew()

    def begin_part(self, selection: Selection, *, batch: bool = False) -> "RunContext":
        """Return the context of a part of this run that is about another selection.

        batch: whether the part calls models through their batch APIs, whatever the whole run does.
        """
        return RunContext(
            Plan(self.store, selection), self.budget, self.helpers, batch=batch,
            on_message=self.on_message, warn=self.warn, records=self.records,
        )  # fmt: skip


@contextmanager
def open_run(
    plan: Plan,
    budget_usd: float | None = None,
    *,
    batch: bool = False,
    on_message: OnMessage = lambda line: None,
    warn: OnMessage = lambda line: None,
) -> Iterator[RunContext]:
    """Open a run; its helper processes end with it.

    budget_usd: the most that it may spend; None: no cap.
    """
    helpers = HelperProcesses()
    budget = make_budget(plan.store, budget_usd)
    try:
        yield RunContext(plan, budget, helpers, batch=batch, on_message=on_message, warn=warn)
    finally:
        helpers.close()


def make_budget(warehouse: Warehouse, usd: float | None) -> Budget:
    """Make a budget that buys only what can be kept: beside the warehouse, and in Prefect's folder,
    without whose history no run goes on."""
    folders = [warehouse.location.root, os.environ.get("PREFECT_HOME") or warehouse.location.root]
    return Budget(usd, room=DiskRoom(map(Path, folders)), closed=warehouse.lost)

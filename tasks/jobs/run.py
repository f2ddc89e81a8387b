"""From a missing report to the report: every step committed before the next one begins.

Nothing is bought twice: the intention is in the warehouse before the request leaves, the job's
id before it is first looked at, the answer before it is read. Plain functions; the Prefect shell
is in `tasks/reports.py`.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from tasks.agents.agent import AgentClient, Answer, Gone, Question, Seen, UnreadableAnswer
from tasks.agents.kinds import read_answer
from tasks.configuration.agents import Ask
from tasks.jobs.messages import again_words, lost_words, overdue_words
from tasks.jobs.rows import asks_back, cost_of, facts_of, intention, question_of, report_rows
from tasks.models.budget import Budget, SetAside
from tasks.models.errors import Misconfigured, QuotaExhausted, Rejected, StopsTheStage, Transient
from tasks.pending.reports import Unreported
from tasks.warehouse.jobs import Job, JobState
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

IDEMPOTENT = frozenset({"command", "http"})
"""Kinds of which a second start with the same job is the same job: by their own contract."""
UNREACHED_TRIES = 3
"""Without a connection, until an agent that has never been reached is taken to be down."""
LOOKS_AT_OVERDUE = 3
"""Tries of the one look that a job gets in a run after its time."""
SHOWN = 2000


class NoReport(Exception):
    """This report has not come; its job's row says why, and what comes next."""


@dataclass
class Asker:
    """One agent as one run asks it."""

    agent: str
    kind: str
    ask: Ask
    client: AgentClient
    warehouse: Warehouse
    budget: Budget
    reply: str
    """What it is told if it answers with a question."""
    on_message: Callable[[str], None] = lambda text: None
    """Told of each try that surely started nothing."""
    reached: bool = False
    """Whether it has ever answered in this run."""
    under_way: set[asyncio.Task[Any]] = field(default_factory=set)
    """Requests that are being paid for: they are not given up when a run is interrupted."""

    async def report(self, item: Unreported) -> None:
        """Get one report, from wherever an earlier run left it.

        Raises:
            NoReport: it has not come; its row says why.
            StopsTheStage: no report of this agent can come now.
        """
        job = item.jobs[-1] if item.jobs else intention(item, self.kind)
        async with SetAside(self.budget) as money:
            job = await self._ended(item, job, list(item.jobs[:-1]), money)
            answer = await self._read(job, money)
            if job.turn == 1 and asks_back(item.kind, answer):
                first = await self._keep(job, **facts_of(answer, self.ask))
                second = intention(item, self.kind, self.reply)
                job = await self._ended(item, second, [first], money)
                answer = await self._read(job, money)
        await self._finish(item, job, answer)

    @asynccontextmanager
    async def closing(self) -> AsyncIterator["Asker"]:
        """While open it can be asked; at the end what is being paid for is waited for."""
        try:
            yield self
        finally:
            while self.under_way:
                await asyncio.gather(*self.under_way, return_exceptions=True)
            await self.client.close()

    @property
    def _repeatable(self) -> bool:
        """Whether asking again costs nothing where nobody knows what became of a request."""
        return self.ask.repeatable or self.kind in IDEMPOTENT

    async def _ended(self, item: Unreported, job: Job, earlier: list[Job], money: SetAside) -> Job:
        """The job once its answer is kept."""
        # Another kind's request is not this one: that it may be repeated says nothing of it.
        if job.state == "sending" and not (self._repeatable and job.kind == self.kind):
            await self._keep(job, state="lost", error="the run ended while the request was sent")
            raise NoReport(lost_words(job))
        if job.state in ("refused", "sending"):
            job = await self._started(item, job, earlier, money)
        if job.state in ("running", "overdue"):
            job = await self._waited(job, money)
        return job

    async def _started(
        self, item: Unreported, job: Job, earlier: list[Job], money: SetAside
    ) -> Job:
        """Send the request, once unless it surely started nothing."""
        question = question_of(item, job, earlier)
        for tries, wait in enumerate(self._waits(), start=1):
            await money.reserve(self.ask.price.most_usd if self.ask.price else 0.0)
            sending = asyncio.create_task(self._sent(job, question, earlier, money))
            self.under_way.add(sending)
            sending.add_done_callback(self.under_way.discard)
            # Whoever is cancelled leaves the request under way: it has been paid for.
            job, refused = await asyncio.shield(sending)
            if refused is None:
                return job
            if wait is None:
                raise NoReport(f"not asked, the next run does: {refused}") from None
            self._check_reached(refused, tries)
            again = max(wait, refused.hint_seconds or 0.0)
            self.on_message(f"{self.agent} · {item.title}: {refused}; again in {again:,.0f} s")
            await asyncio.sleep(again)
        raise AssertionError("the last wait is None")

    def _check_reached(self, error: Transient, tries: int) -> None:
        """Raise Misconfigured for an agent that could not be reached even once."""
        self.reached |= error.kind != "connection" or error.maybe_billed
        if not self.reached and tries >= UNREACHED_TRIES:
            raise Misconfigured(
                f"{self.agent} cannot be reached ({error}). Start it, or check its address; "
                f"`evergreen agents check {self.agent}` says more."
            )

    async def _sent(
        self, job: Job, question: Question, earlier: list[Job], money: SetAside
    ) -> tuple[Job, Transient | None]:
        """One request with its intention before and its outcome after it; with the refusal
        where it may be sent again.

        Raises:
            NoReport: it may not.
            StopsTheStage: nothing more can be asked.
        """
        job = job.model_copy(
            update={
                "state": "sending",
                "error": None,
                "created_at": utc_now(),
                "kind": self.kind,
                "model": getattr(self.ask, "model", None),
                "parameters": self.ask.model_dump_json(exclude={"limits", "price"}),
            }
        )
        done = [before.model_copy(update={"state": "done"}) for before in earlier]
        await self.warehouse.write_async(Change(Job, [*done, job]))
        try:
            seen = await self.client.start(question)
        except (Transient, Rejected, StopsTheStage) as error:
            return await self._not_sent(job, error, money)
        self.reached = True
        return await self._saw(job, seen), None

    async def _not_sent(
        self, job: Job, error: Transient | Rejected | StopsTheStage, money: SetAside
    ) -> tuple[Job, Transient]:
        billed = isinstance(error, Transient) and error.maybe_billed
        await money.settle(None, maybe_billed=billed)
        lost = billed and not self._repeatable
        state: JobState = "lost" if lost else "refused"
        job = await self._keep(job, state=state, error=str(error)[:SHOWN])
        if lost:
            raise NoReport(lost_words(job)) from None
        if isinstance(error, StopsTheStage):
            raise error
        if isinstance(error, Rejected):
            raise NoReport(f"refused, nothing was bought: {error}") from None
        if (error.hint_seconds or 0.0) > self.ask.limits.longest_hint_seconds:
            raise QuotaExhausted(
                f"{self.agent} asks to wait {error.hint_seconds:,.0f} seconds ({error}). What "
                "came is kept; run again later."
            )
        return job, error

    async def _waited(self, job: Job, money: SetAside) -> Job:
        """Look at a job until it has ended or its time is over."""
        if job.kind != self.kind:
            raise NoReport(
                f"it was asked as {job.kind}, but configs/agents.yaml says {self.kind} now: say "
                f"`kind: {job.kind}` again until it has come, or {again_words(job)}"
            )
        limits = self.ask.limits
        late = job.state == "overdue"
        deadline = job.created_at + timedelta(minutes=limits.deadline_minutes)
        wait = limits.first_poll_seconds if money.is_held else 0.0
        for look in count(1):
            await asyncio.sleep(wait)
            job, failed = await self._looked(job, money)
            if job.state == "answered":
                return job
            if late and (failed is None or look >= LOOKS_AT_OVERDUE):
                break
            if not late and utc_now() > deadline:
                await money.settle(None)
                job = await self._keep(job, state="overdue")
                break
            longer = max(1.5 * wait, limits.first_poll_seconds)
            hint = failed.hint_seconds if failed else None
            wait = max(hint or 0.0, min(limits.longest_poll_seconds, longer))
        raise NoReport(overdue_words(job))

    async def _looked(self, job: Job, money: SetAside) -> tuple[Job, Transient | None]:
        """One look, kept; with what failed where nothing was seen."""
        polls = job.polls + 1
        try:
            seen = await self.client.look(job.remote_id or "")
        except Gone as gone:
            await money.settle(None)
            error = f"the provider knows no such job any more: {gone}"
            await self._keep(job, state="failed", finished_at=utc_now(), error=error, polls=polls)
            raise NoReport(f"{error}; {again_words(job)}") from None
        except Transient as failed:
            return await self._keep(job, polls=polls, error=str(failed)[:SHOWN]), failed
        self.reached = True
        return await self._saw(job, seen, polls=polls), None

    async def _saw(self, job: Job, seen: Seen, **more: Any) -> Job:
        """Keep what was seen of a job."""
        ended = {"answer": seen.raw or "", "finished_at": utc_now()} if seen.ended else {}
        state = "answered" if seen.ended else "overdue" if job.state == "overdue" else "running"
        remote_id = seen.remote_id or job.remote_id
        return await self._keep(job, state=state, remote_id=remote_id, remote_word=seen.word,
                                polled_at=utc_now(), error=None, **ended, **more)  # fmt: skip

    async def _read(self, job: Job, money: SetAside) -> Answer:
        """The answer in the form that all have; one that tells of a failure is kept as such."""
        try:
            answer = read_answer(job.kind, job.answer or "")
        except UnreadableAnswer as error:
            await money.settle(None)
            await self._keep(job, error=f"the answer cannot be read: {error}"[:SHOWN])
            raise NoReport(
                f"its answer is kept (table jobs) but cannot be read: {error}; {again_words(job)}"
            ) from None
        await money.settle(cost_of(answer, self.ask)[0])
        if answer.outcome == "failed" or not answer.text.strip():
            error_text = answer.error or "it ended without a text"
            await self._keep(job, state="failed", error=error_text[:SHOWN],
                             **facts_of(answer, self.ask))  # fmt: skip
            raise NoReport(f"{error_text}; {again_words(job)}")
        return answer

    async def _finish(self, item: Unreported, job: Job, answer: Answer) -> None:
        """The report and all that is known of how it came, in one transaction."""
        done = job.model_copy(update={"state": "done", "error": None, **facts_of(answer, self.ask)})
        await self.warehouse.write_async(
            Change(Job, [done]), *report_rows(item, done, answer, self.ask.citations)
        )

    async def _keep(self, job: Job, **changes: Any) -> Job:
        changed = job.model_copy(update=changes)
        await self.warehouse.write_async(Change(Job, [changed]))
        return changed

    def _waits(self) -> Iterator[float | None]:
        """Seconds after each try that surely started nothing; None after the last."""
        wait = self.ask.limits.first_wait_seconds
        for _ in range(self.ask.limits.start_tries - 1):
            yield wait * random.uniform(0.8, 1.2)
            wait *= 2
        yield None

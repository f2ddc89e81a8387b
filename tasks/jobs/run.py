"""Run jobs: get a missing report step by step, committing each step before the next.

Nothing is bought twice: the job is committed before its request is sent, the provider's id before
the first poll, the answer before it is parsed. The Prefect task is in `tasks/reports.py`.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any, NoReturn

from tasks.agents.agent import (
    AgentClient,
    Gone,
    JobAnswer,
    JobRequest,
    JobStatus,
    UnreadableJobAnswer,
)
from tasks.agents.kind import Ask
from tasks.agents.registry import describe_doubtful_end, find_kind, read_answer
from tasks.base import format_count
from tasks.jobs.pending import PendingReport
from tasks.jobs.rows import (
    build_answer_fields,
    build_empty_report_changes,
    build_report_changes,
    build_request,
    compute_cost,
    describe_leak,
    describe_lost,
    describe_overdue,
    describe_unreadable,
    is_clarification,
    make_job,
    render_text,
    suggest_ask_again,
)
from tasks.jobs.searches import grant_access
from tasks.models.errors import (
    QuotaExhausted,
    RequestRejected,
    StopStage,
    TransientError,
    Unreachable,
)
from tasks.models.prices import BudgetReservation
from tasks.outcome import PartLeft
from tasks.run import RunContext
from tasks.scoring.agent_models import describe_change
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.jobs import GONE_AFTER, Job, JobState
from tasks.warehouse.rows import utc_now
from tasks.warehouse.writer import Change

UNREACHED_TRIES = 3
"""Tries without a connection after which an agent that never answered counts as down."""
UNREADABLE_ANSWERS = 3
"""Answers in a row that cannot be read, after which a request that can be repeated is not."""
OVERDUE_POLLS = 3
"""Tries to poll an overdue job, which each run does once."""
ERROR_CHARS = 2000


class NoReport(PartLeft):
    """The report did not come; its job's row says why and what is next."""


@dataclass
class JobRunner:
    """Runs the jobs of one agent."""

    run: RunContext
    """Warned after each try that certainly started no job, and of what is odd about a report."""
    agent: str
    ask: Ask
    client: AgentClient
    reply: str
    """The reply if it answers with a question."""
    guard: KeyGuard = field(default_factory=KeyGuard)
    """Finds our keys in what comes back."""
    only_looks: bool = False
    """Whether it starts nothing and looks at each job without waiting for its end."""
    answers: int = 0
    """How often the agent has answered in this run."""
    models: list[str] = field(default_factory=list)
    """The model of each report of the edition, as far as it is known."""
    in_flight: set[asyncio.Task[Any]] = field(default_factory=set)
    """Requests that are being paid for: an interrupted run still waits for them."""

    async def get_report(self, item: PendingReport) -> str:
        """Get one report, continuing where an earlier run stopped; return a line about its job.

        Raises:
            NoReport: it did not come; its row says why.
            StopStage: this agent can deliver no reports now.
        """
        job = item.jobs[-1] if item.jobs else make_job(item, self.ask.kind)
        async with BudgetReservation(self.run.budget) as money:
            job = await self._get_answered(item, job, list(item.jobs[:-1]), money)
            answer = await self._read_answer(job, money)
            if job.turn == 1 and is_clarification(item.kind, answer):
                first = await self._update(job, **build_answer_fields(answer, self.ask))
                second = make_job(item, self.ask.kind, self.reply)
                job = await self._get_answered(item, second, [first], money)
                answer = await self._read_answer(job, money)
        return await self._finish(item, job, answer)

    @asynccontextmanager
    async def closing(self) -> AsyncIterator["JobRunner"]:
        """Wait at the end for requests that are being paid for, then close the client."""
        try:
            yield self
        finally:
            while self.in_flight:
                await asyncio.gather(*self.in_flight, return_exceptions=True)
            await self.client.close()

    @property
    def _repeatable(self) -> bool:
        """Whether a request whose outcome is unknown can be sent again at no cost."""
        return self.ask.repeatable or find_kind(self.ask.kind).starts_once

    async def _get_answered(
        self, item: PendingReport, job: Job, earlier: list[Job], money: BudgetReservation
    ) -> Job:
        """Run a job until its answer is stored; return it."""
        # A request of another kind cannot be repeated by this one.
        if job.state == "sending" and not (self._repeatable and job.kind == self.ask.kind):
            await self._update(job, state="lost", error="the run ended while the request was sent")
            raise NoReport(describe_lost(job))
        if job.state in ("refused", "sending"):
            job = await self._start(item, job, earlier, money)
        if job.may_appear:
            job = job.model_copy(update={"state": "running", "finished_at": None})
        if job.state in ("running", "overdue"):
            job = await self._wait_for_end(job, money)
        return job

    async def _start(
        self, item: PendingReport, job: Job, earlier: list[Job], money: BudgetReservation
    ) -> Job:
        """Send the request; send it again only if it certainly started no job."""
        if self.only_looks:
            raise NoReport("nothing is bought in this run")
        question = grant_access(
            self.run.store.location, self.agent, self.ask, build_request(item, job, earlier)
        )
        limits, tries, unreadable = self.ask.limits, 0, 0
        while True:
            tries += 1
            await money.reserve(self.ask.price.most_usd if self.ask.price else 0.0)
            sending = asyncio.create_task(self._send(job, question, earlier, money))
            self.in_flight.add(sending)
            sending.add_done_callback(self.in_flight.discard)
            # A cancelled run leaves the request in flight: it has been paid for.
            job, refused = await asyncio.shield(sending)
            if refused is None:
                return job
            unreadable = unreadable + 1 if refused.kind == "garbled" else 0
            if unreadable == UNREADABLE_ANSWERS and refused.maybe_billed:
                job = await self._update(job, state="lost")
                raise NoReport(describe_unreadable(job)) from None
            if tries == limits.start_tries:
                how = "sent, without an answer" if refused.maybe_billed else "not sent"
                raise NoReport(
                    f"{how}; the next run sends it again: {refused}",
                    may_pass=not refused.maybe_billed,
                ) from None
            self._check_reached(refused, tries)
            wait = limits.first_wait_seconds * 2 ** (tries - 1) * random.uniform(0.8, 1.2)
            again = max(wait, refused.hint_seconds or 0.0)
            self.run.warn(f"{self.agent} · {item.title}: {refused}; again in {again:,.0f} s")
            await asyncio.sleep(again)

    def _check_reached(self, error: TransientError, tries: int) -> None:
        """Raise Unreachable if the agent has never been reached."""
        self.answers += error.kind != "connection" or error.maybe_billed
        if not self.answers and tries >= UNREACHED_TRIES:
            raise Unreachable(
                f"{self.agent} cannot be reached ({error}). Start it, or check its address; "
                f"`evergreen agents check {self.agent}` says more."
            )

    async def _send(
        self, job: Job, question: JobRequest, earlier: list[Job], money: BudgetReservation
    ) -> tuple[Job, TransientError | None]:
        """Send one request, storing the job before and the outcome after it; return the error too
        if it may be sent again.

        Raises:
            NoReport: it may not be sent again.
            StopStage: the agent can take no more requests.
        """
        job = job.model_copy(
            update={
                "state": "sending",
                "error": None,
                "created_at": utc_now(),
                "kind": self.ask.kind,
                "model": getattr(self.ask, "model", None),
                "parameters": self.ask.model_dump_json(exclude={"limits", "price"}),
            }
        )
        done = [before.model_copy(update={"state": "done"}) for before in earlier]
        await self.run.store.write_async(Change(Job, [*done, job]))
        try:
            status = await self.client.start(question)
        except (TransientError, RequestRejected, StopStage) as error:
            return await self._handle_send_error(job, error, money)
        self.answers += 1
        return await self._record_status(job, status), None

    async def _handle_send_error(
        self,
        job: Job,
        error: TransientError | RequestRejected | StopStage,
        money: BudgetReservation,
    ) -> tuple[Job, TransientError]:
        billed = isinstance(error, TransientError) and error.maybe_billed
        await money.settle(None, maybe_billed=billed)
        lost = billed and not self._repeatable
        state: JobState = "lost" if lost else "refused"
        job = await self._update(job, state=state, error=str(error)[:ERROR_CHARS])
        if lost:
            raise NoReport(describe_lost(job)) from None
        if isinstance(error, StopStage):
            raise error
        if isinstance(error, RequestRejected):
            raise NoReport(f"refused, nothing was bought: {error}") from None
        if (error.hint_seconds or 0.0) > self.ask.limits.longest_hint_seconds:
            raise QuotaExhausted(
                f"{self.agent} asks to wait {error.hint_seconds:,.0f} seconds ({error}). What "
                "came is kept; run again later."
            )
        return job, error

    async def _wait_for_end(self, job: Job, money: BudgetReservation) -> Job:
        """Poll a job until it ends or its deadline passes."""
        if job.kind != self.ask.kind:
            raise NoReport(
                f"it was sent as {job.kind}, but configs/agents.yaml says {self.ask.kind} now: set "
                f"`kind: {job.kind}` until it has come, or {suggest_ask_again(job)}"
            )
        limits = self.ask.limits
        late = job.state == "overdue" or self.only_looks
        deadline = job.created_at + timedelta(minutes=limits.deadline_minutes)
        wait = limits.first_poll_seconds if money.is_held else 0.0
        for look in count(1):
            await asyncio.sleep(wait)
            job, failed = await self._poll(job, money)
            if job.state == "answered":
                return job
            if late and (failed is None or look >= OVERDUE_POLLS):
                break
            if not late and utc_now() > deadline:
                await money.settle(None)
                job = await self._update(job, state="overdue")
                break
            longer = max(1.5 * wait, limits.first_poll_seconds)
            hint = failed.hint_seconds if failed else None
            wait = max(hint or 0.0, min(limits.longest_poll_seconds, longer))
        raise NoReport(describe_overdue(job) if job.state == "overdue" else "it is under way")

    async def _poll(self, job: Job, money: BudgetReservation) -> tuple[Job, TransientError | None]:
        """Poll once and store the result; return the error too if polling failed."""
        polls = job.polls + 1
        try:
            status = await self.client.poll(job.remote_id or "")
        except Gone as gone:
            patience = min(GONE_AFTER, timedelta(minutes=self.ask.limits.deadline_minutes))
            if utc_now() <= job.created_at + patience:
                failed = TransientError(f"not there yet: {gone}", "server")
                return await self._update(job, polls=polls, error=str(failed)), failed
            await money.settle(None)
            error = f"the provider no longer knows this job: {gone}"
            job = await self._update(
                job, state="failed", finished_at=utc_now(), error=error, polls=polls
            )
            raise NoReport(f"{error}; {suggest_ask_again(job)}") from None
        except TransientError as failed:
            return await self._update(job, polls=polls, error=str(failed)[:ERROR_CHARS]), failed
        self.answers += 1
        return await self._record_status(job, status, polls=polls), None

    async def _record_status(self, job: Job, status: JobStatus, **more: Any) -> Job:
        """Store a job's status.

        Raises:
            NoReport: its answer holds a key of ours.
        """
        answer, leaked = self.guard.hide_own(status.raw or "")
        ended = {"answer": answer, "finished_at": utc_now()} if status.ended else {}
        if status.ended and leaked:
            error = describe_leak(leaked)
            await self._update(
                job, state="failed", error=error, remote_id=status.remote_id or job.remote_id,
                remote_word=status.remote_state, polled_at=utc_now(), **ended, **more,
            )  # fmt: skip
            raise NoReport(f"{error}; {suggest_ask_again(job)}")
        state = "answered" if status.ended else "overdue" if job.state == "overdue" else "running"
        remote_id = status.remote_id or job.remote_id
        return await self._update(
            job, state=state, remote_id=remote_id, remote_word=status.remote_state,
            polled_at=utc_now(), error=None, **ended, **more,
        )  # fmt: skip

    async def _read_answer(self, job: Job, money: BudgetReservation) -> JobAnswer:
        """Parse the answer; store a failure or an unreadable answer as such."""
        try:
            answer = read_answer(job.kind, job.answer or "")
        except UnreadableJobAnswer as error:
            await money.settle(None)
            raise await self._keep_unread(job, error) from None
        await money.settle(compute_cost(answer, self.ask)[0])
        if answer.outcome == "failed" or not answer.text.strip():
            await self._fail(job, answer)
        return answer

    async def _keep_unread(self, job: Job, error: UnreadableJobAnswer) -> NoReport:
        """Store why an answer cannot be read, and return what to raise."""
        await self._update(job, error=f"the answer cannot be read: {error}"[:ERROR_CHARS])
        return NoReport(
            f"its answer is kept (table jobs) but cannot be read: {error}; {suggest_ask_again(job)}"
        )

    async def _fail(self, job: Job, answer: JobAnswer) -> NoReturn:
        """Store a job that ended without a report. If the agent itself ended it so, the report is
        missing; otherwise it stays open."""
        error_text = answer.error or "it ended without a text"
        is_missing = answer.silent or answer.outcome != "failed"
        fields = build_answer_fields(answer, self.ask)
        error_text = self.guard.hide_own(error_text)[0]
        failed = job.model_copy(
            update={"state": "failed", "error": error_text[:ERROR_CHARS], **fields}
        )
        empty = build_empty_report_changes(failed) if is_missing else []
        await self.run.store.write_async(Change(Job, [failed]), *empty)
        counts = "; it counts as a missing report" if is_missing else ""
        raise NoReport(f"{error_text}{counts}; {suggest_ask_again(job)}")

    async def _finish(self, item: PendingReport, job: Job, answer: JobAnswer) -> str:
        """Write the report and its job's final row in one transaction; return a line about it."""
        try:
            text = await render_text(self.run.helpers, answer, item.kind, self.ask.citations)
        except UnreadableJobAnswer as error:
            raise await self._keep_unread(job, error) from None
        done = job.model_copy(
            update={"state": "done", "error": None, **build_answer_fields(answer, self.ask)}
        )
        changes = build_report_changes(item, done, answer, text)
        await self.run.store.write_async(Change(Job, [done]), *changes)
        if doubt := describe_doubtful_end(done.kind, done.remote_word):
            self.run.warn(f"{self.agent} · {item.title}: {doubt}")
        if model := done.model_version:
            if change := describe_change(self.models, model):
                self.run.warn(f"{self.agent} {change}")
            self.models.append(model)
        usd = "price unknown" if done.cost_usd is None else f"${done.cost_usd:,.4f}"
        return f"{len(text):,} characters, {usd}, {format_count(done.polls, 'poll')}"

    async def _update(self, job: Job, **changes: Any) -> Job:
        """Store changes, without our keys: an agent may hand back what it was given."""
        kept = {
            name: self.guard.hide_own(value)[0] if isinstance(value, str) else value
            for name, value in changes.items()
        }
        changed = job.model_copy(update=kept)
        await self.run.store.write_async(Change(Job, [changed]))
        return changed

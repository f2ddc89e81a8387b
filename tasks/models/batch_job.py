"""One batch job, from its row in the warehouse to its results."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import uuid4

from tasks.models.batch_client import GONE, BatchClient, BatchItem, BatchStore, EndedBatch
from tasks.models.errors import RequestRejected, StopStage, TransientError
from tasks.models.exchange import ModelRequest
from tasks.warehouse.calls import BatchJob
from tasks.warehouse.rows import utc_now

ResultT = TypeVar("ResultT")
ItemResult = BatchItem | Exception | None
"""The result of a request; None: nothing usable, send it again."""
ItemFuture = asyncio.Future[ItemResult]
FIND_TRIES = 6
"""Lookups of a job whose creation got no answer: the provider's list may lag behind."""


@dataclass(frozen=True)
class BatchTiming:
    """Waiting times in seconds."""

    idle_seconds: float = 2.0
    """Idle time after which the queued requests become a job."""
    poll_seconds: float = 5.0
    """Before the first poll of a job; grows by half each time."""
    longest_poll_seconds: float = 60.0
    creation_waits: tuple[float, ...] = (30.0, 60.0, 120.0)
    """Before each retry of a creation that was clearly refused for now (too many jobs)."""
    failures: int = 30
    """Failed polls in a row until this run gives up on a job, which stays open; polls that do not
    find a job until it is gone (with these times after 25 minutes)."""


@dataclass
class TrackedJob:
    """A job that this process follows."""

    row: BatchJob
    answers: dict[str, ItemFuture]
    """Futures of the results, by key."""
    resumed: bool = False
    ended: EndedBatch | None = None
    ids: frozenset[str] = field(default_factory=frozenset)
    """The provider's ids of its answers."""

    @classmethod
    def new(cls, answers: dict[str, ItemFuture], **owner: str) -> "TrackedJob":
        """Create a job. owner: provider, model and judge."""
        keys = json.dumps(list(answers))
        row = BatchJob.model_validate(
            {"job": f"evergreen-{uuid4().hex[:16]}", "state": "creating", "requests": keys,
             "n_requests": len(answers), **owner}
        )  # fmt: skip
        return cls(row, answers)

    @classmethod
    def resume(cls, row: BatchJob) -> "TrackedJob":
        """Take up a job that an earlier run left open."""
        return cls(row, {key: asyncio.Future() for key in json.loads(row.requests)}, resumed=True)

    def resolve(self, key: str, found: ItemResult) -> None:
        """Set the result of a request."""
        if not self.answers[key].done():  # else: its caller was cancelled
            self.answers[key].set_result(found)

    def fail(self, error: Exception) -> None:
        """Resolve all requests with an error: no result will come in this run."""
        for key in self.answers:
            self.resolve(key, error)


class JobTracker:
    """Takes jobs from state to state; each state is committed before the next step."""

    def __init__(
        self,
        client: BatchClient,
        store: BatchStore,
        timing: BatchTiming,
        on_message: Callable[[str], None],
    ) -> None:
        self._client = client
        self._store = store
        self._timing = timing
        self._on_message = on_message

    async def track(self, job: TrackedJob, requests: Mapping[str, ModelRequest]) -> None:
        """Create or take up the job, wait for its end, and distribute the results.

        Raises:
            ModelError: creating or polling it failed; its row holds what is known.
        """
        if not job.resumed:
            await self._store.save(job.row)
            await self._create(job, requests)
            self._report(job, "submitted")
        else:
            if job.row.remote_id is None and not await self._adopt(job):
                await self._save(job, state="failed", error="never arrived")
                for key in job.answers:
                    job.resolve(key, None)
                return
            self._report(job, "of an earlier run is resumed")
        job.ended = await self._wait_for_end(job)
        await self._distribute(job, job.ended)

    async def find_unsaved(self, job: TrackedJob) -> frozenset[str]:
        """Return the answers of an ended job that are not in the ledger yet."""
        return job.ids - await self._store.find_saved(job.ids) if job.ids else frozenset()

    async def finish(self, job: TrackedJob) -> None:
        """Close an ended job of which nothing more is needed."""
        assert job.ended
        answered = f"{len(job.ids)} of {job.row.n_requests} answered"
        error = None if job.ended.succeeded else f"{job.ended.state}: {answered}"
        await self._save(job, state="failed" if error else "done", error=error)

    async def _create(self, job: TrackedJob, requests: Mapping[str, ModelRequest]) -> None:
        """Create the job; if it is unknown whether that worked, look for it instead of retrying."""
        waits = iter(self._timing.creation_waits)
        while True:
            try:
                remote_id = await self._client.create(job.row.job, requests)
                break
            except TransientError as error:
                if error.maybe_billed:
                    if await self._adopt(job):
                        return
                    raise  # its row stays: the next run looks for it again
                wait = next(waits, None)
                if wait is None:
                    await self._save(job, state="failed", error=str(error)[:2000])
                    raise
            except (RequestRejected, StopStage) as error:
                await self._save(job, state="failed", error=str(error)[:2000])
                raise
            await asyncio.sleep(wait)
        await self._save(job, state="running", remote_id=remote_id)

    async def _adopt(self, job: TrackedJob) -> bool:
        """Look for a job by its name and take it over; return whether it exists."""
        wait = self._timing.poll_seconds
        for _ in range(FIND_TRIES):
            remote_id = await self._retry_lookup(lambda: self._client.find(job.row.job))
            if remote_id:
                await self._save(job, state="running", remote_id=remote_id)
                return True
            await asyncio.sleep(wait)
            wait = self._next_wait(wait)
        return False

    async def _wait_for_end(self, job: TrackedJob) -> EndedBatch:
        remote_id = job.row.remote_id or ""
        wait = 0.0 if job.resumed else self._timing.poll_seconds
        missed = 0
        while True:
            await asyncio.sleep(wait)
            ended = await self._retry_lookup(lambda: self._client.poll(remote_id))
            missed = missed + 1 if ended and ended.state == GONE else 0
            if ended and missed in (0, self._timing.failures):
                return ended
            wait = self._next_wait(wait)

    async def _retry_lookup(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Retry a free call while it fails."""
        wait = self._timing.poll_seconds
        for _ in range(self._timing.failures - 1):
            try:
                return await call()
            except TransientError as error:
                await asyncio.sleep(max(wait, error.hint_seconds or 0.0))
                wait = self._next_wait(wait)
        return await call()

    def _next_wait(self, wait: float) -> float:
        longer = max(1.5 * wait, self._timing.poll_seconds)
        return min(longer, self._timing.longest_poll_seconds)

    async def _distribute(self, job: TrackedJob, ended: EndedBatch) -> None:
        """Distribute the results; requests that failed in a resumed job are to be sent again."""
        job.ids = frozenset(i.response_id for i in ended.items.values() if i.response_id)
        wanted = await self.find_unsaved(job) if job.resumed else job.ids
        n_answered = sum(item.error is None for item in ended.items.values())
        if not n_answered or (job.resumed and not wanted):
            await self.finish(job)
        for key in job.answers:
            job.resolve(key, _item_result(job, ended, ended.items.get(key), wanted))
        self._report(job, f"ended ({ended.state}): {n_answered:,} answered")

    async def _save(self, job: TrackedJob, **changes: str | None) -> None:
        done = {"finished_at": utc_now()} if changes["state"] in ("done", "failed") else {}
        job.row = job.row.model_copy(update=changes | done)
        await self._store.save(job.row)

    def _report(self, job: TrackedJob, what: str) -> None:
        row = job.row
        self._on_message(f"batch job {row.remote_id} ({row.n_requests:,} requests) {what}")


def _item_result(
    job: TrackedJob, ended: EndedBatch, item: BatchItem | None, wanted: frozenset[str]
) -> ItemResult:
    """Return the result for the caller of a request."""
    if item is None or isinstance(item.error, TransientError):
        if job.resumed:
            return None
        nothing = f"the batch job {job.row.remote_id} brought no result ({ended.state})"
        return item or TransientError(nothing, "server")
    if item.response_id and item.response_id not in wanted:
        return None  # it is in the ledger already, so another answer is wanted
    return item

"""Sending requests in batches: at half the price, within a day instead of seconds.

Nothing is bought twice, even if the process is killed at any point:

- A job's row, with the keys of its requests, is committed before the job is created, and the
  provider's id before the first poll. If the process dies in between, the next run looks for the
  job by its name. Creation is repeated only after a clear refusal.
- A request whose key is in an open job of an earlier run waits for that job's result. A
  repeated evaluation sends the same requests, so each result finds its caller; requests may come
  in any order and at any time, results are held for them.
- A job stays open until the ledger holds all its answers (by the provider's response ids), because
  the process may die between delivery and commit. Polling an ended job costs nothing. An answer
  in the ledger is not delivered again: a repeated request wants another answer (the first was
  empty, or blocked).

The price: answers that are no longer wanted (a prompt was changed meanwhile) keep their job open,
and polled once by each run, for `KEEP_OPEN_DAYS`.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from tasks.models.batch_client import (
    BatchClient,
    BatchItem,
    BatchStore,
    copy_error,
    estimate_request_bytes,
    request_key,
)
from tasks.models.batch_job import BatchTiming, ItemFuture, JobTracker, TrackedJob
from tasks.models.errors import StopStage
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.live_sender import OnLostAnswer
from tasks.warehouse.rows import utc_now

MAX_REQUESTS = 5_000
"""Requests in one job."""
MAX_WAITING_REQUESTS = 20_000
MAX_WAITING_BYTES = 400_000_000
"""Beyond these no more work is admitted: requests are held in memory until they are answered."""
KEEP_OPEN_DAYS = 30


class BatchSender:
    """Sends the requests of one model in batch jobs; a `Sender` of the gateway."""

    def __init__(
        self,
        client: BatchClient,
        store: BatchStore,
        *,
        provider: str,
        model: str,
        judge: str,
        on_message: Callable[[str], None] = lambda text: None,
        timing: BatchTiming | None = None,
        max_requests: int = MAX_REQUESTS,
    ) -> None:
        self._client = client
        self._store = store
        self._timing = timing or BatchTiming()
        self._tracker = JobTracker(client, store, self._timing, on_message)
        self._owner = {"provider": provider, "model": model, "judge": judge}
        self._max_requests = max_requests
        self._jobs: list[TrackedJob] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._sent_at: dict[str, datetime] = {}
        """When earlier runs sent the requests in their jobs, by key."""
        self._answers: dict[str, ItemFuture] = {}
        """Requests under way, by key, until they are delivered."""
        self._queued: dict[str, ModelRequest] = {}
        self._queued_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._n_waiting = self._bytes_waiting = 0
        self._freed = asyncio.Event()
        self._stopped: StopStage | None = None
        self._left = False

    async def resume(self) -> None:
        """Take up the jobs of earlier runs; to be awaited before anything is sent."""
        for row in await self._store.load_open_jobs():
            job = TrackedJob.resume(row)
            self._answers |= job.answers  # of two jobs with the same key the later one counts
            self._sent_at |= dict.fromkeys(job.answers, row.created_at)
            self._follow(job, {})

    async def wait_for_capacity(self) -> None:
        """Wait until more work should be prepared."""
        while self._n_waiting >= MAX_WAITING_REQUESTS or self._bytes_waiting >= MAX_WAITING_BYTES:
            self._freed.clear()
            await self._freed.wait()

    def stop(self, error: StopStage) -> None:
        """Send nothing more; submitted jobs are paid for and still awaited."""
        self._stopped = error
        for key in self._queued:
            self._answers[key].set_result(error)
        self._clear_queue()

    def cancel_waiting(self) -> None:
        """Cancel all waiting callers; the next run takes up the open jobs."""
        self._left = True
        for answer in self._answers.values():
            answer.cancel()
        self._clear_queue()

    async def send(self, request: ModelRequest, on_lost: OnLostAnswer | None = None) -> Reply:
        """Return the model's answer, from a job of this run or an earlier one.

        Raises:
            TransientError: the job or this item failed; a later run sends it again.
            RequestRejected, StopStage: passed on.
        """
        size = estimate_request_bytes(request)
        self._n_waiting += 1
        self._bytes_waiting += size
        try:
            item = await self._item(request, size)
        finally:
            self._n_waiting -= 1
            self._bytes_waiting -= size
            self._freed.set()
        if item.error:
            raise copy_error(item.error)
        reply = self._client.parse(item, request)
        return reply.model_copy(update={"sent_at": self._sent_at.get(request_key(request))})

    async def close(self) -> None:
        """Close the client, and the jobs whose answers are all in the ledger."""
        self.cancel_waiting()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            for job in self._jobs:
                old = utc_now() - job.row.created_at > timedelta(days=KEEP_OPEN_DAYS)
                open_still = job.ended and job.row.state == "running"
                if open_still and (old or not await self._tracker.find_unsaved(job)):
                    await self._tracker.finish(job)
        finally:
            await self._client.close()

    async def _item(self, request: ModelRequest, size: int) -> BatchItem:
        key = request_key(request)
        while True:
            answer = self._answers.get(key) or self._enqueue(key, request, size)
            found = await asyncio.shield(answer)
            if self._answers.get(key) is answer:
                del self._answers[key]
            if isinstance(found, Exception):
                raise copy_error(found)
            if found is not None:
                return found

    def _enqueue(self, key: str, request: ModelRequest, size: int) -> ItemFuture:
        """Add a request to the next job."""
        if self._stopped:
            raise copy_error(self._stopped)
        answer: ItemFuture = asyncio.Future()
        if self._left:
            answer.cancel()
            return answer
        if self._queued and self._queued_bytes + size > self._client.max_job_bytes:
            self._submit()
        self._sent_at.pop(key, None)
        self._answers[key] = answer
        self._queued[key] = request
        self._queued_bytes += size
        if len(self._queued) >= self._max_requests:
            self._submit()
        else:
            if self._timer:
                self._timer.cancel()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._timing.idle_seconds, self._submit)
        return answer

    def _submit(self) -> None:
        """Submit the queued requests as a job."""
        requests = self._queued
        self._clear_queue()
        job = TrackedJob.new({key: self._answers[key] for key in requests}, **self._owner)
        self._follow(job, requests)

    def _clear_queue(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer, self._queued, self._queued_bytes = None, {}, 0

    def _follow(self, job: TrackedJob, requests: dict[str, ModelRequest]) -> None:
        self._jobs.append(job)
        task = asyncio.create_task(self._track(job, requests))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _track(self, job: TrackedJob, requests: dict[str, ModelRequest]) -> None:
        try:
            await self._tracker.track(job, requests)
        except StopStage as error:
            self.stop(error)
            job.fail(error)
        except Exception as error:  # also the warehouse's; the callers raise it
            job.fail(error)

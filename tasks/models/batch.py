"""Asking in batches: at half the price, within a day instead of seconds.

Nothing is bought twice, whenever the process is killed:

- A job's row, with the keys of its requests, is committed before the job is created, and the
  provider's id for it before it is first looked at. If the process dies in between, the next run
  looks for the job by its name. Creation is repeated only after a clear no.
- A request whose key is in an open job of an earlier run waits for that job's result. The same
  evaluation asks for the same requests again, so each result finds its asker; requests may come
  in any order and at any time, results are held for them.
- A job stays open until the ledger holds every answer it gave (known by the provider's id of the
  answer): not until it was handed over, for the process may die before the commit. Looking again
  at a job that has ended costs nothing. What the ledger holds already is not handed over again:
  who asks for it once more wants another answer (the first was empty, or blocked).

The price: answers that nobody asks for any more (a prompt was changed meanwhile) keep their job
open, and looked at once by each run, for `KEPT_DAYS`.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from tasks.models.batch_client import BatchClient, BatchStore, Item, key_of, own, request_bytes
from tasks.models.batch_job import Answer, Followed, Follower, Timing
from tasks.models.errors import StopsTheStage
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.live import Lost
from tasks.warehouse.rows import utc_now

MAX_REQUESTS = 5_000
"""In one job."""
MOST_WAITING = 20_000
MOST_BYTES_WAITING = 400_000_000
"""Beyond these no more work is let in: requests are held in memory until they are answered."""
KEPT_DAYS = 30


class BatchSender:
    """Sends requests of one model in jobs; a `Sender` as the gateway knows it."""

    def __init__(
        self,
        client: BatchClient,
        store: BatchStore,
        *,
        provider: str,
        model: str,
        judge: str,
        on_message: Callable[[str], None] = lambda text: None,
        timing: Timing | None = None,
        max_requests: int = MAX_REQUESTS,
    ) -> None:
        self._client = client
        self._store = store
        self._timing = timing or Timing()
        self._follower = Follower(client, store, self._timing, on_message)
        self._whose = {"provider": provider, "model": model, "judge": judge}
        self._max_requests = max_requests
        self._jobs: list[Followed] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers: dict[str, Answer] = {}
        """What is under way, by key, until it is handed over."""
        self._gathered: dict[str, ModelRequest] = {}
        self._gathered_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._n_waiting = self._bytes_waiting = 0
        self._freed = asyncio.Event()
        self._stopped: StopsTheStage | None = None
        self._left = False

    async def resume(self) -> None:
        """Take up what an earlier run left; to be awaited before anything is sent."""
        for row in await self._store.open_jobs():
            job = Followed.again(row)
            self._answers |= job.answers  # of two jobs with the same key the later one counts
            self._follow(job, {})

    async def room(self) -> None:
        """Wait until more work should be prepared."""
        while self._n_waiting >= MOST_WAITING or self._bytes_waiting >= MOST_BYTES_WAITING:
            self._freed.clear()
            await self._freed.wait()

    def stop(self, error: StopsTheStage) -> None:
        """Send nothing more. What has been sent is paid for: its answers are waited for."""
        self._stopped = error
        for key in self._gathered:
            self._answers[key].set_result(error)
        self._forget_gathered()

    def leave(self) -> None:
        """Wait for nothing more: whoever waits is cancelled, and the next run goes on."""
        self._left = True
        for answer in self._answers.values():
            answer.cancel()
        self._forget_gathered()

    async def send(self, request: ModelRequest, lost: Lost | None = None) -> Reply:
        """The model's answer, from a job of this run or an earlier one.

        Raises:
            Transient: the job came to nothing, or this item of it; a later run asks again.
            Rejected, StopsTheStage: as they are.
        """
        size = request_bytes(request)
        self._n_waiting += 1
        self._bytes_waiting += size
        try:
            item = await self._item(request, size)
        finally:
            self._n_waiting -= 1
            self._bytes_waiting -= size
            self._freed.set()
        if item.error:
            raise own(item.error)
        return self._client.read(item, request)

    async def close(self) -> None:
        """Close the books: a job all of whose answers are in the ledger is done."""
        self.leave()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            for job in self._jobs:
                old = utc_now() - job.row.created_at > timedelta(days=KEPT_DAYS)
                open_still = job.ended and job.row.state == "running"
                if open_still and (old or not await self._follower.not_bought(job)):
                    await self._follower.finish(job)
        finally:
            await self._client.close()

    async def _item(self, request: ModelRequest, size: int) -> Item:
        key = key_of(request)
        while True:
            answer = self._answers.get(key) or self._gather(key, request, size)
            found = await asyncio.shield(answer)
            if self._answers.get(key) is answer:
                del self._answers[key]
            if isinstance(found, Exception):
                raise own(found)
            if found is not None:
                return found

    def _gather(self, key: str, request: ModelRequest, size: int) -> Answer:
        """Put a request into the next job."""
        if self._stopped:
            raise own(self._stopped)
        answer: Answer = asyncio.Future()
        if self._left:
            answer.cancel()
            return answer
        if self._gathered and self._gathered_bytes + size > self._client.most_bytes:
            self._submit()
        self._answers[key] = answer
        self._gathered[key] = request
        self._gathered_bytes += size
        if len(self._gathered) >= self._max_requests:
            self._submit()
        else:
            if self._timer:
                self._timer.cancel()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._timing.idle_seconds, self._submit)
        return answer

    def _submit(self) -> None:
        """Make a job of what has gathered."""
        requests = self._gathered
        self._forget_gathered()
        job = Followed.new({key: self._answers[key] for key in requests}, **self._whose)
        self._follow(job, requests)

    def _forget_gathered(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer, self._gathered, self._gathered_bytes = None, {}, 0

    def _follow(self, job: Followed, requests: dict[str, ModelRequest]) -> None:
        self._jobs.append(job)
        task = asyncio.create_task(self._to_its_end(job, requests))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _to_its_end(self, job: Followed, requests: dict[str, ModelRequest]) -> None:
        try:
            await self._follower.follow(job, requests)
        except StopsTheStage as error:
            self.stop(error)
            job.fail(error)
        except Exception as error:  # also the warehouse's: for those who asked to raise
            job.fail(error)

"""One batch job, from its row in the warehouse to its results."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import uuid4

from tasks.models.batch_client import BatchClient, BatchStore, Ended, Item
from tasks.models.errors import Rejected, StopsTheStage, Transient
from tasks.models.exchange import ModelRequest
from tasks.warehouse.calls import BatchJob
from tasks.warehouse.rows import utc_now

ResultT = TypeVar("ResultT")
Found = Item | Exception | None
"""What became of a request; None: nothing that counts, ask anew."""
Answer = asyncio.Future[Found]
LOOKS = 3
"""Times a job whose creation brought no answer is looked for: a list may lag behind."""


@dataclass(frozen=True)
class Timing:
    """Seconds."""

    idle_seconds: float = 2.0
    """When nothing new has come for so long, what has gathered becomes a job."""
    poll_seconds: float = 5.0
    """Before a job is first looked at; it grows by half each time."""
    longest_poll_seconds: float = 60.0
    creation_waits: tuple[float, ...] = (30.0, 60.0, 120.0)
    """Before creating again what was clearly refused for now (too many jobs at once)."""
    failures: int = 30
    """Looks that fail one after the other until this run gives up on a job; it stays open."""


@dataclass
class Followed:
    """A job under way in this process."""

    row: BatchJob
    answers: dict[str, Answer]
    """By key, for those who ask."""
    resumed: bool = False
    ended: Ended | None = None
    ids: frozenset[str] = field(default_factory=frozenset)
    """Of the answers it gave, as the provider names them."""

    @classmethod
    def new(cls, answers: dict[str, Answer], **whose: str) -> "Followed":
        """whose: provider, model and judge."""
        keys = json.dumps(list(answers))
        row = BatchJob.model_validate(
            {"job": f"evergreen-{uuid4().hex[:16]}", "state": "creating", "requests": keys,
             "n_requests": len(answers), **whose}
        )  # fmt: skip
        return cls(row, answers)

    @classmethod
    def again(cls, row: BatchJob) -> "Followed":
        """A job that an earlier run left open."""
        return cls(row, {key: asyncio.Future() for key in json.loads(row.requests)}, resumed=True)

    def give(self, key: str, found: Found) -> None:
        if not self.answers[key].done():  # else: whoever asked was cancelled
            self.answers[key].set_result(found)

    def fail(self, error: Exception) -> None:
        """No result will come in this run."""
        for key in self.answers:
            self.give(key, error)


class Follower:
    """Takes jobs from state to state, each committed before the next step."""

    def __init__(
        self,
        client: BatchClient,
        store: BatchStore,
        timing: Timing,
        on_message: Callable[[str], None],
    ) -> None:
        self._client = client
        self._store = store
        self._timing = timing
        self._on_message = on_message

    async def follow(self, job: Followed, requests: Mapping[str, ModelRequest]) -> None:
        """Create the job or take it up, wait for its end, and give out its results.

        Raises:
            ModelError: it could not be made, or not be looked at; its row says what is known.
        """
        if not job.resumed:
            await self._store.keep(job.row)
            await self._create(job, requests)
            self._tell(job, "submitted")
        else:
            if job.row.remote_id is None and not await self._adopted(job):
                await self._keep(job, state="failed", error="never arrived")
                for key in job.answers:
                    job.give(key, None)
                return
            self._tell(job, "of an earlier run is resumed")
        job.ended = await self._end(job)
        await self._give_out(job, job.ended)

    async def not_bought(self, job: Followed) -> frozenset[str]:
        """Answers of an ended job that are not in the ledger yet."""
        return job.ids - await self._store.bought(job.ids) if job.ids else frozenset()

    async def finish(self, job: Followed) -> None:
        """Nothing more is wanted of a job that has ended."""
        assert job.ended
        well = job.ended.succeeded
        error = (
            None if well else f"{job.ended.word}: {len(job.ids)} of {job.row.n_requests} answered"
        )
        await self._keep(job, state="done" if well else "failed", error=error)

    async def _create(self, job: Followed, requests: Mapping[str, ModelRequest]) -> None:
        """Create the job; if nobody knows whether it was, look for it instead of trying again."""
        waits = iter(self._timing.creation_waits)
        while True:
            try:
                remote_id = await self._client.create(job.row.job, requests)
                break
            except Transient as error:
                if error.maybe_billed:
                    if await self._adopted(job):
                        return
                    raise  # its row stays: the next run looks for it once more
                wait = next(waits, None)
                if wait is None:
                    await self._keep(job, state="failed", error=str(error)[:2000])
                    raise
            except (Rejected, StopsTheStage) as error:
                await self._keep(job, state="failed", error=str(error)[:2000])
                raise
            await asyncio.sleep(wait)
        await self._keep(job, state="running", remote_id=remote_id)

    async def _adopted(self, job: Followed) -> bool:
        """Find a job by its name and make it ours; whether it is there."""
        for _ in range(LOOKS):
            remote_id = await self._patiently(lambda: self._client.find(job.row.job))
            if remote_id:
                await self._keep(job, state="running", remote_id=remote_id)
                return True
            await asyncio.sleep(self._timing.poll_seconds)
        return False

    async def _end(self, job: Followed) -> Ended:
        remote_id = job.row.remote_id or ""
        wait = 0.0 if job.resumed else self._timing.poll_seconds
        while True:
            await asyncio.sleep(wait)
            ended = await self._patiently(lambda: self._client.poll(remote_id))
            if ended:
                return ended
            wait = self._longer(wait)

    async def _patiently(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """A look that costs nothing, again and again while it fails."""
        wait = self._timing.poll_seconds
        for _ in range(self._timing.failures - 1):
            try:
                return await call()
            except Transient as error:
                await asyncio.sleep(max(wait, error.hint_seconds or 0.0))
                wait = self._longer(wait)
        return await call()

    def _longer(self, wait: float) -> float:
        longer = max(1.5 * wait, self._timing.poll_seconds)
        return min(longer, self._timing.longest_poll_seconds)

    async def _give_out(self, job: Followed, ended: Ended) -> None:
        """Each result to who asks for it; what an earlier run could not get is asked anew."""
        job.ids = frozenset(i.response_id for i in ended.items.values() if i.response_id)
        wanted = await self.not_bought(job) if job.resumed else job.ids
        n_answered = sum(item.error is None for item in ended.items.values())
        if not n_answered or (job.resumed and not wanted):
            await self.finish(job)
        for key in job.answers:
            job.give(key, _found(job, ended, ended.items.get(key), wanted))
        self._tell(job, f"ended ({ended.word}): {n_answered:,} answered")

    async def _keep(self, job: Followed, **changes: str | None) -> None:
        done = {"finished_at": utc_now()} if changes["state"] in ("done", "failed") else {}
        job.row = job.row.model_copy(update=changes | done)
        await self._store.keep(job.row)

    def _tell(self, job: Followed, what: str) -> None:
        row = job.row
        self._on_message(f"batch job {row.remote_id} ({row.n_requests:,} requests) {what}")


def _found(job: Followed, ended: Ended, item: Item | None, wanted: frozenset[str]) -> Found:
    """What an asker is told of its request."""
    if item is None or isinstance(item.error, Transient):
        if job.resumed:
            return None
        nothing = f"the batch job {job.row.remote_id} brought no result ({ended.word})"
        return item or Transient(nothing, "server")
    if item.response_id and item.response_id not in wanted:
        return None  # it is in the ledger, and who asks wants another one
    return item

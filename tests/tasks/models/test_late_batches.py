"""Batches, and files of theirs, that the provider cannot show yet: never bought again for that."""

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from tasks.models.batch_client import GONE, EndedBatch
from tasks.models.batch_job import BatchTiming, JobTracker, TrackedJob
from tasks.warehouse.calls import BatchJob
from tasks.warehouse.rows import Status
from tests.servers.gemini import GeminiServer
from tests.servers.http import Request, Response
from tests.servers.openai import OpenAiServer
from tests.tasks.models import virtual_time
from tests.tasks.models.batching import REQUESTS, Desk, desk, killed_when, made

__all__ = ["desk"]


class Late:
    """What a provider shows only from the second time on that it is asked."""

    seen: Counter[str]

    def route(self, request: Request) -> Response:
        self.seen[request.path] += 1
        about = ("/files/", "/batches/", "/v1/batches")
        asked = request.method == "GET" or request.path == "/v1/batches"
        if asked and any(part in request.path for part in about) and self.seen[request.path] == 1:
            answer: Response = self.error(404, f"{request.path} is not there")  # type: ignore[attr-defined]
            return answer
        return super().route(request)  # type: ignore[misc,no-any-return]


class LateOpenAi(Late, OpenAiServer):
    """Batches, the files they are made from, and the files of their answers."""


class LateGemini(Late, GeminiServer):
    """Batches."""


@pytest.mark.parametrize("kind", [LateOpenAi, LateGemini])
def test_a_batch_that_is_not_shown_yet_is_not_bought_again(desk: Desk, kind: type[Any]) -> None:
    server = made(kind)
    server.seen = Counter()
    assert {outcome.status for outcome in desk.ask(server)} == {Status.OK}
    assert [job.state for job in desk.jobs()][-1:] == ["done"]
    assert (server.desk.n_made, max(server.log.answered().values())) == (1, 1)


def test_a_batch_whose_creation_got_no_answer_is_found_in_a_list_that_lags_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = made(OpenAiServer)
    desk.run(server, killed_when(lambda: server.batches), crash=True, deaf=True)
    looks = iter(range(100))
    page = server.desk.page
    server.desk.page = lambda size, after: ([], False) if next(looks) < 4 else page(size, after)
    assert {outcome.status for outcome in desk.ask(server, REQUESTS)} == {Status.OK}
    assert server.desk.n_made == 1


class ScriptedBatches:
    """A client and a store: looks give what the script says, the last one for ever."""

    def __init__(self, looks: Sequence[EndedBatch | None]) -> None:
        self.looks, self.n_looks = list(looks), 0
        self.saved: list[BatchJob] = []

    async def poll(self, remote_id: str) -> EndedBatch | None:
        self.n_looks += 1
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    async def save(self, job: BatchJob) -> None:
        self.saved.append(job)

    async def find_saved(self, ids: Collection[str]) -> frozenset[str]:
        return frozenset()


@pytest.mark.parametrize(
    ("looks", "n_looks", "state"),
    [
        ([EndedBatch(GONE)] * 29 + [EndedBatch("completed", {}, succeeded=True)], 30, "completed"),
        ([EndedBatch(GONE)] * 29 + [None] + [EndedBatch(GONE)], 60, GONE),
        ([EndedBatch(GONE)], 30, GONE),
    ],
    ids=["late", "seen between", "gone"],
)
def test_only_a_batch_that_is_not_shown_for_long_is_gone(
    looks: Sequence[EndedBatch | None], n_looks: int, state: str
) -> None:
    client: Any = ScriptedBatches(looks)

    async def run() -> float:
        job = TrackedJob.new({"k": asyncio.Future()}, provider="p", model="m", judge="j")
        job.row = job.row.model_copy(update={"state": "running", "remote_id": "b1"})
        job.resumed = True
        began = virtual_time.now()
        await JobTracker(client, client, BatchTiming(), print).track(job, {})
        assert job.ended
        assert job.ended.state == state
        return virtual_time.now() - began

    seconds = virtual_time.run(run())
    assert client.n_looks == n_looks
    assert seconds > 15 * 60

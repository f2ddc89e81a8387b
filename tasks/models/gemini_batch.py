"""Gemini's batch API, through google-genai: requests and results inside the calls themselves.

A job holds 20 MB at most in this form. Results are matched by the key that each request carries;
nothing promises an order.
"""

from collections.abc import Mapping

from google.genai import errors, types

from tasks.models.batch_client import MOST_RESULT_BYTES, Ended, Item
from tasks.models.client import redacted
from tasks.models.errors import Rejected, Transient
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.gemini import GeminiClient, contents, generation_config, read_response
from tasks.warehouse.rows import storable

PAGE = 100
ENDS = frozenset(
    {
        types.JobState.JOB_STATE_SUCCEEDED,
        types.JobState.JOB_STATE_PARTIALLY_SUCCEEDED,
        types.JobState.JOB_STATE_FAILED,
        types.JobState.JOB_STATE_CANCELLED,
        types.JobState.JOB_STATE_EXPIRED,
    }
)
LASTING = frozenset({3, 5, 6, 7, 9, 11, 12, 16})
"""RPC codes of an item that mean the same tomorrow, such as INVALID_ARGUMENT."""


class GeminiBatchClient(GeminiClient):
    """The key, address and refusals are those of asking live."""

    most_bytes = 15_000_000
    most_answer_bytes = MOST_RESULT_BYTES

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        model = next(iter(requests.values())).model
        items = [
            types.InlinedRequest(
                contents=list(contents(request)),
                config=generation_config(request),
                metadata={"key": key},
            )
            for key, request in requests.items()
        ]
        config = types.CreateBatchJobConfig(display_name=name)
        try:
            job = await self._called(
                self._client.aio.batches.create(model=model, src=items, config=config), model
            )
        except Transient as error:
            error.maybe_billed |= (error.code or 0) >= 500
            raise
        if not job.name:
            raise Transient("a batch job without a name", "garbled", maybe_billed=True)
        return storable(job.name)

    async def poll(self, remote_id: str) -> Ended | None:
        async def look() -> types.BatchJob | None:
            try:
                return await self._client.aio.batches.get(name=remote_id)
            except errors.ClientError as error:
                if error.code == 404:
                    return None
                raise

        job = await self._called(look(), remote_id)
        if job is None:
            return Ended("gone")
        if job.state is None or job.state not in ENDS:
            return None
        answers = (job.dest.inlined_responses if job.dest else None) or []
        items = {(a.metadata or {}).get("key", ""): self._item(a) for a in answers}
        succeeded = job.state == types.JobState.JOB_STATE_SUCCEEDED
        return Ended(job.state.value, items, succeeded)

    async def find(self, name: str) -> str | None:
        config = types.ListBatchJobsConfig(page_size=PAGE)

        async def look() -> str | None:
            seen: set[str | None] = set()
            async for job in await self._client.aio.batches.list(config=config):
                if job.display_name == name:
                    return job.name
                if job.name in seen:
                    raise ValueError("it goes on where it began: it would never end")
                seen.add(job.name)
            return None

        return await self._called(look(), "batches")

    def read(self, item: Item, request: ModelRequest) -> Reply:
        return read_response(item.body, "batch")

    def _item(self, said: types.InlinedResponse) -> Item:
        answer = said.response
        if answer is not None:
            try:
                read_response(answer)
            except Transient as error:
                return Item(error=error)
            return Item(answer, storable(answer.response_id) if answer.response_id else None)
        code = said.error.code if said.error else None
        message = redacted(str(said.error.message if said.error else "no answer"), self._key)
        shown = f"RPC {code}: {message[:500]}"
        if code in LASTING:
            return Item(error=Rejected(shown, 400))
        return Item(error=Transient(shown, "server"))

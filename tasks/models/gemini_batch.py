"""Gemini's batch API, through google-genai, with inline requests and results.

An inline job holds 20 MB at most. Results are matched by the key in each request's metadata; their
order is not guaranteed.
"""

from collections.abc import Mapping

from google.genai import errors, types

from tasks.models.batch_client import GONE, MAX_RESULT_BYTES, BatchItem, EndedBatch
from tasks.models.client import redact_key
from tasks.models.errors import RequestRejected, TransientError
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.gemini import (
    GeminiClient,
    build_contents,
    build_generation_config,
    parse_response,
)
from tasks.warehouse.rows import replace_surrogates

PAGE_SIZE = 100
FINAL_STATES = frozenset(
    {
        types.JobState.JOB_STATE_SUCCEEDED,
        types.JobState.JOB_STATE_PARTIALLY_SUCCEEDED,
        types.JobState.JOB_STATE_FAILED,
        types.JobState.JOB_STATE_CANCELLED,
        types.JobState.JOB_STATE_EXPIRED,
    }
)
PERMANENT_CODES = frozenset({3, 5, 6, 7, 9, 11, 12, 16})
"""RPC codes of an item that are permanent, such as INVALID_ARGUMENT."""


class GeminiBatchClient(GeminiClient):
    """A batch client; key, address and errors are those of the live client."""

    max_job_bytes = 15_000_000
    max_answer_bytes = MAX_RESULT_BYTES

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        model = next(iter(requests.values())).model
        items = [
            types.InlinedRequest(
                contents=build_contents(request),
                config=build_generation_config(request),
                metadata={"key": key},
            )
            for key, request in requests.items()
        ]
        config = types.CreateBatchJobConfig(display_name=name)
        try:
            job = await self._call_api(
                self._client.aio.batches.create(model=model, src=items, config=config), model
            )
        except TransientError as error:
            error.maybe_billed |= (error.code or 0) >= 500
            raise
        if not job.name:
            raise TransientError("a batch job without a name", "garbled", maybe_billed=True)
        return replace_surrogates(job.name)

    async def poll(self, remote_id: str) -> EndedBatch | None:
        async def look() -> types.BatchJob | None:
            try:
                return await self._client.aio.batches.get(name=remote_id)
            except errors.ClientError as error:
                if error.code in (404, 410):
                    return None
                raise

        job = await self._call_api(look(), remote_id)
        if job is None:
            return EndedBatch(GONE)
        if job.state is None or job.state not in FINAL_STATES:
            return None
        answers = (job.dest.inlined_responses if job.dest else None) or []
        items = {(a.metadata or {}).get("key", ""): self._item(a) for a in answers}
        succeeded = job.state == types.JobState.JOB_STATE_SUCCEEDED
        return EndedBatch(job.state.value, items, succeeded)

    async def find(self, name: str) -> str | None:
        config = types.ListBatchJobsConfig(page_size=PAGE_SIZE)

        async def look() -> str | None:
            seen: set[str | None] = set()
            async for job in await self._client.aio.batches.list(config=config):
                if job.display_name == name:
                    return job.name
                if job.name in seen:
                    raise ValueError("the list repeats itself: it would never end")
                seen.add(job.name)
            return None

        return await self._call_api(look(), "batches")

    def parse(self, item: BatchItem, request: ModelRequest) -> Reply:
        return parse_response(item.body, "batch")

    def _item(self, said: types.InlinedResponse) -> BatchItem:
        if said.response is not None:
            answer = said.response.model_dump(mode="json", by_alias=True, exclude_none=True)
            try:
                reply = parse_response(answer)
            except TransientError as error:
                return BatchItem(error=error)
            return BatchItem(answer, reply.response_id)
        code = said.error.code if said.error else None
        message = redact_key(str(said.error.message if said.error else "no answer"), self._key)
        shown = f"RPC {code}: {message[:500]}"
        if code in PERMANENT_CODES:
            return BatchItem(error=RequestRejected(shown, 400))
        return BatchItem(error=TransientError(shown, "server"))

"""OpenAI's batch API: upload a file of requests, download a file of answers and one of errors.

Requests use a JSON schema; an endpoint without schemas has no batches either.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from tasks.models.batch_client import GONE, MAX_RESULT_BYTES, BatchItem, EndedBatch
from tasks.models.client import (
    RETRYABLE_CODES,
    catch_parse_errors,
    classify_response,
    describe_error,
    find_error,
    parse_json,
    redact_key,
)
from tasks.models.errors import RequestRejected, TransientError
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.openai_chat import OpenAiChatClient, build_chat_body, parse_completion
from tasks.warehouse.rows import replace_surrogates

ENDPOINT = "/v1/chat/completions"
NAME_FIELD = "evergreen_job"
"""The metadata field with our name of the job."""
PAGE_SIZE = 100
FINAL_STATES = frozenset({"completed", "failed", "expired", "cancelled"})
NOT_FOUND = frozenset({404, 410})


class NotShown(TransientError):
    """A batch or file that the provider does not know, or does not show yet."""


class OpenAiBatchClient(OpenAiChatClient):
    """A batch client; key, address and errors are those of the live client."""

    max_job_bytes = 100_000_000
    max_answer_bytes = MAX_RESULT_BYTES

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        lines = "".join(self._line(key, request) for key, request in requests.items())
        try:
            uploaded = await self._json(
                "POST", "/files", data={"purpose": "batch"},
                files={"file": (f"{name}.jsonl", lines.encode(), "application/jsonl")},
            )  # fmt: skip
        except TransientError as error:
            error.maybe_billed = False  # an uploaded file alone is not processed
            raise
        try:
            job = await self._json(
                "POST",
                "/batches",
                late=True,  # the file
                json={
                    "input_file_id": replace_surrogates(str(uploaded.get("id"))),
                    "endpoint": ENDPOINT,
                    "completion_window": "24h",
                    "metadata": {NAME_FIELD: name},
                },
            )
        except TransientError as error:
            error.maybe_billed |= (error.code or 0) >= 500
            raise
        if not job.get("id"):
            raise TransientError("a batch job without an id", "garbled", maybe_billed=True)
        return replace_surrogates(str(job["id"]))

    async def poll(self, remote_id: str) -> EndedBatch | None:
        path = f"/batches/{quote(remote_id, safe='')}"
        try:
            response = await self._answer("GET", path, late=True)
            with catch_parse_errors("the answer is no batch", billable=False):
                return await self._finish(_parse_object(response))
        except NotShown:
            return EndedBatch(GONE)

    async def _finish(self, job: dict[str, Any]) -> EndedBatch | None:
        if job.get("status") not in FINAL_STATES:
            return None
        items: dict[str, BatchItem] = {}
        for name in ("error_file_id", "output_file_id"):
            if file_id := job.get(name):
                items |= await self._items(str(file_id))
        word = str(job["status"])
        if problems := (job.get("errors") or {}).get("data"):
            word += f": {redact_key(str(problems[0].get('message')), self._key)[:300]}"
        return EndedBatch(word, items, word == "completed")

    async def find(self, name: str) -> str | None:
        after: dict[str, str] = {}
        while True:
            page = await self._json("GET", "/batches", params={"limit": str(PAGE_SIZE), **after})
            with catch_parse_errors("the answer is no list of batches", billable=False):
                jobs = page.get("data") or []
                for job in jobs:
                    if (job.get("metadata") or {}).get(NAME_FIELD) == name:
                        return replace_surrogates(str(job["id"]))
                if not page.get("has_more") or not jobs:
                    return None
                if after == (following := {"after": str(jobs[-1]["id"])}):
                    raise ValueError("the list repeats itself: it would never end")
                after = following

    def parse(self, item: BatchItem, request: ModelRequest) -> Reply:
        return parse_completion(item.body, request, "batch json_schema")

    def _line(self, key: str, request: ModelRequest) -> str:
        body = build_chat_body(request, "json_schema", self._limit_field)
        line = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        return json.dumps(line) + "\n"

    async def _items(self, file_id: str) -> dict[str, BatchItem]:
        path = f"/files/{quote(file_id, safe='')}/content"
        response = await self._answer("GET", path, late=True)
        with catch_parse_errors(f"the results in {file_id} cannot be read", billable=False):
            lines = [json.loads(line) for line in response.text.split("\n") if line.strip()]
            return {str(line["custom_id"]): self._item(line) for line in lines}

    def _item(self, line: dict[str, Any]) -> BatchItem:
        response = line.get("response") or {}
        code, body = response.get("status_code"), response.get("body")
        failed = find_error(body)
        if code == 200 and isinstance(body, dict) and body.get("choices") and not failed:
            answer_id = body.get("id")
            response_id = replace_surrogates(answer_id) if isinstance(answer_id, str) else None
            return BatchItem(body, response_id)
        message = describe_error(line.get("error") or failed or body)[0]
        shown = f"HTTP {code}: {redact_key(message, self._key)[:500]}"
        if code is not None and 400 <= code < 500 and code not in RETRYABLE_CODES:
            return BatchItem(error=RequestRejected(shown, code))
        return BatchItem(error=TransientError(shown, "server", maybe_billed=code == 200))

    async def _json(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        return _parse_object(await self._answer(method, path, **more))

    async def _answer(
        self, method: str, path: str, *, late: bool = False, **more: Any
    ) -> httpx.Response:
        """late: what is asked for may be shown late."""
        response = await self._transport.request(
            method, self._base_url + path, self._key_header, self._timeout_seconds, **more
        )
        if late and (code := response.status_code) in NOT_FOUND:
            raise NotShown(f"HTTP {code}: {path} is not there", "server", code=code)
        if not response.is_success:
            raise classify_response(response, self._key, path)
        return response


def _parse_object(response: httpx.Response) -> dict[str, Any]:
    body = parse_json(response)
    if not isinstance(body, dict):
        raise TransientError("the answer is no JSON object", "garbled", maybe_billed=True)
    return body

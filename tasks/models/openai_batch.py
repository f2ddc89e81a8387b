"""OpenAI's batch API: a file of requests goes up, a file of answers and one of errors come down.

Answers are asked for by JSON schema; an endpoint that takes none has no batches either.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from tasks.models.batch_client import MOST_RESULT_BYTES, Ended, Item
from tasks.models.client import RETRIED_CODES, json_of, reading, redacted
from tasks.models.errors import Rejected, Transient
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.openai_chat import OpenAiChatClient, chat_body, read_completion
from tasks.warehouse.rows import storable

ENDPOINT = "/v1/chat/completions"
NAME = "evergreen_job"
"""The field of a job's metadata that holds our name for it."""
PAGE = 100
ENDS = frozenset({"completed", "failed", "expired", "cancelled"})
GONE = 404


class OpenAiBatchClient(OpenAiChatClient):
    """The key, address and refusals are those of asking live."""

    most_bytes = 100_000_000
    most_answer_bytes = MOST_RESULT_BYTES

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        lines = "".join(self._line(key, request) for key, request in requests.items())
        try:
            uploaded = await self._json(
                "POST", "/files", data={"purpose": "batch"},
                files={"file": (f"{name}.jsonl", lines.encode(), "application/jsonl")},
            )  # fmt: skip
        except Transient as error:
            error.maybe_billed = False  # a file alone is not worked on
            raise
        try:
            job = await self._json(
                "POST",
                "/batches",
                json={
                    "input_file_id": storable(str(uploaded.get("id"))),
                    "endpoint": ENDPOINT,
                    "completion_window": "24h",
                    "metadata": {NAME: name},
                },
            )
        except Transient as error:
            error.maybe_billed |= (error.code or 0) >= 500
            raise
        if not job.get("id"):
            raise Transient("a batch job without an id", "garbled", maybe_billed=True)
        return storable(str(job["id"]))

    async def poll(self, remote_id: str) -> Ended | None:
        response = await self._answer("GET", f"/batches/{quote(remote_id, safe='')}", may_be=GONE)
        if response.status_code == GONE:
            return Ended("gone")
        with reading("the answer is no batch", buying=False):
            return await self._ended(_parsed(response))

    async def _ended(self, job: dict[str, Any]) -> Ended | None:
        if job.get("status") not in ENDS:
            return None
        items: dict[str, Item] = {}
        for name in ("error_file_id", "output_file_id"):
            if file_id := job.get(name):
                items |= await self._items(str(file_id))
        word = str(job["status"])
        if problems := (job.get("errors") or {}).get("data"):
            word += f": {redacted(str(problems[0].get('message')), self._key)[:300]}"
        return Ended(word, items, word == "completed")

    async def find(self, name: str) -> str | None:
        after: dict[str, str] = {}
        while True:
            page = await self._json("GET", "/batches", params={"limit": str(PAGE), **after})
            with reading("the answer is no list of batches", buying=False):
                jobs = page.get("data") or []
                for job in jobs:
                    if (job.get("metadata") or {}).get(NAME) == name:
                        return storable(str(job["id"]))
                if not page.get("has_more") or not jobs:
                    return None
                if after == (following := {"after": str(jobs[-1]["id"])}):
                    raise ValueError("it goes on where it began: it would never end")
                after = following

    def read(self, item: Item, request: ModelRequest) -> Reply:
        return read_completion(item.body, request, "batch json_schema")

    def _line(self, key: str, request: ModelRequest) -> str:
        body = chat_body(request, "json_schema", self._limit_field)
        line = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        return json.dumps(line) + "\n"

    async def _items(self, file_id: str) -> dict[str, Item]:
        response = await self._answer("GET", f"/files/{quote(file_id, safe='')}/content")
        with reading(f"the results in {file_id} cannot be read", buying=False):
            lines = [json.loads(line) for line in response.text.split("\n") if line.strip()]
            return {str(line["custom_id"]): self._item(line) for line in lines}

    def _item(self, line: dict[str, Any]) -> Item:
        response = line.get("response") or {}
        code, body = response.get("status_code"), response.get("body")
        if code == 200 and isinstance(body, dict) and body.get("choices"):
            named = body.get("id")
            return Item(body, storable(named) if isinstance(named, str) else None)
        told = line.get("error") or (body.get("error") if isinstance(body, dict) else body)
        said = told.get("message") if isinstance(told, dict) else told
        shown = f"HTTP {code}: {redacted(str(said), self._key)[:500]}"
        if code is not None and 400 <= code < 500 and code not in RETRIED_CODES:
            return Item(error=Rejected(shown, code))
        return Item(error=Transient(shown, "server", maybe_billed=code == 200))

    async def _json(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        return _parsed(await self._answer(method, path, **more))

    async def _answer(
        self, method: str, path: str, may_be: int | None = None, **more: Any
    ) -> httpx.Response:
        response = await self._transport.whole(
            method, self._base_url + path, self._key_header, self._timeout_seconds, **more
        )
        if not response.is_success and response.status_code != may_be:
            raise self._meaning(response, path)
        return response


def _parsed(response: httpx.Response) -> dict[str, Any]:
    body = json_of(response)
    if not isinstance(body, dict):
        raise Transient("the answer is no JSON object", "garbled", maybe_billed=True)
    return body

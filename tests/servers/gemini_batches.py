"""Gemini's batches of inline requests: what the SDK calls, and the forms it reads.

It reads `metadata.output` and never `response`; results come in reversed order here, because
nothing promises another one.
"""

import re
from typing import TYPE_CHECKING, Any

from tests.servers.batches import Batch, BatchDesk, End
from tests.servers.gemini_forms import RPC_CODES
from tests.servers.http import Request, Response, json_response

if TYPE_CHECKING:
    from tests.servers.gemini import GeminiServer

_STATES: dict[End, str] = {
    "succeeded": "BATCH_STATE_SUCCEEDED",
    "failed": "BATCH_STATE_FAILED",
    "cancelled": "BATCH_STATE_CANCELLED",
    "expired": "BATCH_STATE_EXPIRED",
}
_NAMED = re.compile(r"/v1(?:beta)?/(batches/[^/:]+)")
_TIME = "2026-11-21T12:00:00Z"


class GeminiBatches:
    """Jobs of one server."""

    def __init__(self, server: "GeminiServer", desk: BatchDesk) -> None:
        self._server = server
        self._desk = desk

    def route(self, request: Request) -> Response | None:
        """The answer to a request about batches; None for any other."""
        path = request.path
        if re.fullmatch(r"/v1(?:beta)?/batches", path):
            return self._list(request)
        if found := _NAMED.fullmatch(path):
            return self._named(found[1])
        return None

    def create(self, model: str, body: dict[str, Any]) -> Response:
        batch = body["batch"]
        job = Batch(
            batch_id=f"batches/b{self._desk.n_made + 1}",
            model=model,
            about={"displayName": batch.get("displayName", "")},
            items=_inline(batch["inputConfig"]),
        )
        arrives = self._desk.add(job)
        return json_response(self._job(job), broken=None if arrives else "reset")

    def _named(self, name: str) -> Response:
        job = self._desk.jobs.get(name)
        if job is None:
            return self._server.error(404, f"{name} was not found.")
        self._desk.look(job)
        return json_response(self._job(job))

    def _list(self, request: Request) -> Response:
        size = int(request.query.get("pageSize", "50"))
        jobs, more = self._desk.page(size, request.query.get("pageToken"))
        answer: dict[str, Any] = {"operations": [self._job(job) for job in jobs]}
        if more:
            answer["nextPageToken"] = jobs[-1].batch_id
        return json_response(answer)

    def _job(self, job: Batch) -> dict[str, Any]:
        end = self._desk.end_of(job)
        running = "BATCH_STATE_RUNNING" if job.polls else "BATCH_STATE_PENDING"
        metadata: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1.GenerateContentBatch",
            "model": f"models/{job.model}",
            **job.about,
            "state": _STATES[end] if end else running,
            "createTime": _TIME,
            "updateTime": _TIME,
            "batchStats": {"requestCount": str(len(job.items))},
        }
        if end == "succeeded":
            metadata |= {"endTime": _TIME, "output": self._output(job)}
        answer = {"name": job.batch_id, "metadata": metadata}
        return answer | ({"done": True} if end else {})

    def _output(self, job: Batch) -> dict[str, Any]:
        """The results, worked out at the first look and kept."""
        if job.result is None:
            results = [self._result(job.model, key, body) for key, body in reversed(job.items)]
            job.result = _inlined(results)
        return job.result

    def _result(self, model: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        status, said = self._server.in_batch(self._server.asked(model, body))
        if status == 200:
            return {"key": key, "response": said}
        error = {"code": RPC_CODES.get(status, 13), "message": said["error"]["message"]}
        return {"key": key, "error": error}


def _inline(source: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    requests = source["requests"]["requests"]
    return [(item.get("metadata", {}).get("key", ""), item["request"]) for item in requests]


def _inlined(results: list[dict[str, Any]]) -> dict[str, Any]:
    named = [
        {name: value for name, value in result.items() if name != "key"}
        | ({"metadata": {"key": result["key"]}} if result["key"] else {})
        for result in results
    ]
    return {"inlinedResponses": {"inlinedResponses": named}}

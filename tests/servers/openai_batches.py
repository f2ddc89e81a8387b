"""OpenAI's Batch API: a file of lines in, a file of answers and a file of errors out.

Answers come in reversed order; only `custom_id` says whose they are.
"""

import json
import re
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Any

from tests.servers.batches import Batch, BatchDesk, End
from tests.servers.http import Request, Response, json_response

if TYPE_CHECKING:
    from tests.servers.openai import OpenAiServer

_STATUSES: dict[End, str] = {
    "succeeded": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "expired": "expired",
}
_NAMED = re.compile(r"/v1/batches/([^/]+)")
_CONTENT = re.compile(r"/v1/files/([^/]+)/content")
_TIME = 1795262400
_EXPIRED = "This request could not be executed before the completion window expired."


class OpenAiBatches:
    """Jobs and files of one server."""

    def __init__(self, server: "OpenAiServer", desk: BatchDesk) -> None:
        self._server = server
        self._desk = desk

    def route(self, request: Request) -> Response | None:
        """The answer to a request about batches and files; None for any other."""
        if request.path == "/v1/files" and request.method == "POST":
            return self._upload(request)
        if request.path == "/v1/batches":
            return self._create(request) if request.method == "POST" else self._list(request)
        if found := _NAMED.fullmatch(request.path):
            return self._named(found[1])
        if found := _CONTENT.fullmatch(request.path):
            return self._file(found[1])
        return None

    def _upload(self, request: Request) -> Response:
        fields = _multipart(request)
        purpose = fields.get("purpose", b"").decode()
        if purpose != "batch" or "file" not in fields:
            return self._server.error(400, f"a file with purpose=batch is needed, not {purpose!r}")
        return json_response(self._about_file(self._desk.store(fields["file"], "file-")))

    def _create(self, request: Request) -> Response:
        body = request.json()
        missing = {"input_file_id", "endpoint", "completion_window"} - body.keys()
        if missing or body["completion_window"] != "24h":
            return self._server.error(400, f"wrong or missing: {sorted(missing)}")
        data = self._desk.files.get(body["input_file_id"])
        if data is None:
            return self._server.error(404, f"No such File object: {body['input_file_id']}")
        problems, items = _read_lines(data, body["endpoint"])
        job = Batch(
            batch_id=f"batch_{self._desk.n_made + 1}",
            model="",
            about={
                "endpoint": body["endpoint"],
                "completion_window": body["completion_window"],
                "metadata": body.get("metadata"),
                "errors": {"object": "list", "data": problems} if problems else None,
            },
            items=items,
            source_file=body["input_file_id"],
        )
        arrives = self._desk.add(job)
        return json_response(self._job(job), broken=None if arrives else "reset")

    def _named(self, batch_id: str) -> Response:
        job = self._desk.jobs.get(batch_id)
        if job is None:
            return self._server.error(404, f"No batch found with id '{batch_id}'.")
        self._desk.look(job)
        return json_response(self._job(job))

    def _list(self, request: Request) -> Response:
        size = int(request.query.get("limit", "20"))
        jobs, more = self._desk.page(size, request.query.get("after"))
        data = [self._job(job) for job in jobs]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {}
        return json_response({"object": "list", "data": data, "has_more": more, **ends})

    def _job(self, job: Batch) -> dict[str, Any]:
        end: End | None = "failed" if job.about["errors"] else self._desk.end_of(job)
        if end and job.result is None:
            job.result = self._results(job, end)
        counts = {"total": len(job.items), "completed": 0, "failed": 0}
        files = {"output_file_id": None, "error_file_id": None}
        return {
            "id": job.batch_id,
            "object": "batch",
            "input_file_id": job.source_file,
            "status": _STATUSES[end] if end else self._under_way(job),
            "created_at": _TIME,
            "request_counts": counts,
            **job.about,
            **files,
            **(job.result or {}),
        }

    def _under_way(self, job: Batch) -> str:
        if not job.polls:
            return "validating"
        last = job.polls == self._desk.script.polls - 1
        return "finalizing" if last and job.polls > 1 else "in_progress"

    def _results(self, job: Batch, end: End) -> dict[str, Any]:
        """Files and counts at the end, worked out once; an expired job did half its lines."""
        done = {"succeeded": len(job.items), "expired": len(job.items) // 2}.get(end, 0)
        lines = [self._answered(key, body) for key, body in job.items[:done]]
        good = [line for line in lines if line["response"]["status_code"] == 200]
        bad = [line for line in lines if line["response"]["status_code"] != 200]
        if end == "expired":
            bad += [_line(key, error={"code": "batch_expired", "message": _EXPIRED})
                    for key, _ in job.items[done:]]  # fmt: skip
        return {
            "output_file_id": self._to_file(good),
            "error_file_id": self._to_file(bad),
            "request_counts": {
                "total": len(job.items), "completed": len(good), "failed": len(bad),
            },
        }  # fmt: skip

    def _answered(self, key: str, body: dict[str, Any]) -> dict[str, Any]:
        refused = self._server.takes(body)
        if refused:
            return _line(key, status=refused.status, body=json.loads(refused.body))
        status, said = self._server.in_batch(self._server.asked(body))
        return _line(key, status=status, body=said)

    def _to_file(self, lines: list[dict[str, Any]]) -> str | None:
        if not lines:
            return None
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in reversed(lines))
        return self._desk.store(data.encode("utf-8", "surrogatepass"), "file-")

    def _file(self, name: str) -> Response:
        if name not in self._desk.files:
            return self._server.error(404, f"No such File object: {name}")
        return Response(200, self._desk.files[name], "application/octet-stream")

    def _about_file(self, name: str) -> dict[str, Any]:
        size = len(self._desk.files[name])
        return {"id": name, "object": "file", "purpose": "batch", "bytes": size}


def _line(
    key: str,
    status: int | None = None,
    body: dict[str, Any] | None = None,
    error: dict[str, str] | None = None,
) -> dict[str, Any]:
    answered = {"status_code": status, "request_id": f"req_{key}", "body": body}
    return {
        "id": f"batch_req_{key}",
        "custom_id": key,
        "response": answered if status else None,
        "error": error,
    }


def _read_lines(
    data: bytes, endpoint: str
) -> tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any]]]]:
    """What is wrong with an input file, and its lines."""
    problems: list[dict[str, Any]] = []
    items: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        code = None
        try:
            entry = json.loads(line)
            if entry["custom_id"] in items:
                code = "duplicate_custom_id"
            elif (entry["method"], entry["url"]) != ("POST", endpoint):
                code = "mismatched_endpoint"
            items[entry["custom_id"]] = entry["body"]
        except (ValueError, KeyError, TypeError):
            code = "invalid_json_line"
        if code:
            problems.append({"code": code, "message": code, "param": None, "line": number})
    return problems, list(items.items())


def _multipart(request: Request) -> dict[str, bytes]:
    """The fields of a form, by name."""
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.body)
    found: dict[str, bytes] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(payload, bytes):
            found[name] = payload
    return found

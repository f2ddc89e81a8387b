"""Background responses as OpenAI answers them: `/v1/responses`, and `/v1/models/{model}`."""

from typing import Any, ClassVar

from tests.servers.http import Request, Response, json_response
from tests.servers.job_reports import host, passages, placed, tracked
from tests.servers.jobs import Job, JobServer
from tests.servers.openai_forms import error_body, hints_of, said_of

CREATED = 1795262400
REFUSED = "I'm sorry, but I can't help with that."


class OpenAiJobs(JobServer):
    """Serve it, and give the client `base_url + "/v1"`."""

    path = "/v1/responses"
    well = "completed"
    under_way = ("queued", "in_progress")
    refuses: ClassVar[bool] = False

    def error(self, status: int, message: str, **more: Any) -> Response:
        return json_response(error_body(status, message, **more), status)

    def refusal(self, fault: str) -> Response:
        status, message, code = said_of(fault, self._key or "")
        response = self.error(status, message, code=code)
        response.headers = hints_of(fault, self.script.hint_seconds)
        return response

    def wrong_key(self, request: Request) -> Response | None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if given == self._key:
            return None
        return self.error(401, f"Incorrect API key provided: {given}.", code="invalid_api_key")

    def other(self, request: Request) -> Response | None:
        if request.method == "GET" and request.path.startswith("/v1/models/"):
            model = request.path.removeprefix("/v1/models/")
            if not self.exists(model):
                return self.error(404, f"The model '{model}' does not exist.")
            about = {"id": model, "object": "model", "created": CREATED, "owned_by": "system"}
            return json_response(about)
        return None

    def asked(self, body: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
        if body.get("background") is True and body.get("store") is False:
            raise ValueError("background needs store")
        earlier: tuple[str, ...] = ()
        if previous := body.get("previous_response_id"):
            earlier = self.jobs[previous].conversation
        name = (body.get("metadata") or {}).get("evergreen_job")
        return body["model"], (*earlier, *said_by_user(body["input"])), name

    def form(self, job: Job, word: str, text: str | None) -> dict[str, Any]:
        ended_well = text is not None and word == self.well
        return {
            "id": job.job_id,
            "object": "response",
            "created_at": CREATED,
            "status": word,
            "background": True,
            "model": f"{job.model}-2026-10-01",
            "error": {"code": "server_error", "message": "The model gave up."}
            if word == "failed" else None,
            "incomplete_details": {"reason": "max_output_tokens"}
            if word == "incomplete" else None,
            "instructions": None,
            "metadata": job.body.get("metadata") or {},
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": job.body.get("tools") or [],
            "top_p": 1.0,
            "previous_response_id": job.body.get("previous_response_id"),
            "output": [] if text is None else self._output(job, text, ended_well),
            "usage": None if text is None else _usage(text),
        }  # fmt: skip

    def _output(self, job: Job, text: str, whole: bool) -> list[dict[str, Any]]:
        if not whole:
            text = text[: len(text) // 2]
        urls = [passage.url for passage in passages(text) if passage.url]
        found = [{"type": "url", "url": tracked(url)} for url in urls]
        search = {"type": "search", "query": job.conversation[0][:40], "sources": found}
        looked = [{"type": "open_page", "url": url} for url in urls[:1]]
        looked += [{"type": "find_in_page", "url": url, "pattern": "1"} for url in urls[:1]]
        calls = [
            {"type": "web_search_call", "id": f"ws_{n}", "status": "completed", "action": action}
            for n, action in enumerate([search, *looked])
        ]
        thought = {"type": "summary_text", "text": "Where to begin?"}
        part = {"type": "refusal", "refusal": REFUSED} if self.refuses else self._part(text)
        return [
            {"type": "reasoning", "id": "rs_1", "summary": [thought]},
            *calls,
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed" if whole else "incomplete",
                "role": "assistant",
                "content": [part],
            },
        ]

    def _part(self, report: str) -> dict[str, Any]:
        """Links become `([host](address))`, each with a citation that covers it."""
        text, spans = "", list[tuple[int, int, str, str]]()
        for passage in passages(report):
            text += passage.text
            if passage.url:
                url = tracked(passage.url)
                start = len(text) + 1
                text += f" ([{host(url)}]({url}))"
                spans.append((start, len(text), url, passage.title or ""))
        annotations = [
            {"type": "url_citation", "url": url, "title": title}
            | placed(self.script.indexes, start, end, len(text))
            for start, end, url, title in spans
        ]
        return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


class RefusingOpenAi(OpenAiJobs):
    """Completes every response with a refusal."""

    refuses = True


def said_by_user(given: Any) -> list[str]:
    """What the user says in an `input`."""
    if isinstance(given, str):
        return [given]
    turns = [item for item in given if item["role"] == "user"]
    return [
        turn["content"]
        if isinstance(turn["content"], str)
        else "".join(part["text"] for part in turn["content"])
        for turn in turns
    ]


def _usage(text: str) -> dict[str, Any]:
    output = len(text) // 4
    return {
        "input_tokens": 90_000,
        "input_tokens_details": {"cached_tokens": 4_096, "cache_write_tokens": 0},
        "output_tokens": output + 2_000,
        "output_tokens_details": {"reasoning_tokens": 2_000},
        "total_tokens": output + 92_000,
    }

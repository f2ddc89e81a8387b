"""Perplexity's two interfaces: the Agent API, and the older asynchronous chat completions."""

from typing import Any

from tests.servers.http import Request, Response
from tests.servers.job_openai import CREATED, OpenAiJobs, said_by_user
from tests.servers.job_reports import passages, sources
from tests.servers.jobs import Job

PRESETS = frozenset({"fast", "low", "medium", "high", "xhigh"})
THOUGHTS = "<think>\nWhere to begin? [1] is no citation here.\n</think>\n\n"


class PerplexityJobs(OpenAiJobs):
    """The Agent API: a Responses API with items of its own. Serve it, and give its address."""

    path = "/v1/(?:responses|agent)"

    def wrong_key(self, request: Request) -> Response | None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        return None if given == self._key else self.error(401, "Invalid API key provided.")

    def other(self, request: Request) -> Response | None:
        return None

    def asked(self, body: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
        if body.get("preset") is not None and body["preset"] not in PRESETS:
            raise ValueError(f"no such preset: {body['preset']}")
        model = body.get("model") or f"preset-{body['preset']}"
        return model, tuple(said_by_user(body["input"])), None

    def form(self, job: Job, word: str, text: str | None) -> dict[str, Any]:
        whole: dict[str, Any] = {
            "id": job.job_id,
            "object": "response",
            "created_at": CREATED,
            "model": job.model,
            "status": word,
            "background": True,
            "output": [],
        }
        if word == "failed":
            whole["error"] = {"type": "internal", "message": "The agent gave up."}
        if text is None:
            return whole
        if word not in (self.well, "requires_action"):
            text = text[: len(text) // 2]
        return whole | {"output": self._items(job, text), "usage": _usage(text)}

    def _items(self, job: Job, report: str) -> list[dict[str, Any]]:
        results = _results(report)
        queries = [job.conversation[0][:40]]
        pages = [{k: r[k] for k in ("url", "title", "snippet")} for r in results[:1]]
        part = {"type": "output_text", "text": numbered(report), "annotations": []}
        return [
            {"type": "search_results", "queries": queries, "results": results[1:]},
            {"type": "search_results", "queries": ["more"], "results": results[:1]},
            {"type": "fetch_url_results", "contents": pages},
            {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
             "content": [part]},
        ]  # fmt: skip


class PerplexityAsyncJobs(PerplexityJobs):
    """The older interface. A request with a known `idempotency_key` makes no second job."""

    path = "/async/chat/completions"
    well = "COMPLETED"
    under_way = ("CREATED", "IN_PROGRESS")
    finish_reason: str | None = "stop"

    def same(self, name: str | None) -> Job | None:
        return next((job for job in self.jobs.values() if name and job.name == name), None)

    def asked(self, body: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
        asked = body["request"]
        return asked["model"], tuple(said_by_user(asked["messages"])), body.get("idempotency_key")

    def form(self, job: Job, word: str, text: str | None) -> dict[str, Any]:
        whole = {"id": job.job_id, "created_at": CREATED, "model": job.model, "status": word,
                 "response": None}  # fmt: skip
        if word == "FAILED":
            return whole | {"error_message": "The agent gave up.", "failed_at": CREATED}
        if text is None:
            return whole
        completion = _completion(job, text)
        completion["choices"][0]["finish_reason"] = self.finish_reason
        return whole | {"completed_at": CREATED, "response": completion}


def numbered(report: str) -> str:
    """Its links as `[n]`."""
    numbers = sources(report)
    return "".join(
        passage.text + (f" [{numbers[passage.url]}]" if passage.url else "")
        for passage in passages(report)
    )


def _results(report: str) -> list[dict[str, Any]]:
    titles = {passage.url: passage.title for passage in passages(report)}
    return [
        {"id": number, "title": titles[url], "url": url, "snippet": "…", "date": "2026-01-02"}
        for url, number in sources(report).items()
    ]


def _completion(job: Job, report: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": THOUGHTS + numbered(report)}
    results = _results(report)
    output = len(report) // 4
    return {
        "id": f"cc_{job.job_id}",
        "object": "chat.completion",
        "created": CREATED,
        "model": job.model,
        "choices": [{"index": 0, "message": message,
                     "delta": {"role": "assistant", "content": ""}}],
        "citations": [result["url"] for result in results],
        "search_results": [{k: r[k] for k in ("title", "url", "date")} for r in results],
        "usage": {
            "prompt_tokens": 40,
            "completion_tokens": output,
            "total_tokens": 40 + output,
            "citation_tokens": 18_000,
            "reasoning_tokens": 70_000,
            "num_search_queries": 21,
            "cost": {"input_tokens_cost": 0.0, "output_tokens_cost": 0.06,
                     "citation_tokens_cost": 0.04, "reasoning_tokens_cost": 0.21,
                     "search_queries_cost": 0.11, "total_cost": 0.42},
        },
    }  # fmt: skip


def _usage(text: str) -> dict[str, Any]:
    output = len(text) // 4
    return {
        "input_tokens": 60_000,
        "input_tokens_details": {"cache_read_input_tokens": 1_000},
        "output_tokens": output,
        "total_tokens": 60_000 + output,
        "tool_calls_details": {"web_search": {"invocation": 7}, "fetch_url": {"invocation": 3}},
        "cost": {"currency": "USD", "input_cost": 0.3, "output_cost": 0.08,
                 "tool_calls_cost": 0.035, "total_cost": 0.415},
    }  # fmt: skip

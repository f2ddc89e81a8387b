"""Perplexity's Agent API."""

from typing import Any

from tests.servers.http import Request, Response
from tests.servers.job_openai import CREATED, OpenAiJobs, said_by_user
from tests.servers.job_reports import passages, sources
from tests.servers.jobs import Job

EFFORTS = frozenset({"fast", "low", "medium", "high", "xhigh"})


class PerplexityJobs(OpenAiJobs):
    """The Agent API: a Responses API with items of its own. Serve it, and give its address."""

    path = "/v1/(?:responses|agent)"

    def wrong_key(self, request: Request) -> Response | None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        return None if given == self._key else self.error(401, "Invalid API key provided.")

    def other(self, request: Request) -> Response | None:
        return None

    def asked(self, body: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
        effort = body.get("effort") or body.get("preset")
        if effort is not None and effort not in EFFORTS:
            raise ValueError(f"no such effort: {effort}")
        model = body.get("model") or f"effort-{effort}"
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

"""Deep research as Google's Interactions API answers it: snake_case, citations in bytes.

Addresses of sources are redirects, as the real ones are; this server answers them too.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from tests.servers.gemini_forms import error_body, quota_details
from tests.servers.http import Request, Response, json_response
from tests.servers.job_reports import host, passages, placed, sources
from tests.servers.jobs import Job, JobServer

REDIRECT = "/grounding-api-redirect/"
CREATED = "2026-11-21T12:00:00Z"


class GeminiJobs(JobServer):
    """Serve it, and give the SDK its address as `base_url`."""

    path = "/(?:v1|v1beta)/interactions"
    well = "completed"
    under_way = ("queued", "in_progress")

    def __call__(self, request: Request) -> Response:
        if request.path.startswith(REDIRECT):  # pages need no key
            token = request.path.removeprefix(REDIRECT)
            url = urlsafe_b64decode(token.encode()).decode()
            return Response(302, headers=(("Location", url),))
        return super().__call__(request)

    def error(self, status: int, message: str, **more: Any) -> Response:
        return json_response(error_body(status, message, more.get("details")), status)

    def refusal(self, fault: str) -> Response:
        hint = self.script.hint_seconds
        status, message, details = quota_details(fault, hint, self._key or "")
        response = self.error(status, message, details=details)
        if fault == "rate_limit_retry_after":
            response.headers = (("Retry-After", f"{hint:g}"),)
        return response

    def wrong_key(self, request: Request) -> Response | None:
        if request.headers.get("x-goog-api-key") == self._key:
            return None
        reason = [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        ]
        return self.error(400, "API key not valid. Please pass a valid API key.", details=reason)

    def asked(self, body: dict[str, Any]) -> tuple[str, tuple[str, ...], str | None]:
        if body.get("background") is not True or body.get("store") is False:
            raise ValueError("an agent needs background=true and store=true")
        if body["agent_config"]["type"] != "deep-research":
            raise ValueError("agent_config is not one of deep research")
        earlier: tuple[str, ...] = ()
        if previous := body.get("previous_interaction_id"):
            earlier = self.jobs[previous].conversation
        return body["agent"], (*earlier, body["input"]), None

    def form(self, job: Job, word: str, text: str | None) -> dict[str, Any]:
        whole: dict[str, Any] = {
            "id": job.job_id,
            "object": "interaction",
            "agent": job.model,
            "status": word,
            "created": CREATED,
            "updated": CREATED,
        }
        if previous := job.body.get("previous_interaction_id"):
            whole["previous_interaction_id"] = previous
        if text is None:
            return whole
        ended_well = word in (self.well, "requires_action")
        if not ended_well:
            text = text[: len(text) // 2]
        whole |= {"steps": self._steps(job, text), "usage": _usage(text)}
        if word in ("failed", "budget_exceeded"):
            whole["errors"] = [{"code": "internal", "message": "The agent gave up."}]
        return whole

    def _steps(self, job: Job, report: str) -> list[dict[str, Any]]:
        urls = list(sources(report))
        call: dict[str, Any] = {"type": "google_search_call", "id": "c1"}
        opened = [{"url": url, "status": "success"} for url in urls[:1]]
        opened += [{"url": url, "status": "paywall"} for url in urls[1:2]]
        return [
            {"type": "user_input", "content": [{"type": "text", "text": job.conversation[-1]}]},
            {"type": "thought", "summary": [{"type": "text", "text": "Where to begin?"}]},
            call | {"arguments": {"queries": [job.conversation[0][:40], "second query"]}},
            {"type": "google_search_result", "call_id": "c1",
             "result": [{"search_suggestions": "<div/>"}]},
            {"type": "url_context_call", "id": "c2", "arguments": {"urls": urls[:2]}},
            {"type": "url_context_result", "call_id": "c2", "result": opened},
            {"type": "thought", "summary": []},
            {"type": "model_output", "content": self._parts(job, report)},
        ]  # fmt: skip

    def _parts(self, job: Job, report: str) -> list[dict[str, Any]]:
        """The heading, the rest with its citations, and a list of sources: a part each."""
        heading = (re.match(r"#[^\n]*\n+", report) or [""])[0]
        numbers = sources(report)
        text, annotations = "", list[dict[str, Any]]()
        for passage in passages(report[len(heading) :]):
            blank = len(passage.text) - len(passage.text.lstrip(" .\n"))
            start = len((text + passage.text[:blank]).encode())
            text += passage.text
            if passage.url:
                cited = {"type": "url_citation", "title": host(passage.url)}
                cited["url"] = _redirect(job, passage.url)
                inside = int(self.script.indexes == "inside")
                annotations.append(
                    cited | placed(self.script.indexes, start + inside, len(text.encode()), 10**6)
                )
                text += f" [cite: {numbers[passage.url]}]"
        parts: list[dict[str, Any]] = [{"type": "text", "text": heading}] if heading else []
        parts.append({"type": "text", "text": text, "annotations": annotations})
        listed = "".join(
            f"{number}. [{host(url)}]({_redirect(job, url)})\n" for url, number in numbers.items()
        )
        return [*parts, {"type": "text", "text": f"\n**Sources:**\n{listed}"}] if listed else parts


def _redirect(job: Job, url: str) -> str:
    return f"{job.origin}{REDIRECT}{urlsafe_b64encode(url.encode()).decode()}"


def _usage(text: str) -> dict[str, Any]:
    output = len(text) // 4
    return {
        "total_input_tokens": 300_000,
        "total_cached_tokens": 20_000,
        "total_output_tokens": output,
        "total_thought_tokens": 9_000,
        "total_tool_use_tokens": 50_000,
        "total_tokens": 359_000 + output,
        "grounding_tool_count": [
            {"type": "google_search", "count": 12},
            {"type": "google_maps", "count": 1},
        ],
    }

"""Gemini Deep Research: Google's Interactions API in the background, through google-genai.

The SDK's retries are turned off: by default it sends a request up to five times, and each buys a
report. Answers are stored as received, not as the SDK's types hold them.

The report is the final outputs, with nothing but thoughts between them. Citation offsets count
UTF-8 bytes within one part of the text; they are converted to characters of the whole text. Cited
addresses are Google's redirects, and the text may hold `[cite: 1, 2]` and its own list of sources;
both are left unchanged.
"""

import json
from collections.abc import Awaitable, Collection
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from tasks.agents.agent import AgentUsage, Annotation, JobAnswer, JobRequest, JobStatus
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.answers import (
    child,
    count,
    objects,
    parse_annotation,
    parse_object,
    string,
    strings,
    unexpected_object,
)
from tasks.agents.wire.http import CONFIGURED_IN
from tasks.agents.wire.polled_jobs import PolledClient
from tasks.models.client import classify_status, redact_key
from tasks.models.errors import ModelError
from tasks.warehouse.traces import SearchStep

if TYPE_CHECKING:
    import httpx
    from google.genai._interactions import APIStatusError

CONTINUATION_BYTES = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))
"""UTF-8 bytes that continue a character."""
Outcome = Literal["report", "question", "failed"]
AGENT_CONFIG = {
    "type": "deep-research",
    "thinking_summaries": "auto",
    "visualization": "off",
    "collaborative_planning": False,
}


class GeminiDeepResearchAsk(ApiAsk):
    provider_url = "https://generativelanguage.googleapis.com"
    kind: Literal["gemini_deep_research"]
    """Gemini's Interactions API in background mode; `model` is the agent's name."""


class GeminiResearchClient(PolledClient[ApiAsk]):
    end_states = frozenset(
        {"completed", "failed", "cancelled", "incomplete", "budget_exceeded", "requires_action"}
    )
    """Every other word, known (`queued`, `in_progress`, `requires_continuation`) or not, is waited
    for. `requires_action` waits for us: the deadline would pass."""

    def __init__(self, agent: str, ask: ApiAsk, key: str | None) -> None:
        import httpx
        from google import genai
        from google.genai import types

        from tasks.models.transport import build_timeout

        super().__init__(agent, ask, key)
        seconds = ask.limits.timeout_seconds
        client = genai.Client(
            api_key=key or "none",
            http_options=types.HttpOptions(
                base_url=None if self.base_url == ask.provider_url else self.base_url,
                timeout=round(seconds * 1000),
                httpx_async_client=httpx.AsyncClient(
                    transport=self._transport, timeout=build_timeout(seconds)
                ),
                retry_options=types.HttpRetryOptions(attempts=1),
            ),
        )
        self._interactions: Any = client.aio.interactions.with_raw_response

    def build_request(self, request: JobRequest) -> dict[str, Any]:
        """Build the request for a report: the SDK's arguments.

        `agent_config` in the parameters is merged into ours; any other field replaces ours.
        """
        fields: dict[str, Any] = {
            "agent": self.ask.model,
            "input": request.prompt,
            "background": True,
            "store": True,
            "agent_config": AGENT_CONFIG,
        }
        if request.previous_remote_id:
            fields["previous_interaction_id"] = request.previous_remote_id
        extra = dict(self.ask.parameters)
        if isinstance(given := extra.get("agent_config"), dict):
            extra["agent_config"] = AGENT_CONFIG | given
        return fields | {"extra_body": extra}

    async def _create_job(self, request: JobRequest) -> str:
        call = self._interactions.create(**self.build_request(request))
        return await self._read_body(call, buying=True)

    async def _get_job(self, remote_id: str) -> str:
        call = self._interactions.get(quote(remote_id, safe=""))
        return await self._read_body(call, buying=False)

    async def _read_body(self, call: Awaitable[Any], *, buying: bool) -> str:
        """Await an SDK call and return the body of the answer, unparsed."""
        from google.genai._interactions import APIStatusError

        from tasks.models.gemini import classify_sdk_error

        try:
            response: httpx.Response = (await call).http_response
        except APIStatusError as error:
            raise self._sdk_error(error, buying=buying) from None
        except Exception as error:
            raise classify_sdk_error(error, self._key, billable=buying) from None
        if not response.is_success:  # the SDK treats a redirect as an answer
            raise classify_status(response.status_code, "", {}, self.agent, CONFIGURED_IN)
        return response.text

    def _sdk_error(self, error: "APIStatusError", *, buying: bool) -> ModelError:
        from tasks.models.gemini import classify_google_error

        code, headers = error.response.status_code, error.response.headers
        text = string(child(error.body, "error", "message")) or str(error.body or error)
        message = redact_key(text, self._key)
        known = classify_google_error(code, message, error.body, headers, self.agent, CONFIGURED_IN)
        return known or self._classify_status(code, message, headers, buying=buying)

    def _parse_status(self, answer: str, remote_id: str | None) -> JobStatus | None:
        """Return the job's status, with the answer as received."""
        try:
            status = super()._parse_status(json.loads(answer), remote_id)
        except (ValueError, RecursionError):
            return None
        if status is None or not status.ended:
            return status
        return status.model_copy(update={"raw": redact_key(answer, self._key)})


def read(raw: str) -> JobAnswer:
    """Read an interaction that has ended.

    Raises:
        UnreadableJobAnswer: `raw` is not an interaction.
    """
    name = "an interaction of Gemini's Interactions API"
    body = parse_object(raw, name)
    if "status" not in body and "steps" not in body:
        raise unexpected_object(body, f"{name} with `status` and `steps`")
    steps = objects(body.get("steps"))
    text, annotations = _extract_report(steps)
    text = text or string(body.get("output_text")) or ""  # as the SDK sums up the steps
    outcome, problem = _parse_outcome(body, text)
    n_thoughts = sum(step.get("type") == "thought" for step in steps)
    return JobAnswer(
        outcome=outcome,
        silent=body.get("status") == "completed" and not text.strip(),
        text=text,
        annotations=annotations,
        trace=_parse_trace(steps),
        n_reasoning_steps=n_thoughts if isinstance(body.get("steps"), list) else None,
        model_version=string(body.get("model")) or string(body.get("agent")),
        usage=_parse_usage(body.get("usage")),
        error=problem,
    )


def byte_to_character_offsets(text: str, offsets: Collection[int]) -> dict[int, int]:
    """Convert offsets in UTF-8 bytes to offsets in characters; invalid offsets are left out."""
    data = text.encode("utf-8", "surrogatepass")
    found: dict[int, int] = {}
    at = n_before = 0
    for offset in sorted(offsets):
        if not 0 <= offset <= len(data) or data[offset : offset + 1] in CONTINUATION_BYTES:
            continue
        n_before += len(data[at:offset].decode("utf-8", "surrogatepass"))
        at = offset
        found[offset] = n_before
    return found


def _extract_report(steps: list[dict[str, Any]]) -> tuple[str, tuple[Annotation, ...]]:
    text, annotations = "", list[Annotation]()
    for part in _find_final_parts(steps):
        written = string(part.get("text")) or ""
        annotations += _parse_annotations(part, written, len(text))
        text += written
    return text, tuple(annotations)


def _find_final_parts(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the text parts of the final outputs, in order."""
    found: list[list[dict[str, Any]]] = []
    for step in reversed(steps):
        kind = step.get("type")
        if kind == "model_output":
            found.append([p for p in objects(step.get("content")) if p.get("type") == "text"])
        elif kind == "user_input" or (kind != "thought" and any(found)):
            break
    return [part for parts in reversed(found) for part in parts]


def _parse_annotations(part: dict[str, Any], written: str, offset: int) -> list[Annotation]:
    """Return the citations of one part. offset: the length of the text before it."""
    cited = [a for a in objects(part.get("annotations")) if string(a.get("url"))]
    indexes = [(count(a.get("start_index")), count(a.get("end_index"))) for a in cited]
    known = {index for both in indexes for index in both if index is not None}
    places = byte_to_character_offsets(written, known)
    found = []
    for annotation, (first, last) in zip(cited, indexes, strict=True):
        start = None if first is None else places.get(first)
        end = None if last is None else places.get(last)
        span = None if start is None or end is None or start > end else (start, end)
        found.append(parse_annotation(annotation, annotation["url"], span, offset))
    return found


def _parse_outcome(body: dict[str, Any], text: str) -> tuple[Outcome, str | None]:
    """Return the outcome, and why there is no report."""
    status = string(body.get("status")) or "no status"
    if status == "requires_action" and text.strip():
        return "question", None
    if status != "completed":
        words = [
            ": ".join(filter(None, [string(error.get("code")), string(error.get("message"))]))
            for error in [*objects(body.get("errors")), *objects([body.get("error")])]
        ]
        return "failed", ": ".join([status, *filter(None, ["; ".join(filter(None, words))])])
    return ("report", None) if text.strip() else ("failed", "completed, but without text")


def _parse_trace(steps: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """Return the queries and opened pages in order; which search found a page is not known."""
    answered = {
        str(step.get("call_id")) for step in steps if step.get("type") == "url_context_result"
    }
    trace: list[SearchStep] = []
    for step in steps:
        kind = step.get("type")
        if kind == "google_search_call":
            trace += [SearchStep(query=q) for q in strings(child(step, "arguments", "queries"))]
        elif kind == "url_context_call" and str(step.get("id")) not in answered:
            trace += _opened_step(strings(child(step, "arguments", "urls")))
        elif kind == "url_context_result":
            results = objects(step.get("result"))
            trace += _opened_step(
                strings([r.get("url") for r in results if r.get("status", "success") == "success"])
            )
    return tuple(trace)


def _opened_step(urls: list[str]) -> list[SearchStep]:
    return [SearchStep(opened=tuple(urls))] if urls else []


def _parse_usage(usage: Any) -> AgentUsage:
    """Return the usage; tokens that tools add to the prompt count as input, as they are billed."""
    inputs = [
        count(child(usage, "total_input_tokens")),
        count(child(usage, "total_tool_use_tokens")),
    ]
    searches = [
        count(tool.get("count"))
        for tool in objects(child(usage, "grounding_tool_count"))
        if tool.get("type") == "google_search"
    ]
    return AgentUsage(
        input_tokens=_sum_known(inputs),
        cached_tokens=count(child(usage, "total_cached_tokens")),
        output_tokens=count(child(usage, "total_output_tokens")),
        reasoning_tokens=count(child(usage, "total_thought_tokens")),
        searches=_sum_known(searches),
    )


def _sum_known(numbers: list[int | None]) -> int | None:
    """Return the sum of the known numbers; None if none is known."""
    known = [number for number in numbers if number is not None]
    return count(sum(known)) if known else None


KIND = AgentKind(GeminiDeepResearchAsk, GeminiResearchClient, read)

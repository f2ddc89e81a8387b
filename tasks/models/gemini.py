"""Gemini's generateContent, through google-genai.

The SDK takes 2.5 to 4 ms of CPU time to convert a request, far more than sending it takes. So it
writes one for all calls of a prompt, which is sent with the messages of each.

The SDK's retries, which ignore the server's hints, its automatic continuation and its function
calling are off; timeouts are set, because by default it waits forever.
"""

import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

import httpx
import orjson
from google import genai
from google.genai import errors, types

from tasks.models.attachments import Attachment, fence_attachments
from tasks.models.client import (
    CONFIGURED_IN,
    NO_CREDIT,
    catch_parse_errors,
    classify_status,
    parse_json,
    parse_retry_after,
    redact_key,
)
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, TransientError
from tasks.models.exchange import Finish, ModelRequest, Reply, TokenUsage, parse_schema
from tasks.models.transport import MAX_RESPONSE_BYTES, ModelTransport, classify_send_error

ResultT = TypeVar("ResultT")
BLOCK_REASONS = frozenset(
    {
        "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
        "MODEL_ARMOR", "IMAGE_SAFETY", "JAILBREAK", "ESCALATION",
    }
)  # fmt: skip
"""Values of `finishReason` and `blockReason` for a withheld answer."""
TRUNCATION_REASONS = frozenset({"MAX_TOKENS", "CONTINUATION"})
COMPLETION_REASONS = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
HARM_CATEGORIES = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


class _Written(Exception):
    """A request (its only argument) that the SDK has written and would send."""


def _stop(request: httpx.Request) -> httpx.Response:
    raise _Written(request)


class GeminiClient:
    """A client for one key and address, with up to `connections` concurrent calls."""

    max_answer_bytes = MAX_RESPONSE_BYTES

    def __init__(
        self, key: str, *, base_url: str | None, connections: int, timeout_seconds: float
    ) -> None:
        """Create the client; no connection is opened yet.

        Raises:
            Misconfigured: the address is invalid.
        """
        try:
            httpx.URL(base_url or "")  # the SDK's error would look like a garbled answer
        except httpx.InvalidURL as error:
            raise classify_send_error(error, billable=False) from None
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._transport = ModelTransport(connections, self.max_answer_bytes)
        self._client = genai.Client(
            api_key=key,
            http_options=types.HttpOptions(
                base_url=base_url,
                timeout=round(timeout_seconds * 1000),
                httpx_client=httpx.Client(transport=httpx.MockTransport(_stop)),
                httpx_async_client=httpx.AsyncClient(transport=self._transport),
            ),
        )
        self._written: dict[tuple[Any, ...], tuple[str, dict[str, str], dict[str, Any]]] = {}

    async def ask(self, request: ModelRequest) -> Reply:
        started = time.monotonic()
        contents = build_contents(request)
        reply = parse_response(await self._call_api(self._send(request, contents), request.model))
        return reply.model_copy(update={"latency_seconds": time.monotonic() - started})

    async def close(self) -> None:
        await self._transport.aclose()

    async def _send(self, request: ModelRequest, contents: list[Any]) -> Any:
        prompt = request.model, request.system, request.parameters, request.reply_schema
        if prompt not in self._written:
            self._written[prompt] = self._write(request)
        url, headers, settings = self._written[prompt]
        body = orjson.dumps({"contents": contents, **settings}, default=_encode_file)
        response = await self._transport.request(
            "POST", url, headers, self._timeout_seconds, content=body
        )
        await errors.APIError.raise_for_async_response(response)
        return parse_json(response)

    def _write(self, request: ModelRequest) -> tuple[str, dict[str, str], dict[str, Any]]:
        """Return address, headers and body of what the SDK would send; the body has no messages."""
        config = build_generation_config(request)
        try:
            self._client.models.generate_content(model=request.model, contents="-", config=config)
            raise AssertionError("google-genai has sent a request by another client than ours")
        except _Written as written:
            sent: httpx.Request = written.args[0]
        body = orjson.loads(sent.content)
        del body["contents"], sent.headers["Content-Length"]
        return str(sent.url), dict(sent.headers), body

    async def _call_api(self, call: Awaitable[ResultT], what: str) -> ResultT:
        try:
            return await call
        except errors.APIError as error:
            raise self._to_error(error, what) from None
        except Exception as error:
            raise classify_sdk_error(error, self._key) from None

    def _to_error(self, error: errors.APIError, model: str) -> ModelError:
        message = redact_key(str(error.message or error.details), self._key)
        headers = getattr(error.response, "headers", None) or {}
        code = error.code or 0
        known = classify_google_error(code, message, error.details, headers, model, CONFIGURED_IN)
        return known or classify_status(code, message, headers, model)


def classify_google_error(
    code: int,
    message: str,
    body: Any,
    headers: Mapping[str, str],
    model: str,
    configured_in: str,
) -> ModelError | None:
    """Return the error for what Google says in its own way: a 429, a wrong key; None for the rest.

    configured_in: the file that names the model, for messages.
    """
    if code == 429 and not NO_CREDIT.search(message):
        return classify_rate_limit(message, parse_error_details(body), headers)
    if code == 400 and "API_KEY_INVALID" in str(body):
        return Misconfigured(
            f"{model}: the key is not accepted ({message[:200]}). Check the variable that "
            f"`{configured_in}` names for it."
        )
    return None


def classify_sdk_error(error: Exception, key: str | None, *, billable: bool = True) -> Exception:
    """Return the error for any exception of the SDK that is not an API error.

    The transport has already classified the errors below it.
    """
    if isinstance(error, ModelError):
        return error
    unread = isinstance(error, UnicodeDecodeError)
    if isinstance(error, httpx.InvalidURL | UnicodeError) and not unread:  # nothing was sent
        return classify_send_error(error, billable=False)
    said = redact_key(f"{type(error).__name__}: {error}", key)[:200]
    return TransientError(
        f"the answer is not Gemini's JSON ({said})", "garbled", maybe_billed=billable
    )


def build_contents(request: ModelRequest) -> list[Any]:
    """Convert messages to Gemini's form; files go before the text of the first."""
    files = [_build_part(piece) for piece in fence_attachments(request.attachments)]
    turns = [{"parts": [_build_part(turn.text)], "role": turn.role} for turn in request.messages]
    turns[0]["parts"] = [*files, _build_part(request.messages[0].text)]
    return turns


def _build_part(piece: str | Attachment) -> dict[str, Any]:
    """Return a text or a file as a part of a message."""
    if isinstance(piece, str):
        return {"text": piece}
    return {"inlineData": {"data": piece.content(), "mime_type": piece.media_type}}


def _encode_file(content: bytes) -> str:
    return urlsafe_b64encode(content).decode()  # as the SDK does


def build_generation_config(request: ModelRequest) -> types.GenerateContentConfig:
    """Build the generation settings: JSON by schema, no filters, no continuation."""
    asked = request.parameters
    thinking: dict[str, Any] = {}
    if asked.thinking_budget is not None:
        thinking["thinking_budget"] = asked.thinking_budget
    if asked.thinking_level is not None:
        thinking["thinking_level"] = asked.thinking_level.upper()
    return types.GenerateContentConfig(
        system_instruction=request.system,
        temperature=asked.temperature,
        top_p=asked.top_p,
        seed=asked.seed,
        max_output_tokens=asked.max_output_tokens,
        response_mime_type="application/json",
        response_json_schema=parse_schema(request.reply_schema),
        thinking_config=types.ThinkingConfig(**thinking) if thinking else None,
        safety_settings=[
            types.SafetySetting(category=category, threshold="BLOCK_NONE")
            for category in HARM_CATEGORIES
        ],
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


def parse_response(answer: Any, delivery: str = "live") -> Reply:
    """Parse the JSON of a response.

    Raises:
        TransientError: it has neither a candidate nor a block reason, or an unexpected form.
    """
    with catch_parse_errors("the answer is not Gemini's JSON"):
        return _build_reply(answer, delivery)


def _build_reply(answer: dict[str, Any], delivery: str) -> Reply:
    candidates, blocked = answer.get("candidates"), answer.get("promptFeedback") or {}
    candidate = candidates[0] if candidates else None
    if candidate is None and not blocked.get("blockReason"):
        raise TransientError("an empty answer (no candidate)", "garbled", maybe_billed=True)
    reason = blocked["blockReason"] if candidate is None else candidate.get("finishReason")
    parts = ((candidate or {}).get("content") or {}).get("parts") or ()
    text = "".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))
    word = str(reason) if reason else None
    finish = _classify_finish(word, text, blocked=candidate is None)
    return Reply(
        finish=finish,
        text=text,
        stop_reason=word,
        usage=_parse_usage(answer.get("usageMetadata") or {}),
        model_version=answer.get("modelVersion"),
        response_id=answer.get("responseId"),
        raw=None if finish == "ok" else json.dumps(answer, ensure_ascii=False),
        delivery=delivery,
    )


def _classify_finish(word: str | None, text: str, *, blocked: bool) -> Finish:
    if blocked or word in BLOCK_REASONS:
        return "blocked"
    if word in TRUNCATION_REASONS:
        return "truncated"
    if not text:
        return "empty"
    return "ok" if word is None or word in COMPLETION_REASONS else "truncated"


def _parse_usage(said: dict[str, Any]) -> TokenUsage:
    if not said:
        return TokenUsage()
    return TokenUsage(
        prompt=said.get("promptTokenCount"),
        cached=said.get("cachedContentTokenCount") or 0,
        output=said.get("candidatesTokenCount") or 0,
        thinking=said.get("thoughtsTokenCount") or 0,
    )


def parse_error_details(body: Any) -> list[dict[str, Any]]:
    """Return the details in the body of a Google API error; empty if there are none."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return _filter_objects(details)


def _filter_objects(said: Any) -> list[dict[str, Any]]:
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


def classify_rate_limit(
    message: str, details: list[dict[str, Any]], headers: Mapping[str, str]
) -> ModelError:
    """Return the error for a 429: transient, or QuotaExhausted for a daily quota."""
    quotas = [
        str(violation.get("quotaId"))
        for detail in details
        for violation in _filter_objects(detail.get("violations"))
    ]
    if any("PerDay" in quota for quota in quotas):
        return QuotaExhausted(
            f"Gemini's daily quota is used up ({', '.join(quotas)}). Answers so far are kept; "
            "run again tomorrow, or raise the quota."
        )
    delays = [_DELAY.fullmatch(str(detail.get("retryDelay"))) for detail in details]
    hints = [float(found[1]) for found in delays if found]
    if (header := parse_retry_after(headers)) is not None:
        hints.append(header)
    return TransientError(
        f"HTTP 429: {message[:300]}",
        "rate_limit",
        hint_seconds=max(hints, default=None),
        code=429,
    )

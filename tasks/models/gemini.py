"""Gemini's generateContent.

Live calls do without google-genai, which would take five times as long to convert a request as to
send it; batches go through it (`gemini_batch`).
"""

import json
import re
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpx
import orjson

from tasks.models.attachments import Attachment, fence_attachments
from tasks.models.client import (
    CONFIGURED_IN,
    NO_CREDIT,
    catch_parse_errors,
    classify_status,
    parse_error,
    parse_json,
    parse_retry_after,
    redact_key,
)
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, TransientError
from tasks.models.exchange import Finish, ModelRequest, Reply, TokenUsage, parse_schema
from tasks.models.transport import MAX_RESPONSE_BYTES, ModelTransport, classify_send_error

BASE_URL = "https://generativelanguage.googleapis.com"
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


class GeminiClient:
    """A client for one key and address, with up to `connections` concurrent calls."""

    max_answer_bytes = MAX_RESPONSE_BYTES

    def __init__(
        self, key: str, *, base_url: str | None, connections: int, timeout_seconds: float
    ) -> None:
        self._url = f"{(base_url or BASE_URL).rstrip('/')}/v1"
        self._key = key
        self._headers = {
            "Content-Type": "application/json",
            "x-goog-api-key": key,
            "x-server-timeout": str(round(timeout_seconds)),
        }
        self._transport = ModelTransport(connections, self.max_answer_bytes)
        self._timeout_seconds = timeout_seconds

    async def ask(self, request: ModelRequest) -> Reply:
        started = time.monotonic()
        response = await self._transport.request(
            "POST", f"{self._url}/{name_model(request.model)}:generateContent", self._headers,
            self._timeout_seconds, content=orjson.dumps(build_body(request)),
        )  # fmt: skip
        if not response.is_success:
            raise self._classify(response, request.model)
        reply = parse_response(parse_json(response))
        return reply.model_copy(update={"latency_seconds": time.monotonic() - started})

    async def close(self) -> None:
        await self._transport.aclose()

    def _classify(self, response: httpx.Response, model: str) -> ModelError:
        message, body = redact_key(parse_error(response)[0], self._key), None
        with suppress(ValueError, RecursionError):
            body = response.json()
        code, headers = response.status_code, response.headers
        known = classify_google_error(code, message, body, headers, model, CONFIGURED_IN)
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


def name_model(model: str) -> str:
    """Return a model's name as it stands in addresses."""
    return model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"


def build_body(request: ModelRequest) -> dict[str, Any]:
    """Build the body of a request: JSON by schema, no filters; files go before the text of the
    first message."""
    asked = request.parameters
    turns = [{"role": turn.role, "parts": [{"text": turn.text}]} for turn in request.messages]
    files = [_build_part(piece) for piece in fence_attachments(request.attachments)]
    turns[0]["parts"] = [*files, {"text": request.messages[0].text}]
    thinking = {
        "thinkingBudget": asked.thinking_budget,
        "thinkingLevel": asked.thinking_level and asked.thinking_level.upper(),
    }
    settings = {
        "temperature": asked.temperature,
        "topP": asked.top_p,
        "seed": asked.seed,
        "maxOutputTokens": asked.max_output_tokens,
        "responseMimeType": "application/json",
        "responseJsonSchema": parse_schema(request.reply_schema),
        "thinkingConfig": _leave_unset(thinking) or None,
    }
    return {
        "contents": turns,
        "systemInstruction": {"role": "user", "parts": [{"text": request.system}]},
        "safetySettings": [
            {"category": category, "threshold": "BLOCK_NONE"} for category in HARM_CATEGORIES
        ],
        "generationConfig": _leave_unset(settings),
    }


def _build_part(piece: str | Attachment) -> dict[str, Any]:
    """Return a text or a file as a part of a message."""
    if isinstance(piece, str):
        return {"text": piece}
    data = b64encode(piece.content()).decode()
    return {"inlineData": {"mimeType": piece.media_type, "data": data}}


def _leave_unset(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


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

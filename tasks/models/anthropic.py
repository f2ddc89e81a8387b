"""Anthropic's Messages API with structured output.

Prompts are cached only up to marks. Writing costs 1.25 times the input and reading a tenth of it:
a mark pays if another request begins alike within five minutes. Marked are the system prompt, which
all calls of a step share (if it is too short to be cached, nothing is written or billed), and what
several calls about one report share (`ModelRequest.shared_chars`). The API's automatic mark, at the
end of a prompt, is not used: no other request has all of it, so that each would pay for writing it.
"""

import json
import time
from base64 import b64encode
from typing import Any

import orjson

from tasks.models.answer_metadata import classify_finish, count_cache_writes
from tasks.models.attachments import PDF, Attachment, fence_attachments
from tasks.models.client import catch_parse_errors, read_answer
from tasks.models.exchange import Finish, ModelRequest, Reply, TokenUsage
from tasks.models.transport import MAX_RESPONSE_BYTES, ModelTransport

API_VERSION = "2026-10-21"
CACHED = {"cache_control": {"type": "ephemeral"}}
REFUSED_KEYWORDS = frozenset(
    {"minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "default"}
)
"""Of JSON Schema. Structured output refuses them; the judge validates the answer in any case."""


class MessagesClient:
    """A client for one key and address, with up to `connections` concurrent calls."""

    max_answer_bytes = MAX_RESPONSE_BYTES

    def __init__(
        self, base_url: str, key: str | None, *, connections: int, timeout_seconds: float
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/v1/messages"
        self._key = key
        self._headers = {"Content-Type": "application/json", "anthropic-version": API_VERSION}
        self._headers |= {"x-api-key": key} if key else {}
        self._transport = ModelTransport(connections, self.max_answer_bytes)
        self._timeout_seconds = timeout_seconds

    async def ask(self, request: ModelRequest) -> Reply:
        started = time.monotonic()
        response = await self._transport.request(
            "POST", self._url, self._headers, self._timeout_seconds,
            content=orjson.dumps(build_message_body(request)),
        )  # fmt: skip
        answer = read_answer(response, self._key, request.model)
        with catch_parse_errors("the answer is no message of Anthropic's API"):
            reply = parse_message(answer)
        return reply.model_copy(update={"latency_seconds": time.monotonic() - started})

    async def close(self) -> None:
        await self._transport.aclose()


def build_message_body(request: ModelRequest) -> dict[str, Any]:
    """Build the body of a request."""
    asked, schema = request.parameters, restrict_schema(request.reply_schema)
    effort = {"effort": asked.thinking_level} if asked.thinking_level else {}
    sampling = asked.model_dump(include={"temperature", "top_p", "seed"}, exclude_none=True)
    messages: list[dict[str, Any]] = [
        {"role": "assistant" if turn.role == "model" else "user", "content": turn.text}
        for turn in request.messages
    ]
    messages[0]["content"] = _build_first_content(request)
    body = sampling | {
        "model": request.model,
        "max_tokens": asked.max_output_tokens,
        "system": [_build_block(request.system) | CACHED],
        "messages": messages,
        "output_config": {"format": {"type": "json_schema", "schema": schema}, **effort},
    }
    if asked.thinking_budget is not None:
        budget = {"type": "enabled", "budget_tokens": asked.thinking_budget}
        body["thinking"] = budget if asked.thinking_budget else {"type": "disabled"}
    return body


def _build_first_content(request: ModelRequest) -> list[dict[str, Any]]:
    text, end = request.messages[0].text, request.shared_chars
    blocks = [_build_block(piece) for piece in fence_attachments(request.attachments)]
    if 0 < end < len(text):
        blocks.append(_build_block(text[:end]) | CACHED)
        text = text[end:]
    return [*blocks, _build_block(text)]


def _build_block(piece: str | Attachment) -> dict[str, Any]:
    """Return a text or a file as a block of content."""
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    data = b64encode(piece.content()).decode()
    source = {"type": "base64", "media_type": piece.media_type, "data": data}
    return {"type": "document" if piece.media_type == PDF else "image", "source": source}


def restrict_schema(text: str) -> Any:
    """Parse a schema, without the keywords that structured output refuses."""

    def restrict(part: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in part.items()
            if name not in REFUSED_KEYWORDS or isinstance(value, dict)  # a property of that name
        }

    return json.loads(text, object_hook=restrict)


def parse_message(answer: Any) -> Reply:
    """Parse a message; any error means that it has another form."""
    blocks, reason = answer["content"], answer.get("stop_reason")
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    inputs = [block["input"] for block in blocks if block["type"] == "tool_use"]
    is_input = not text.strip() and len(inputs) == 1  # a gateway made a tool of the schema
    text = json.dumps(inputs[0], ensure_ascii=False) if is_input else text
    finish = _classify_finish("end_turn" if is_input and reason == "tool_use" else reason, text)
    return Reply(
        finish=finish,
        text=text,
        stop_reason=reason,
        usage=_parse_usage(answer.get("usage")),
        model_version=answer.get("model"),
        response_id=answer.get("id"),
        raw=None if finish == "ok" else json.dumps(answer, ensure_ascii=False),
    )


def _classify_finish(reason: str | None, text: str) -> Finish:
    ending = classify_finish(reason)
    if ending == "filtered":
        return "refused"
    if ending == "cut":
        return "truncated"
    if not text.strip():
        return "empty"
    return "ok" if ending == "whole" else "truncated"  # `pause_turn`, or an unknown reason


def _parse_usage(said: Any) -> TokenUsage:
    """Parse token counts. `input_tokens` excludes what was read from a cache or written to it."""
    if not isinstance(said, dict):
        return TokenUsage()
    cached, written = said.get("cache_read_input_tokens") or 0, count_cache_writes(said)
    thinking = (said.get("output_tokens_details") or {}).get("thinking_tokens") or 0
    fresh, output = said.get("input_tokens"), said.get("output_tokens")
    return TokenUsage(
        prompt=None if fresh is None else fresh + cached + written.get("cache_write_tokens", 0),
        cached=cached,
        output=None if output is None else max(0, output - thinking),
        thinking=thinking,
        **written,
    )

"""Endpoints with OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, OpenRouter.

Not all of them take a JSON schema. The first request probes the endpoint: a schema, else JSON with
the schema as a hint, else the schema in words; the client then keeps to what worked. The judge
validates the answer in any case.
"""

import asyncio
import json
import time
from base64 import b64encode
from typing import Any

import orjson

from tasks.models.answer_metadata import (
    Ending,
    classify_finish,
    count_cache_writes,
    count_cached,
    count_tokens,
)
from tasks.models.attachments import PDF, Attachment, fence_attachments
from tasks.models.client import catch_parse_errors, read_answer
from tasks.models.errors import RequestRejected, TransientError
from tasks.models.exchange import Finish, ModelRequest, Reply, TokenUsage, parse_schema
from tasks.models.transport import MAX_RESPONSE_BYTES, ModelTransport

RESPONSE_FORMATS = ("json_schema", "json_object", "prompt")
"""Ways to request JSON, the strictest first."""
UNSUPPORTED_CODES = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses with which endpoints refuse an unknown response format."""
PROBE_PAUSES = (0.0, 0.5, 1.0)
"""Seconds before each try of a response format, while the answer is 500."""
MAX_BYTES_PER_TOKEN = 16
"""A prompt with more bytes per reported token than this was cut by the server."""


class OpenAiChatClient:
    """A client for one key and address, with up to `connections` concurrent calls."""

    max_answer_bytes = MAX_RESPONSE_BYTES

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        connections: int,
        timeout_seconds: float,
        token_limit_field: str = "max_completion_tokens",
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._key_header = {"Authorization": f"Bearer {key}"} if key else {}
        self._transport = ModelTransport(connections, self.max_answer_bytes)
        self._timeout_seconds = timeout_seconds
        self._limit_field = token_limit_field
        self._format: str | None = None
        self._probe_lock = asyncio.Lock()

    async def ask(self, request: ModelRequest) -> Reply:
        if self._format is None:
            async with self._probe_lock:
                if self._format is None:
                    return await self._probe(request)
        return await self._send_once(request, self._format)

    async def close(self) -> None:
        await self._transport.aclose()

    async def _probe(self, request: ModelRequest) -> Reply:
        """Send a request with each response format until one is accepted.

        A 500 may be a passing fault, so only three in a row count.
        """
        first_error: RequestRejected | TransientError | None = None
        for response_format in RESPONSE_FORMATS:
            for pause in PROBE_PAUSES:
                await asyncio.sleep(pause)
                try:
                    reply = await self._send_once(request, response_format)
                except (RequestRejected, TransientError) as error:
                    if error.code not in UNSUPPORTED_CODES:
                        raise
                    first_error = first_error or error
                    if error.code < 500:
                        break
                else:
                    self._format = response_format
                    return reply
        assert first_error is not None
        raise first_error

    async def _send_once(self, request: ModelRequest, response_format: str) -> Reply:
        started = time.monotonic()
        body = orjson.dumps(build_chat_body(request, response_format, self._limit_field))
        headers = {"Content-Type": "application/json", **self._key_header}
        response = await self._transport.request(
            "POST", f"{self._base_url}/chat/completions", headers, self._timeout_seconds,
            content=body,
        )  # fmt: skip
        answer = read_answer(response, self._key, request.model)
        reply = parse_completion(answer, request, f"live {response_format}")
        return reply.model_copy(update={"latency_seconds": time.monotonic() - started})


def build_chat_body(
    request: ModelRequest, response_format: str, limit_field: str
) -> dict[str, Any]:
    """Build the body of a chat completion request."""
    asked = request.parameters
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}]
    messages += [
        {"role": "assistant" if each.role == "model" else "user", "content": each.text}
        for each in request.messages
    ]
    if request.attachments:
        pieces = (*fence_attachments(request.attachments), request.messages[0].text)
        messages[1]["content"] = [_build_part(piece) for piece in pieces]
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        limit_field: asked.max_output_tokens,
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "seed": asked.seed,
        "reasoning_effort": asked.thinking_level,
    }
    schema = parse_schema(request.reply_schema)
    if response_format == "json_schema":
        named = {"name": request.reply_name, "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif response_format == "json_object":
        body["response_format"] = {"type": "json_object", "schema": schema}
    if response_format != "json_schema":
        messages[0]["content"] += (
            "\n\nAnswer with one JSON object by this JSON Schema and nothing else:\n"
            + request.reply_schema
        )
    return {name: value for name, value in body.items() if value is not None}


def _build_part(piece: str | Attachment) -> dict[str, Any]:
    """Return a text or a file as a part of a message's content."""
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    url = f"data:{piece.media_type};base64,{b64encode(piece.content()).decode()}"
    if piece.media_type == PDF:
        return {"type": "file", "file": {"filename": "article.pdf", "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def parse_completion(answer: Any, request: ModelRequest, delivery: str) -> Reply:
    """Parse a chat completion.

    Raises:
        TransientError: it has no choice, or an unexpected form.
        RequestRejected: the server silently cut the prompt.
    """
    with catch_parse_errors("the answer is no chat completion"):
        return _build_reply(answer, request, delivery)


def _build_reply(answer: Any, request: ModelRequest, delivery: str) -> Reply:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise TransientError("an empty answer (no choice)", "garbled", maybe_billed=True)
    usage = _parse_usage(answer.get("usage"), answer.get("timings"))
    if usage.prompt and usage.prompt * MAX_BYTES_PER_TOKEN < request.text_bytes:
        raise RequestRejected(
            f"the server read {usage.prompt} tokens of a prompt of {request.text_bytes:,} "
            "bytes: it cut the prompt. Raise its context size.",
            200,
        )
    message = choice.get("message") or {}
    text = _join_content(message.get("content"))
    text = text if text.strip() else _read_tool_call(message) or text
    refused, reason = message.get("refusal"), choice.get("finish_reason")
    finish = _classify_finish(reason, text, refused)
    if finish == "empty" and (message.get("reasoning_content") or message.get("reasoning")):
        reason = f"{reason}: it answered only in its reasoning, which is not read"
    return Reply(
        finish=finish,
        text=text,
        stop_reason=refused or reason,
        usage=usage,
        model_version=answer.get("model"),
        response_id=answer.get("id"),
        raw=None if finish == "ok" else json.dumps(answer, ensure_ascii=False),
        delivery=delivery,
    )


def _join_content(content: Any) -> str:
    """Return the text of a message: a string, or a list of parts, of which thoughts are left
    out."""
    if not isinstance(content, list):
        return content or ""
    texts = [part.get("text") for part in content if part.get("type", "text").endswith("text")]
    return "".join(text for text in texts if isinstance(text, str))


def _read_tool_call(message: dict[str, Any]) -> str:
    """Return the arguments of the only tool call: some gateways turn a reply schema into a
    tool."""
    calls = [call.get("function") or {} for call in message.get("tool_calls") or ()]
    calls = calls or [message.get("function_call") or {}]
    given = calls[0].get("arguments") if len(calls) == 1 else None
    return json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else given or ""


FINISHES: dict[Ending | None, Finish] = {"cut": "truncated", "filtered": "blocked"}


def _classify_finish(reason: str | None, text: str, refused: str | None) -> Finish:
    """Of an answer with any other reason its form decides whether it is whole."""
    if refused:
        return "refused"
    return FINISHES.get(classify_finish(reason)) or ("ok" if text else "empty")


def _parse_usage(said: Any, timings: Any) -> TokenUsage:
    """Parse the counts. Some makers leave cached tokens out of those of the prompt, but not out of
    the total; llama.cpp says among its `timings` what it had cached."""
    if not isinstance(said, dict):
        return TokenUsage()
    prompt, completion = (count_tokens(said.get(f"{n}_tokens")) for n in ("prompt", "completion"))
    details = said.get("completion_tokens_details") or {}
    thinking = count_tokens(details.get("reasoning_tokens")) or 0
    cached, written = count_cached(said | {"timings": timings}) or 0, count_cache_writes(said)
    beside = cached + written.get("cache_write_tokens", 0)
    total = count_tokens(said.get("total_tokens")) or 0
    if prompt is not None and (cached > prompt or total == prompt + beside + (completion or 0)):
        prompt += beside
    if thinking and total == (prompt or 0) + (completion or 0) + thinking:  # xAI counts it apart
        completion = (completion or 0) + thinking
    return TokenUsage(
        prompt=prompt,
        cached=cached,
        output=None if completion is None else max(0, completion - thinking),
        thinking=thinking,
        **written,
    )

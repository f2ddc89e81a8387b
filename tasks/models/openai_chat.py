"""Any endpoint that speaks OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, OpenRouter.

Not all of them take a JSON schema. The first request finds out what this endpoint does: a
schema, else JSON with the schema as a hint, else the schema in words; what worked is kept for
the life of the client. Whatever was asked for, the answer is validated by the judge.
"""

import asyncio
import json
import time
from base64 import b64encode
from typing import Any

import httpx
import orjson

from tasks.models.attachments import PDF, Attachment, laid_out
from tasks.models.client import error_of, json_of, reading, redacted, refusal
from tasks.models.errors import ModelError, QuotaExhausted, Rejected, Transient
from tasks.models.exchange import Finish, ModelRequest, Reply, Usage, parsed_schema
from tasks.models.transport import MOST_BYTES, ModelTransport

RUNGS = ("json_schema", "json_object", "prompt")
"""Ways to ask for JSON, the strictest first."""
UNSUPPORTED = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses by which endpoints say that they do not know a way of asking."""
PROBE_PAUSES = (0.0, 0.5, 1.0)
"""Seconds before each try of a way of asking that is answered with 500."""
BYTES_PER_TOKEN_AT_MOST = 16
"""A prompt of which fewer tokens were read than this allows was cut by the server."""


class OpenAiChatClient:
    """One key and address; as many calls at once as `connections`."""

    most_answer_bytes = MOST_BYTES

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
        self._transport = ModelTransport(connections, self.most_answer_bytes)
        self._timeout_seconds = timeout_seconds
        self._limit_field = token_limit_field
        self._rung: str | None = None
        self._finding_rung = asyncio.Lock()

    async def ask(self, request: ModelRequest) -> Reply:
        if self._rung is None:
            async with self._finding_rung:
                if self._rung is None:
                    return await self._first(request)
        return await self._once(request, self._rung)

    async def close(self) -> None:
        await self._transport.aclose()

    async def _first(self, request: ModelRequest) -> Reply:
        """Go down the ladder with one request until a way of asking is taken.

        A status of 500 may be a passing fault, so only three in a row count.
        """
        first_error: Rejected | Transient | None = None
        for rung in RUNGS:
            for pause in PROBE_PAUSES:
                await asyncio.sleep(pause)
                try:
                    reply = await self._once(request, rung)
                except (Rejected, Transient) as error:
                    if error.code not in UNSUPPORTED:
                        raise
                    first_error = first_error or error
                    if error.code < 500:
                        break
                else:
                    self._rung = rung
                    return reply
        assert first_error is not None
        raise first_error

    async def _once(self, request: ModelRequest, rung: str) -> Reply:
        started = time.monotonic()
        body = orjson.dumps(chat_body(request, rung, self._limit_field))
        headers = {"Content-Type": "application/json", **self._key_header}
        response = await self._transport.whole(
            "POST", f"{self._base_url}/chat/completions", headers, self._timeout_seconds,
            content=body,
        )  # fmt: skip
        if not response.is_success:
            raise self._meaning(response, request.model)
        reply = read_completion(json_of(response), request, f"live {rung}")
        return reply.model_copy(update={"latency_seconds": time.monotonic() - started})

    def _meaning(self, response: httpx.Response, model: str) -> ModelError:
        message, code = error_of(response)
        message = redacted(message, self._key)
        if code in ("insufficient_quota", "billing_hard_limit_reached"):
            return QuotaExhausted(
                f"{model}: the account's quota is used up ({message[:200]}). What was answered "
                "is kept; raise the quota and run again."
            )
        return refusal(response.status_code, message, response.headers, model)


def chat_body(request: ModelRequest, rung: str, limit_field: str) -> dict[str, Any]:
    """A request as the body of a chat completion."""
    asked = request.parameters
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}]
    messages += [
        {"role": "assistant" if turn.role == "model" else "user", "content": turn.text}
        for turn in request.turns
    ]
    if request.attachments:
        pieces = (*laid_out(request.attachments), request.turns[0].text)
        messages[1]["content"] = [_part(piece) for piece in pieces]
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        limit_field: asked.max_output_tokens,
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "seed": asked.seed,
        "reasoning_effort": asked.thinking_level,
    }
    schema = parsed_schema(request.reply_schema)
    if rung == "json_schema":
        named = {"name": request.reply_name, "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif rung == "json_object":
        body["response_format"] = {"type": "json_object", "schema": schema}
    if rung != "json_schema":
        messages[0]["content"] += (
            "\n\nAnswer with one JSON object by this JSON Schema and nothing else:\n"
            + request.reply_schema
        )
    return {name: value for name, value in body.items() if value is not None}


def _part(piece: str | Attachment) -> dict[str, Any]:
    """A text or a file as a part of a message's content."""
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    url = f"data:{piece.media_type};base64,{b64encode(piece.content()).decode()}"
    if piece.media_type == PDF:
        return {"type": "file", "file": {"filename": "article.pdf", "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def read_completion(answer: Any, request: ModelRequest, delivery: str) -> Reply:
    """A chat completion as a reply.

    Raises:
        Transient: there is no choice in it, or it is of another form.
        Rejected: the server read less of the prompt than was sent, without saying so.
    """
    with reading("the answer is no chat completion"):
        return _completion(answer, request, delivery)


def _completion(answer: Any, request: ModelRequest, delivery: str) -> Reply:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise Transient("an empty answer (no choice)", "garbled", maybe_billed=True)
    usage = _usage(answer.get("usage"))
    if usage.prompt and usage.prompt * BYTES_PER_TOKEN_AT_MOST < request.text_bytes:
        raise Rejected(
            f"the server read {usage.prompt} tokens of a prompt of {request.text_bytes:,} "
            "bytes: it cut it. Raise its context size.",
            200,
        )
    message = choice.get("message") or {}
    text = message.get("content") or ""
    refused = message.get("refusal")
    finish = _finish(choice.get("finish_reason"), text, refused)
    return Reply(
        finish=finish,
        text=text,
        stop_reason=refused or choice.get("finish_reason"),
        usage=usage,
        model_version=answer.get("model"),
        response_id=answer.get("id"),
        raw=None if finish == "ok" else json.dumps(answer, ensure_ascii=False),
        delivery=delivery,
    )


def _finish(reason: str | None, text: str, refused: str | None) -> Finish:
    if refused:
        return "refused"
    if reason == "content_filter":
        return "blocked"
    if reason == "length":
        return "truncated"
    return "ok" if text else "empty"


def _usage(said: Any) -> Usage:
    if not isinstance(said, dict):
        return Usage()
    cached = (said.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    thinking = (said.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    completion = said.get("completion_tokens")
    return Usage(
        prompt=said.get("prompt_tokens"),
        cached=cached,
        output=None if completion is None else max(0, completion - thinking),
        thinking=thinking,
    )

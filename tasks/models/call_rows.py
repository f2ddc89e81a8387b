"""The ledger's rows, from requests and what came of them."""

from typing import Any

from tasks.models.errors import RequestRejected, TransientError
from tasks.models.exchange import ModelRequest, Reply, call_id
from tasks.warehouse.calls import Call


def make_call(
    request: ModelRequest, asked: ModelRequest, attempt: int, reply: Reply, cost: float | None
) -> Call:
    """Return the row of an answer.

    asked: what was sent: the request, or a repair of it. attempt: 1-based.
    """
    return Call(
        **_request_fields(request, asked, attempt),
        status=reply.finish,
        answer=reply.text or None,
        raw=reply.raw,
        finish=reply.stop_reason,
        model_version=reply.model_version,
        response_id=reply.response_id,
        delivery=reply.delivery,
        prompt_tokens=reply.usage.prompt,
        cached_tokens=reply.usage.cached,
        cache_write_tokens=reply.usage.cache_write_tokens,
        cache_write_hour_tokens=reply.usage.cache_write_hour_tokens,
        output_tokens=reply.usage.output,
        thinking_tokens=reply.usage.thinking,
        cost_usd=cost,
        latency_seconds=reply.latency_seconds,
        tries=reply.tries,
    )


def make_failed_call(
    request: ModelRequest,
    asked: ModelRequest,
    attempt: int,
    error: TransientError | RequestRejected,
    delivery: str,
) -> Call:
    """Return the row of a call without an answer."""
    kind = error.kind if isinstance(error, TransientError) else "rejected"
    return Call(
        **_request_fields(request, asked, attempt),
        status="failed",
        error=f"{kind}: {error}"[:2000],
        delivery=delivery,
        tries=getattr(error, "tries", 1),
    )


def _request_fields(request: ModelRequest, asked: ModelRequest, attempt: int) -> dict[str, Any]:
    purpose = request.purpose
    return {
        "call_id": call_id(request.request_id, attempt),
        "request_id": request.request_id,
        "attempt": attempt,
        "provider": request.provider,
        "model": request.model,
        "parameters": asked.parameters.canonical(),
        "reply_schema": request.reply_schema,
        "system_prompt": request.system,
        "prompt": asked.prompt,
        "prompt_sha": purpose.prompt_sha,
        "judge": purpose.judge,
        "protocol": purpose.protocol,
        "step": purpose.step,
    }

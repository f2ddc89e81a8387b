"""Requests to models and their replies, the same for every provider."""

import json
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from tasks.base import Frozen
from tasks.models.attachments import Attachment, fence_attachments
from tasks.models.errors import RequestRejected, TransientError
from tasks.warehouse.calls import Call
from tasks.warehouse.rows import ForeignText, canonical_json, content_sha

Finish = Literal["ok", "truncated", "refused", "blocked", "empty"]


class Message(Frozen):
    """A message of the conversation after the system prompt."""

    role: Literal["user", "model"]
    text: str


class Parameters(Frozen):
    """Generation parameters; None is not sent. Part of the request id."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_output_tokens: int
    """Output limit in tokens, including thinking."""
    thinking_budget: int | None = None
    """Tokens; Gemini 2.5. Anthropic's older models; 0 turns thinking off."""
    thinking_level: str | None = None
    """`minimal`, `low`, `medium`, `high` of Gemini 3; OpenAI's reasoning effort; Anthropic's."""

    def canonical(self) -> str:
        """Return JSON with sorted keys, without unset parameters."""
        return _write_parameters(self)


@lru_cache(256)
def _write_parameters(parameters: Parameters) -> str:
    """Cached, as most requests of a stage have the same ones."""
    return canonical_json(parameters.model_dump(by_alias=True, exclude_none=True))


class Purpose(Frozen):
    """What a call is for: stored in the ledger, not part of the request id."""

    judge: str
    protocol: str
    step: str
    prompt_sha: str
    n_items: int = 1
    """Number of items the call decides."""


class ModelRequest(BaseModel):
    """A request to a model; equal content has the same `request_id`."""

    # Not `Frozen`, because of the cached properties.
    model_config = ConfigDict(extra="forbid", ignored_types=(cached_property,))

    provider: str
    model: str
    parameters: Parameters
    reply_name: str
    reply_schema: str
    """JSON Schema of the answer, with sorted keys."""
    system: str
    messages: tuple[Message, ...]
    attachments: tuple[Attachment, ...] = ()
    """Files sent before the first message's text; see `fence_attachments`."""
    shared_chars: int = 0
    """Length of the beginning of the first message that requests after this one share, for
    providers that cache only what is marked. Not part of the request id."""
    purpose: Purpose
    typical_output_tokens: int = 0
    """Expected length of an answer, for estimates."""

    @cached_property
    def request_id(self) -> str:
        parts = [part for message in self.messages for part in (message.role, message.text)]
        return content_sha(
            self.provider, self.model, self.parameters.canonical(), self.reply_schema,
            self.system, *parts, *self._attachment_parts,
        )  # fmt: skip

    @property
    def _attachment_parts(self) -> list[str]:
        """The attachments' part of the id; empty without any, so that requests without files keep
        the ids under which their answers were bought."""
        files = [("attachment", each.media_type, each.sha) for each in self.attachments]
        return [part for parts in files for part in parts]

    @property
    def prompt(self) -> str:
        """Everything after the system prompt as one text for the ledger; files are given as media
        type, size and sha."""
        files = "".join(
            piece if isinstance(piece, str) else f"[{piece.description}]"
            for piece in fence_attachments(self.attachments)
        )
        if len(self.messages) == 1:
            return files + self.messages[0].text
        return files + "\n\n".join(f"[{turn.role}]\n{turn.text}" for turn in self.messages)

    @cached_property
    def prompt_bytes(self) -> int:
        """An upper bound of the prompt's tokens: bytes of all texts, and the equivalent of the
        files (`BYTES_PER_PAGE`)."""
        return self.text_bytes + sum(each.equivalent_bytes for each in self.attachments)

    @cached_property
    def text_bytes(self) -> int:
        """Bytes of everything sent as text."""
        texts = (self.system, self.reply_schema, *(turn.text for turn in self.messages))
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)

    def with_correction(self, answer: str, problem: str) -> "ModelRequest":
        """Return the request with the unusable answer and a demand for a better one."""
        again = (
            f"This answer cannot be used: {problem}. Answer the question above again, whole, in "
            "JSON of the given form and with nothing around it."
        )
        messages = (
            *self.messages,
            Message(role="model", text=answer),
            Message(role="user", text=again),
        )
        return self.model_copy(update={"messages": messages})


@lru_cache
def parse_schema(text: str) -> dict[str, Any]:
    """Parse a reply schema, for the clients to send."""
    schema: dict[str, Any] = json.loads(text)
    return schema


def call_id(request_id: str, attempt: int) -> str:
    """Return the ledger's key of the `attempt`-th answer (1-based) to a request."""
    return content_sha(request_id, str(attempt))


def _valid_count(value: object) -> object:
    """Return a count that the warehouse can store; None for anything else."""
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


TokenCount = Annotated[int | None, BeforeValidator(_valid_count)]


class TokenUsage(Frozen):
    """Tokens as the provider counts them; None if it does not report them."""

    prompt: TokenCount = None
    """Prompt tokens, including cached ones."""
    cached: TokenCount = None
    cache_write_tokens: TokenCount = None
    """Prompt tokens written to a cache."""
    cache_write_hour_tokens: TokenCount = None
    """Those of them that are kept for an hour."""
    output: TokenCount = None
    """Output tokens, without thinking."""
    thinking: TokenCount = None


class Reply(Frozen):
    """A model's answer, complete or not, before it is parsed."""

    finish: Finish
    text: ForeignText = ""
    stop_reason: ForeignText | None = None
    """The provider's finish reason."""
    usage: TokenUsage = TokenUsage()
    model_version: ForeignText | None = None
    response_id: ForeignText | None = None
    raw: ForeignText | None = None
    """The response body, unless `finish` is `ok`."""
    delivery: str = "live"
    sent_at: datetime | None = None
    """When an earlier run sent the request (UTC); None: this run did."""
    latency_seconds: float | None = None
    tries: int = 1


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


def normalize_model(name: str) -> str:
    """Return a model's name without a gateway's prefix (all before the last `/`) and case."""
    whole = name.strip().rstrip("/")
    return whole.rpartition("/")[2].lower() or name


def same_model(first: str | None, second: str | None) -> bool:
    """Whether two names are of one model; a missing name is the same as no name only."""
    if first is None or second is None:
        return first is second
    return normalize_model(first) == normalize_model(second)

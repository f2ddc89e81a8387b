"""Rows of the ledger of calls, and of batch jobs."""

from typing import Literal

from pydantic import Field

from tasks.warehouse.rows import BigInt, Row, UtcDatetime, utc_now


class Call(Row):
    """One request to a model and its answer: paid once, kept for ever."""

    table = "calls"
    key = ("call_id",)

    call_id: str
    """Sha-256 of request and attempt."""
    request_id: str
    """Sha-256 of provider, model, parameters, reply schema, prompt and attached files: equal for
    repeated requests."""
    attempt: int
    """The number of the answer to this request, 1-based. Later ones were requested because the
    earlier ones were unusable."""
    provider: str
    model: str
    parameters: str
    """JSON, keys sorted."""
    reply_schema: str
    """JSON Schema of the requested answer."""
    system_prompt: str
    """The system prompt."""
    prompt: str
    """The user prompt; in a repair, with the messages before it. Attached files are represented by
    their media type, size and sha."""
    prompt_sha: str
    """Sha-256 of the prompt's template."""
    judge: str
    protocol: str
    step: str
    status: Literal["ok", "truncated", "refused", "blocked", "empty", "failed"]
    """`ok`: a complete answer, usable or not; `failed`: no answer, so the next run may repeat the
    request under the same call_id."""
    answer: str | None = None
    """The answer as received; null if there was none."""
    raw: str | None = None
    """The response body, kept if there is no complete answer."""
    error: str | None = None
    finish: str | None = None
    """The provider's finish reason."""
    model_version: str | None = None
    """The model version that the answer states."""
    response_id: str | None = None
    """The provider's id of the answer."""
    delivery: str
    """`live` or `batch`, and how the reply schema was enforced."""
    prompt_tokens: BigInt | None = None
    cached_tokens: BigInt | None = None
    cache_write_tokens: BigInt | None = None
    cache_write_hour_tokens: BigInt | None = None
    output_tokens: BigInt | None = None
    """Output tokens, without thinking."""
    thinking_tokens: BigInt | None = None
    cost_usd: float | None = None
    """US dollars by the price list of that day; null if the price or the tokens are unknown."""
    latency_seconds: float | None = None
    """Seconds from sending to the complete answer, of the last try."""
    tries: int = 1
    """The number of HTTP requests."""
    called_at: UtcDatetime = Field(default_factory=utc_now)
    """When the request was sent (UTC)."""


class BatchJob(Row):
    """A job at a provider's batch API; written before it is created there."""

    table = "batch_jobs"
    key = ("job",)

    job: str
    """Our id for it, to find it again if the provider's answer to its creation is lost."""
    provider: str
    model: str
    judge: str
    remote_id: str | None = None
    """The provider's id; null until the answer to its creation has arrived."""
    state: Literal["creating", "running", "done", "failed"]
    """The job's state."""
    requests: str
    """JSON list of its call ids."""
    n_requests: int
    """The number of its requests."""
    error: str | None = None
    created_at: UtcDatetime = Field(default_factory=utc_now)
    finished_at: UtcDatetime | None = None

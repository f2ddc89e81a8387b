"""The rows of what was bought from models: the ledger of calls, and batch jobs."""

from typing import ClassVar, Literal

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now


class Call(Row):
    """One request to a model and what became of it: bought once, kept for ever."""

    table: ClassVar[str] = "calls"
    key: ClassVar[tuple[str, ...]] = ("call_id",)

    call_id: str
    """Sha of request and attempt."""
    request_id: str
    """Sha of provider, model, parameters, reply schema, prompt and attached files: the same
    question again."""
    attempt: int
    """1-based: which answer to this request it is. A later one was asked for because those
    before it could not be used."""
    provider: str
    model: str
    parameters: str
    """JSON, keys sorted."""
    reply_schema: str
    """JSON Schema of the answer that was asked for."""
    system_prompt: str
    """What was sent before the prompt."""
    prompt: str
    """What was sent after the system prompt; a repair holds the turns before it as well. An
    attached file is named by its media type, size and sha."""
    prompt_sha: str
    """Sha of the prompt's template."""
    judge: str
    protocol: str
    step: str
    status: Literal["ok", "truncated", "refused", "blocked", "empty", "failed"]
    """`ok`: a whole answer came (whether it can be used is for the judge to say); `failed`:
    none came, and the next run may ask again under the same call_id."""
    answer: str | None = None
    """As it came; null where none did."""
    raw: str | None = None
    """The response body, kept where there is no whole answer."""
    error: str | None = None
    finish: str | None = None
    """Why the model stopped, in the provider's own word."""
    model_version: str | None = None
    """As the answer says."""
    response_id: str | None = None
    """The provider's name for the answer."""
    delivery: str
    """How it was asked: `live` or `batch`, and how the answer's form was asked for."""
    prompt_tokens: int | None = None
    """With the cached ones."""
    cached_tokens: int | None = None
    output_tokens: int | None = None
    """Without thinking."""
    thinking_tokens: int | None = None
    cost_usd: float | None = None
    """By the price list of the day; null where the price or the tokens are unknown."""
    latency_seconds: float | None = None
    """Of the last try, from sending to the whole answer."""
    tries: int = 1
    """HTTP requests it took."""
    called_at: UtcDatetime = Field(default_factory=utc_now)
    """When it was asked (UTC)."""


class BatchJob(Row):
    """Requests handed to a provider's batch API; written before it is created and polled."""

    table: ClassVar[str] = "batch_jobs"
    key: ClassVar[tuple[str, ...]] = ("job",)

    job: str
    """Our own name for it, by which it can be found again if the answer to its creation is
    lost."""
    provider: str
    model: str
    judge: str
    remote_id: str | None = None
    """Null: its creation was begun, and no answer has been seen."""
    state: Literal["creating", "running", "done", "failed"]
    """How far it is."""
    requests: str
    """JSON list of the call ids it holds."""
    n_requests: int
    """In it."""
    error: str | None = None
    created_at: UtcDatetime = Field(default_factory=utc_now)
    finished_at: UtcDatetime | None = None

"""The protocols of a batch API and of the store of batch jobs, for `batch_sender`."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tasks.models.errors import ModelError, RequestRejected, StopStage, TransientError
from tasks.models.exchange import ModelRequest, Reply
from tasks.warehouse.calls import BatchJob

MAX_RESULT_BYTES = 1 << 30
"""Largest response with the answers of one job, which come together."""
GONE = "gone"
"""The state of a job that its provider does not know."""
REQUEST_OVERHEAD_BYTES = 2_000
"""Bytes of a request besides its texts, generously."""


@dataclass(frozen=True)
class BatchItem:
    """The result of one request of a job."""

    body: Any = None
    """The answer, in the provider's form."""
    response_id: str | None = None
    error: ModelError | None = None
    """TransientError or RequestRejected, if there is no answer."""


@dataclass(frozen=True)
class EndedBatch:
    """A job in a final state."""

    state: str
    """The final state, as the provider names it."""
    items: Mapping[str, BatchItem] = field(default_factory=dict)
    """Results by key, in no order; some may be missing."""
    succeeded: bool = False


class BatchClient(Protocol):
    """A provider's batch API: one attempt per call, no retries.

    All methods raise TransientError, RequestRejected or StopStage (see `errors`); no message holds
    the key.
    """

    max_job_bytes: int
    """Limit of all requests of one job, as `estimate_request_bytes` counts them."""

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        """Create a job that can be found by `name`; return the provider's id.

        Raises:
            TransientError: with `maybe_billed` if the job may exist all the same.
        """

    async def poll(self, remote_id: str) -> EndedBatch | None:
        """Return the ended job with its results; None while it runs. Its state is GONE where the
        provider does not know it, or its results: it may not show them yet."""

    async def find(self, name: str) -> str | None:
        """Return the id of the job created under `name`; None if there is none."""

    def parse(self, item: BatchItem, request: ModelRequest) -> Reply:
        """Parse an answer; raise TransientError or RequestRejected if it is none."""

    async def close(self) -> None:
        """Close the connections."""


class BatchStore(Protocol):
    """The store of one judge's batch jobs."""

    async def load_open_jobs(self) -> Sequence[BatchJob]:
        """Return the jobs that are neither done nor failed, the oldest first."""

    async def save(self, job: BatchJob) -> None:
        """Store a job, replacing its old row; return once it is committed."""

    async def find_saved(self, response_ids: Collection[str]) -> frozenset[str]:
        """Return those of the response ids that the ledger holds."""


def request_key(request: ModelRequest) -> str:
    """Return the id of a request as it is sent: a repair has another one than its original.

    It is computed anew, because a copied request may carry the cached id of the original.
    """
    sent = {name: getattr(request, name) for name in ModelRequest.model_fields}
    return ModelRequest(**sent).request_id


def estimate_request_bytes(request: ModelRequest) -> int:
    """Estimate the size of a request in a job: JSON with escapes for non-ASCII, files as base64."""
    texts = (request.system, request.reply_schema, *(each.text for each in request.messages))
    files = sum(4 * ((2 + each.n_bytes) // 3) for each in request.attachments)
    return sum(len(json.dumps(text)) for text in texts) + files + REQUEST_OVERHEAD_BYTES


def copy_error(error: Exception) -> Exception:
    """Return a copy of an error, for each of the callers that raise it."""
    if isinstance(error, TransientError):
        return TransientError(str(error), error.kind, hint_seconds=error.hint_seconds,
                         maybe_billed=error.maybe_billed, code=error.code)  # fmt: skip
    if isinstance(error, RequestRejected):
        return RequestRejected(str(error), error.code)
    return type(error)(*error.args) if isinstance(error, StopStage) else error

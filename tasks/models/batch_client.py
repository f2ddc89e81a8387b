"""What a provider's batch API is to us, and where jobs are kept: what `batch` works with."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tasks.models.errors import ModelError, Rejected, StopsTheStage, Transient
from tasks.models.exchange import ModelRequest, Reply
from tasks.warehouse.calls import BatchJob

MOST_RESULT_BYTES = 1 << 30
"""Of the answers of one job, which come together."""
AROUND_A_REQUEST = 2_000
"""Bytes of a request besides its texts, with room to spare."""


@dataclass(frozen=True)
class Item:
    """What became of one request of a job."""

    body: Any = None
    """The answer, in the provider's form."""
    response_id: str | None = None
    error: ModelError | None = None
    """Transient or Rejected, where there is no answer."""


@dataclass(frozen=True)
class Ended:
    """A job that moves no more."""

    word: str
    """The provider's own for how it ended."""
    items: Mapping[str, Item] = field(default_factory=dict)
    """By key, in no order; some may be missing."""
    succeeded: bool = False


class BatchClient(Protocol):
    """One provider's batch API: each call once, no retries.

    All raise Transient, Rejected or StopsTheStage (see `errors`); no message holds the key.
    """

    most_bytes: int
    """Of all requests of one job, as `request_bytes` counts them."""

    async def create(self, name: str, requests: Mapping[str, ModelRequest]) -> str:
        """Make a job that can be found by `name`; the provider's id for it.

        Raises:
            Transient: with `maybe_billed` where the job may have been made all the same.
        """

    async def poll(self, remote_id: str) -> Ended | None:
        """How the job ended, with its results; None: it has not."""

    async def find(self, name: str) -> str | None:
        """The id of the job that was made under `name`; None: there is none."""

    def read(self, item: Item, request: ModelRequest) -> Reply:
        """An answer as a reply. Raises Transient or Rejected where it is none."""

    async def close(self) -> None:
        """Close its connections."""


class BatchStore(Protocol):
    """Where the jobs of one judge are kept."""

    async def open_jobs(self) -> Sequence[BatchJob]:
        """Those that are neither done nor failed, by age."""

    async def keep(self, job: BatchJob) -> None:
        """Returns once it is committed, in place of what was known of it."""

    async def bought(self, response_ids: Collection[str]) -> frozenset[str]:
        """Those of the answers that the ledger holds."""


def key_of(request: ModelRequest) -> str:
    """The address of a request as it is sent: a repair's differs from its question's.

    Worked out here and not taken from the request, where a copy may carry the address that was
    worked out for the original.
    """
    sent = {name: getattr(request, name) for name in ModelRequest.model_fields}
    return ModelRequest(**sent).request_id


def request_bytes(request: ModelRequest) -> int:
    """About what a request takes in a job: JSON, everything beyond ASCII escaped, files as
    base64."""
    texts = (request.system, request.reply_schema, *(turn.text for turn in request.turns))
    files = sum(4 * ((2 + each.n_bytes) // 3) for each in request.attachments)
    return sum(len(json.dumps(text)) for text in texts) + files + AROUND_A_REQUEST


def own(error: Exception) -> Exception:
    """The error, as an object of its own for each of the many who raise it."""
    if isinstance(error, Transient):
        return Transient(str(error), error.kind, hint_seconds=error.hint_seconds,
                         maybe_billed=error.maybe_billed, code=error.code)  # fmt: skip
    if isinstance(error, Rejected):
        return Rejected(str(error), error.code)
    return type(error)(*error.args) if isinstance(error, StopsTheStage) else error

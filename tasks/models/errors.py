"""Errors of calls to models, by what they mean for the caller."""

import re
from typing import Literal

from tasks.errors import ExpectedError

UNANSWERED = re.compile(r"failed \(attempt \d+\): (connection|server|rate_limit): ")


def may_pass(reason: str | None) -> bool:
    """Whether a gateway's reason says that nobody answered, so that nothing was bought."""
    return UNANSWERED.search(reason or "") is not None


class ModelError(ExpectedError):
    """A model could not be called, or its answer could not be read."""


class TransientError(ModelError):
    """A failure that may pass: the same request can be retried later.

    Attributes:
        kind: what happened.
        hint_seconds: the wait the server asks for, if any.
        maybe_billed: whether the request may have been processed although no answer came.
        code: the HTTP status, if any.
    """

    def __init__(
        self,
        message: str,
        kind: Literal["rate_limit", "server", "connection", "timeout", "garbled"],
        *,
        hint_seconds: float | None = None,
        maybe_billed: bool = False,
        code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.hint_seconds = hint_seconds
        self.maybe_billed = maybe_billed
        self.code = code
        self.tries = 1


class ResponseTooLarge(TransientError):
    """The response exceeds the size limit; the rest was not read."""


class RequestRejected(ModelError):
    """The endpoint refuses this request; a retry would not help.

    Attributes:
        code: the HTTP status.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class StopStage(ModelError):
    """No request of this judge can succeed now: the run sends no more of them."""


class Misconfigured(StopStage):
    """The key is missing or wrong, or the model or endpoint does not exist."""


class Unreachable(StopStage):
    """The endpoint was never reached, however often it was tried."""


class RunInterrupted(StopStage):
    """The run was interrupted: pending retries are left to the next run."""


class QuotaExhausted(StopStage):
    """A quota of a day or longer is used up."""


class ModelDrift(StopStage):
    """The model answered as a version other than the one the judge is pinned to."""


class BudgetExhausted(StopStage):
    """The next call may cost more than the rest of the budget."""


class UnknownPrice(StopStage):
    """A budget is set, but the price list lacks the model."""

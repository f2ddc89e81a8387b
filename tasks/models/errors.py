"""What can go wrong when a model is asked, by what it means for the caller."""

from typing import Literal

from tasks.errors import ExpectedError


class ModelError(ExpectedError):
    """A model could not be asked, or its answer not be read."""


class Transient(ModelError):
    """May heal by itself: try the same request again later.

    Attributes:
        kind: what happened.
        hint_seconds: how long the server asks to wait, if it says.
        maybe_billed: the request may have been worked on although no answer came.
        code: the HTTP status, where there was one.
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


class TooLong(Transient):
    """More came than any answer holds; the rest was left unread."""


class Rejected(ModelError):
    """The endpoint refuses this very request; asking it again is no use.

    Attributes:
        code: the HTTP status.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class StopsTheStage(ModelError):
    """No request of this judge can succeed now: nothing more is asked in this run."""


class Misconfigured(StopsTheStage):
    """No key, a wrong key, or a model or endpoint that does not exist."""


class Interrupted(StopsTheStage):
    """Somebody ended the run: what waits to be tried again is left to the next one."""


class QuotaExhausted(StopsTheStage):
    """A quota that lasts a day or longer is used up."""


class ModelDrift(StopsTheStage):
    """The model answered as another version than the one the judge is pinned to."""


class BudgetExhausted(StopsTheStage):
    """The next call might cost more than is left of the budget."""


class NoPrice(StopsTheStage):
    """A budget is set, but the price list does not know the model."""

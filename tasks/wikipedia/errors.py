"""What can go wrong between us and a wiki."""

from tasks.errors import ExpectedError


class WikiError(ExpectedError):
    """A wiki could not be read; the message names the address and what to do."""


class WikiRefused(WikiError):
    """It answered, and will answer the same again: a wrong request, address or title."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class WikiUnreachable(WikiError):
    """None of the tries brought an answer; what was collected is kept, run again later."""

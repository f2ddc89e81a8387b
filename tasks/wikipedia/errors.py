"""Errors of requests to a wiki."""

from tasks.errors import ExpectedError


class WikiError(ExpectedError):
    """A wiki could not be read; the message names the URL and what to do."""


class WikiRefused(WikiError):
    """The wiki refused for good: a wrong request, URL or title."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class WikiUnreachable(WikiError):
    """All tries failed; what was collected is kept, run again later."""

"""Errors that fail one page, and errors that stop fetching altogether."""

from typing import ClassVar, Literal

from tasks.warehouse.pages import FetchOutcome

Phase = Literal["connecting", "waiting", "answering"]
"""How far a request got: before the server was reached, before its first byte, or after."""
MAX_PRINTABLE = 200
NOT_FOUND = frozenset({404, 410})
"""HTTP statuses of pages that are not there."""
NO_SUCH_HOST = "there is no host"
"""How the error of a name begins of which the resolver says that it does not exist."""


class FetchingStopped(Exception):
    """No page can be fetched from this source now, and none of them is to blame.

    Attributes:
        left: how many pages were not fetched; None: it is not known.
    """

    def __init__(self, message: str, left: int | None = None) -> None:
        super().__init__(message)
        self.left = left


class NoNetwork(FetchingStopped):
    """No host at all can be reached."""


class ProxyAuthRequired(FetchingStopped):
    """The proxy asks for credentials, or for other ones."""


class HostsBusy(FetchingStopped):
    """Some hosts asked for a longer wait than a run allows; all other pages are done."""


class ServiceUnusable(FetchingStopped):
    """A service that fetches for us cannot be reached, or refuses our requests."""


class FetchError(Exception):
    """One page could not be fetched; the message says why."""

    outcome: ClassVar[FetchOutcome] = "failed"


class AddressRefused(FetchError):
    """We do not request this URL."""

    outcome = "refused"


class NonPublicAddress(AddressRefused):
    """The host's name resolves to such an address: there, or by the DNS of our own network."""


class RobotsDisallowed(FetchError):
    """The site's robots.txt forbids it."""

    outcome = "robots"


class BodyTooLarge(FetchError):
    """The body has more bytes than are kept."""

    outcome = "too_large"


class FetchFailed(FetchError):
    """No complete answer came.

    Args:
        phase: how far the request got.
        host: the host that was asked.
        retryable: whether another try may succeed.
        hint_seconds: how long the server asks to wait before the next try.
    """

    def __init__(
        self,
        message: str,
        phase: Phase = "answering",
        *,
        host: str = "",
        retryable: bool = False,
        hint_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.phase = phase
        self.host = host
        self.retryable = retryable
        self.hint_seconds = hint_seconds


class PageDeferred(FetchFailed):
    """The host, or a service, asks for a longer wait than a run allows: the page stays open."""


def printable(text: str, most: int = MAX_PRINTABLE) -> str:
    """Return foreign text fit for a message: one printable line, cut to `most` characters."""
    line = "".join(letter if letter.isprintable() else "�" for letter in text[: most + 1])
    return line if len(line) <= most else f"{line[:most]}…"

"""Why a page did not come, and what stops the fetching of all pages."""

from typing import ClassVar, Literal

from tasks.warehouse.pages import FetchOutcome

Stage = Literal["connecting", "waiting", "answering"]
"""How far a request came: before the server was reached, before it said anything, after."""
SHOWN = 200


class WebStopped(Exception):
    """No page can be had in this way now, and none of them is to blame."""


class NoNetwork(WebStopped):
    """No host at all can be reached."""


class ProxyRefuses(WebStopped):
    """The proxy between us and the web wants a name and a password, or others."""


class HostsBusy(WebStopped):
    """Hosts asked for a longer wait than a run has; all other pages are done."""


class ServiceUnusable(WebStopped):
    """A service that fetches for us cannot be reached, or does not want to."""


class Unfetched(Exception):
    """One page did not come; says why, for people."""

    outcome: ClassVar[FetchOutcome] = "failed"


class Refused(Unfetched):
    """The address is none that we ask."""

    outcome = "refused"


class Disallowed(Unfetched):
    """The site's robots.txt forbids it."""

    outcome = "robots"


class LeftAlone(Unfetched):
    """Its host asks for a longer wait than a run has: the page is open until the next one."""


class TooLarge(Unfetched):
    """More bytes than are kept."""

    outcome = "too_large"


class Failed(Unfetched):
    """No whole answer came.

    Args:
        stage: how far the request came.
        host: the one that was asked.
        heals: whether another try may go better.
        hint_seconds: how long the server asks to wait before it.
    """

    def __init__(
        self,
        message: str,
        stage: Stage = "answering",
        *,
        host: str = "",
        heals: bool = False,
        hint_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.stage = stage
        self.host = host
        self.heals = heals
        self.hint_seconds = hint_seconds


def shown(text: str, most: int = SHOWN) -> str:
    """Text from outside as part of a message: one printable line, cut."""
    line = "".join(letter if letter.isprintable() else "�" for letter in text[: most + 1])
    return line if len(line) <= most else f"{line[:most]}…"

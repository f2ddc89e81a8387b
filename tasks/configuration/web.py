"""`configs/web.yaml`: how cited pages are fetched, from where else, and how they are read."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tasks.configuration.loading import CONFIGS, Configured, load


class Manners(Configured):
    """How the servers of cited pages are asked."""

    at_once: PositiveInt = 32
    """Requests under way, over all hosts."""
    per_host: PositiveInt = 2
    """Of them, at most to one host."""
    seconds_between: NonNegativeFloat = 0.5
    """Between the beginnings of two requests to one host."""
    tries: PositiveInt = 3
    """For what can heal: no connection, time-outs, 408, 425, 429, 5xx."""
    first_wait_seconds: PositiveFloat = 2.0
    """Before the second try, doubled each time; a server's hint is never undercut."""
    longest_wait_seconds: PositiveFloat = 60.0
    """A server that asks for more is not asked again in this run."""
    robots: Literal["ignore", "obey"] = "ignore"
    """`obey`: a page that its site's robots.txt forbids is not asked for."""


class Bounds(Configured):
    """What one page may take."""

    connect_seconds: PositiveFloat = 10.0
    read_seconds: PositiveFloat = 20.0
    """Between two pieces of an answer."""
    total_seconds: PositiveFloat = 90.0
    """Of one try, its redirects and its body."""
    most_bytes: PositiveInt = 20_000_000
    """Of a body, as it comes and unpacked."""
    most_redirects: PositiveInt = 10


_PLACE = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?")


def _place(written: str) -> str:
    """Raise ValueError for what can name no host."""
    found = _PLACE.fullmatch(written.strip())
    if not found or not 1 <= int(found[1] or 80) <= 65535:
        raise ValueError("a host or host:port is expected, such as 127.0.0.1:8000; no address")
    return written


class Allowed(Configured):
    """What may be asked at all, beyond public addresses on ports 80 and 443."""

    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (80, 443)
    hosts: tuple[Annotated[str, AfterValidator(_place)], ...] = ()
    """`host` (on the ports above) or `host:port`: deliberate exceptions to the rules on addresses
    and ports, such as a test server; names are compared as they stand in the address."""
    environment_proxies: bool = False
    """Go through the proxies that HTTP_PROXY and its like name. They then resolve names, not we:
    addresses are checked beforehand, but cannot be pinned."""


class JinaReader(Configured):
    """A service that fetches and reads a page for us. It learns which pages were cited."""

    url: str
    url_env: str | None = None
    """The variable that, where it is set, replaces `url`."""
    key_env: str | None = None
    """The variable that holds the key; without one fewer pages a minute may be asked for."""
    per_minute: PositiveInt = 20
    per_minute_with_key: PositiveInt = 400
    at_once: PositiveInt = 4


class WaybackMachine(Configured):
    """The Internet Archive's snapshot that is nearest to when the report was written."""

    url: str
    """Of its service that says which snapshots there are."""
    url_env: str | None = None
    per_minute: PositiveInt = 15
    at_once: PositiveInt = 2


class ReadingBounds(Configured):
    """What taking the text out of one page may take, in processes of its own."""

    workers: PositiveInt = 2
    seconds: PositiveFloat = 30.0
    megabytes: PositiveInt = 1500
    """Address space of each process."""
    most_html_bytes: PositiveInt = 5_000_000
    """A larger HTML page is cut here before it is read, and says so."""
    most_pdf_pages: PositiveInt = 300
    most_characters: PositiveInt = 2_000_000
    """Of a page's text; the rest is left out, with a remark."""


class WebSettings(Configured):
    operator: str | None = None
    """Who runs this, in the User-Agent."""
    operator_env: str
    manners: Manners = Manners()
    bounds: Bounds = Bounds()
    allowed: Allowed = Allowed()
    fallbacks: tuple[Literal["jina", "wayback"], ...] = ()
    """Other ways to a page that did not come as it was cited, tried in this order."""
    jina: JinaReader
    wayback: WaybackMachine
    reading: ReadingBounds = Field(default_factory=ReadingBounds)

    def named_operator(self) -> str | None:
        """Who runs this, as printable ASCII; None where nobody says."""
        operator = (os.environ.get(self.operator_env) or self.operator or "").strip()
        return operator if operator and operator.isprintable() and operator.isascii() else None


def load_web(configs: Path = CONFIGS) -> WebSettings:
    return load(configs / "web.yaml", WebSettings)

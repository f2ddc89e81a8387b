"""`configs/web.yaml`: how cited pages are fetched and read, and the fallback sources."""

import os
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.credentials import PlainAddress


class RequestPolicy(ConfigModel):
    """Limits on requests to the servers of cited pages."""

    at_once: PositiveInt = 32
    """Concurrent requests to all hosts."""
    per_host: PositiveInt = 2
    """Concurrent requests to one host."""
    seconds_between: NonNegativeFloat = 0.5
    """The least time between the starts of two requests to one host."""
    tries: PositiveInt = 3
    """Tries after transient errors: no connection, timeouts, 408, 425, 429, 5xx."""
    first_wait_seconds: PositiveFloat = 2.0
    """The wait before the second try, doubled each time; at least what the server asks for."""
    longest_wait_seconds: PositiveFloat = 60.0
    """A server that asks for a longer wait is not tried again in this run."""
    robots: Literal["ignore", "obey"] = "ignore"
    """`obey`: pages that their site's robots.txt forbids are not fetched."""


class PageLimits(ConfigModel):
    """Limits on fetching one page."""

    connect_seconds: PositiveFloat = 10.0
    read_seconds: PositiveFloat = 20.0
    """The longest pause while receiving an answer."""
    total_seconds: PositiveFloat = 90.0
    """Time for one try, including redirects and body."""
    most_bytes: PositiveInt = 20_000_000
    """Size of a body, both compressed and decompressed."""
    most_redirects: PositiveInt = 10


_PLACE = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?")


def _check_host(written: str) -> str:
    """Raise ValueError unless `written` is a host or host:port."""
    found = _PLACE.fullmatch(written.strip())
    if not found or not 1 <= int(found[1] or 80) <= 65535:
        raise ValueError("expected a host or host:port such as 127.0.0.1:8000, not a URL")
    return written


class AllowedAddresses(ConfigModel):
    """Which addresses may be fetched, beyond public ones on ports 80 and 443."""

    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (80, 443)
    hosts: tuple[Annotated[str, AfterValidator(_check_host)], ...] = ()
    """`host` (on the ports above) or `host:port`: exceptions to the rules on addresses and ports,
    such as a test server. Names are compared as written in the URL."""
    environment_proxies: bool = False
    """Use the proxies in HTTP_PROXY and similar variables. They resolve names themselves, so
    addresses are checked beforehand but cannot be pinned."""


class JinaReader(ConfigModel):
    """A service that fetches and reads pages for us. It learns which pages were cited."""

    url: PlainAddress
    url_env: str | None = None
    """The environment variable that, if set, replaces `url`."""
    key_env: str | None = None
    """The environment variable with the key; without a key the rate limit is lower."""
    per_minute: PositiveInt = 20
    per_minute_with_key: PositiveInt = 400
    at_once: PositiveInt = 4


class WaybackMachine(ConfigModel):
    """The Internet Archive's copy that is nearest to the time of the report."""

    url: PlainAddress
    """URL of the service that lists copies."""
    url_env: str | None = None
    cdx_url: PlainAddress = "https://web.archive.org/cdx/search/cdx"
    """URL of the service that lists every capture, asked whether cited pages ever existed."""
    cdx_url_env: str | None = None
    per_minute: PositiveInt = 15
    at_once: PositiveInt = 2


class ExistenceLookups(ConfigModel):
    """Whether cited addresses that lead nowhere ever existed; looked up in the Wayback Machine."""

    enabled: bool = True
    """Only with an operator, too: see `WebSettings.looks_up_existence`."""
    youngest_days: NonNegativeFloat = 30
    """Addresses that a younger report cites are not asked about: no archive may know them yet."""
    known: PlainAddress = "https://www.wikipedia.org/"
    """An address that the archive has for certain: if it does not find it, it is not believed."""
    own_hosts: tuple[Annotated[str, AfterValidator(_check_host)], ...] = ()
    """Hosts, with their subdomains, that are never named to the archive, such as your site's."""


class ReadingBounds(ConfigModel):
    """Limits on extracting a page's text, which runs in processes of its own."""

    workers: PositiveInt = 2
    seconds: PositiveFloat = 30.0
    megabytes: PositiveInt = 1500
    """Address space of each process."""
    most_html_bytes: PositiveInt = 5_000_000
    """A larger HTML page is truncated before it is read, with a remark."""
    most_pdf_pages: PositiveInt = 300
    most_characters: PositiveInt = 2_000_000
    """A longer text is truncated, with a remark."""


class WebSettings(ConfigModel):
    operator: str | None = None
    """The operator, for the User-Agent."""
    operator_env: str
    manners: RequestPolicy = RequestPolicy()
    bounds: PageLimits = PageLimits()
    allowed: AllowedAddresses = AllowedAddresses()
    second_look_hours: PositiveFloat = 6
    """Hours after which a page whose host did not answer, or was busy, is looked for again (later
    if the host asks for it, up to 48); only if that fails too is it gone."""
    fallbacks: tuple[Literal["jina", "wayback"], ...] = ()
    """Other sources of pages that could not be fetched as cited, in the order of trying."""
    jina: JinaReader
    wayback: WaybackMachine
    existence: ExistenceLookups = ExistenceLookups()
    reading: ReadingBounds = Field(default_factory=ReadingBounds)

    def looks_up_existence(self) -> bool:
        """Return whether the archive may be asked which cited addresses ever existed."""
        return self.existence.enabled and self.get_operator() is not None

    def get_operator(self) -> str | None:
        """Return the operator; None if it is not set, or not printable ASCII."""
        operator = (os.environ.get(self.operator_env) or self.operator or "").strip()
        return operator if operator and operator.isprintable() and operator.isascii() else None


def load_web(configs: ConfigSource = CONFIGS) -> WebSettings:
    return load_merged("web.yaml", WebSettings, configs)

"""Request a URL and follow its redirects one by one: those by HTTP, and a page's refresh.

Each redirect is treated like the first URL: parsed, checked and throttled. Cookies are kept
until the final answer, because some sites redirect until they see theirs.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from urllib.parse import urljoin

import aiohttp
from aiohttp import hdrs
from yarl import URL

from tasks.configuration.web import PageLimits
from tasks.web.connections import NETWORK_ERRORS, GuardedClient, convert_error
from tasks.web.errors import AddressRefused, BodyTooLarge, FetchError, FetchFailed, printable
from tasks.web.guard import CheckedUrl
from tasks.web.hosts import HostThrottle
from tasks.web.kinds import parse_media_type
from tasks.web.leads import may_lead, parse_refresh
from tasks.web.page import FetchedContent, FetchResult, ReadPage, Redirect
from tasks.web.unpacker import unpack

REDIRECTS = frozenset({301, 302, 303, 307, 308})
PAGES = frozenset({200, 203, 206})
"""Statuses of pages whose refresh is followed: one that comes with 202 is a test for robots."""
MOST_PEEKED = 500_000
"""Bytes of a page that are looked at for where it leads."""
UrlCheck = Callable[[CheckedUrl], Awaitable[None]]
"""Raises FetchError for a URL that must not be requested."""
ReadPeeked = Callable[[FetchedContent], Awaitable[ReadPage]]


async def allow_any(target: CheckedUrl) -> None:
    """Allow every URL."""


class PageResponse:
    """A response whose headers have come and whose body can be read."""

    def __init__(self, response: aiohttp.ClientResponse, host: str, most_bytes: int) -> None:
        self._response = response
        self._most = most_bytes
        self.host = host
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.shown_pdf: str | None = None
        """The PDF that the page only shows, if it was read for that."""
        self._peeked = bytearray()
        self._rest = unpack(
            self._receive(), response.headers.get(hdrs.CONTENT_ENCODING, ""), most_bytes
        )

    async def peek(self, n_bytes: int) -> bytes:
        """Return the beginning of the body; `pieces` yields it all the same.

        Raises:
            As `pieces`.
        """
        while len(self._peeked) < n_bytes and (piece := await anext(self._rest, b"")):
            self._peeked += piece
        return bytes(self._peeked[:n_bytes])

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the decoded body.

        Raises:
            BodyTooLarge: more bytes than are kept.
            FetchFailed: the body broke off, or its content coding is not what its header says.
        """
        yield bytes(self._peeked)
        async for piece in self._rest:
            yield piece

    async def _receive(self) -> AsyncIterator[bytes]:
        length = self.headers.get(hdrs.CONTENT_LENGTH, "")
        if length.isdecimal() and len(length) < 20 and int(length) > self._most:
            raise BodyTooLarge(
                f"the body has {int(length):,} bytes; at most {self._most:,} are kept"
            )
        try:
            async for raw in self._response.content.iter_any():
                yield raw
        except NETWORK_ERRORS as error:
            raise convert_error(error, self.host, "answering") from None

    async def text(self) -> str:
        """Return a short body as text."""
        body = bytearray()
        async for piece in self.pieces():
            body += piece
        return body.decode("utf-8", "replace")


class RedirectFollower:
    """Opens URLs and follows their redirects, within the bounds for one page.

    Args:
        read: reads the beginning of a page that may lead on.
    """

    def __init__(
        self, client: GuardedClient, throttle: HostThrottle, bounds: PageLimits, read: ReadPeeked
    ) -> None:
        self.guard = client.guard
        self.throttle = throttle
        self._client = client
        self._bounds = bounds
        self._read = read

    async def is_reachable(self, url: str) -> bool:
        """Return whether the server of a URL answers now."""
        self._client.clear_dns_cache()
        try:
            async with self.open(FetchResult(source="direct", asked_url=url), max_redirects=0):
                return True
        except FetchFailed as error:
            return error.phase == "answering"
        except FetchError:
            return False

    @asynccontextmanager
    async def open(
        self,
        result: FetchResult,
        *,
        check: UrlCheck = allow_any,
        headers: Mapping[str, str] | None = None,
        max_redirects: int | None = None,
        max_bytes: int | None = None,
        read_seconds: float | None = None,
    ) -> AsyncIterator[PageResponse]:
        """Request `result.asked_url`, follow its redirects, and yield the final response.

        The host's slot is held until the block ends, so that it can read the body.

        Args:
            check: called before each request.
            headers: sent to the first URL only: they may hold a key.
            max_redirects, max_bytes, read_seconds: override the configuration.

        Raises:
            FetchError: no answer, or one that is not accepted; the result tells how far it got.
        """
        bounds = self._bounds
        most = bounds.most_redirects if max_redirects is None else max_redirects
        seconds = bounds.total_seconds
        target = self.guard.check_url(result.asked_url)
        jar: aiohttp.CookieJar | None = None
        own = dict(headers or {})
        seen: set[tuple[str, str]] = set()
        result.begin_try()
        while True:
            await check(target)
            own_cookies = jar.filter_cookies(URL(target.url, encoded=True)) if jar else None
            cookies = own_cookies.output([], "", ";").strip() if own_cookies else ""
            if (target.url, cookies) in seen:
                raise FetchFailed("its redirects lead in a circle", host=target.host)
            seen.add((target.url, cookies))
            sent = own | ({hdrs.COOKIE: cookies} if cookies else {})
            async with self.throttle.slot(target.host, is_last_look=result.is_last_look):
                started = monotonic()
                async with self._request(result, target, sent, seconds, read_seconds) as response:
                    answer = PageResponse(response, target.host, max_bytes or bounds.most_bytes)
                    where = _redirect_location(response)
                    if where is None and most:
                        where = await self._find_lead(result, target.url, answer)
                    if where is None:
                        yield answer
                        return
                    # `unsafe` keeps those of IP addresses too; they are sent nowhere else.
                    jar = aiohttp.CookieJar(unsafe=True) if jar is None else jar
                    jar.update_cookies(response.cookies, URL(target.url, encoded=True))
                seconds -= monotonic() - started
            target = self._follow_redirect(result, target, where)
            if len(result.redirects) > most:
                raise FetchFailed(f"more than {most} redirects", host=target.host)
            own = {}

    @asynccontextmanager
    async def _request(
        self,
        result: FetchResult,
        target: CheckedUrl,
        headers: Mapping[str, str],
        seconds: float,
        read_seconds: float | None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Request one URL and record its answer; the block may take so many seconds."""
        result.tries += not result.redirects
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.get(target, headers, read_seconds) as response,
            ):
                self.throttle.add_answer(target.host)
                result.add_answer(target.url, response.status, response.headers)
                yield response
        except TimeoutError:
            raise FetchFailed(
                f"{target.host}: not done within {self._bounds.total_seconds:g} s",
                "waiting" if result.final_url != target.url else "answering",
                host=target.host,
                retryable=True,
            ) from None

    async def _find_lead(self, result: FetchResult, url: str, answer: PageResponse) -> str | None:
        """Return where a page leads by a refresh; note the PDF that it only shows."""
        if answer.status not in PAGES:
            return None
        if where := parse_refresh(answer.headers.get("refresh", ""), url):
            return where
        if "html" not in (parse_media_type(answer.headers.get(hdrs.CONTENT_TYPE)) or "html"):
            return None
        content = await answer.peek(MOST_PEEKED)
        if not may_lead(content, url):
            return None
        page = await self._read(FetchedContent(
            source=result.source, url=result.asked_url, final_url=url, http_status=answer.status,
            headers=result.headers, content=content,
        ))  # fmt: skip
        answer.shown_pdf = page.shown_pdf
        return page.refresh

    def _follow_redirect(self, result: FetchResult, origin: CheckedUrl, where: str) -> CheckedUrl:
        """Check where a redirect leads, and record it."""
        assert result.http_status is not None
        try:
            target = self.guard.check_url(urljoin(origin.url, where))
        except (AddressRefused, ValueError) as error:
            result.redirects.append(Redirect(status=result.http_status, url=printable(where)))
            reason = (
                error if isinstance(error, AddressRefused) else "an address that cannot be read"
            )
            raise AddressRefused(
                f"{printable(origin.url)} redirects to {printable(where)}: {reason}"
            ) from None
        result.redirects.append(Redirect(status=result.http_status, url=target.url))
        return target


def _redirect_location(response: aiohttp.ClientResponse) -> str | None:
    """Return a redirect's location as the server wrote it; None for other responses."""
    where = response.headers.get(hdrs.LOCATION)
    if response.status not in REDIRECTS or where is None:
        return None
    raw = where.encode("utf-8", "surrogateescape").strip()
    try:
        return raw.decode("utf-8").replace(" ", "%20")
    except UnicodeDecodeError:
        return raw.decode("latin-1").replace(" ", "%20")

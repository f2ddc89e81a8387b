"""One visit to a page: its address, and where that redirects to, hop by hop.

Each hop is an address like the first: read, checked, waited for. Cookies live as long as the
visit, because some sites redirect until they see theirs.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from urllib.parse import urljoin

import aiohttp
from aiohttp import hdrs
from yarl import URL

from tasks.configuration.web import Bounds
from tasks.web.connecting import GuardedClient
from tasks.web.errors import Failed, Refused, TooLarge, Unfetched, shown
from tasks.web.failures import FOREIGN, failure
from tasks.web.guard import Target
from tasks.web.hosts import Turns
from tasks.web.page import Hop
from tasks.web.trail import Trail
from tasks.web.unpacking import Unpacker

REDIRECTS = frozenset({301, 302, 303, 307, 308})
Permit = Callable[[Target], Awaitable[None]]
"""Raises Unfetched for an address that may not be asked."""


async def any_target(target: Target) -> None:
    """Every address may be asked."""


class Answer:
    """An answer whose headers are there and whose body is about to come."""

    def __init__(self, response: aiohttp.ClientResponse, host: str, most_bytes: int) -> None:
        self._response = response
        self._most = most_bytes
        self.host = host
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body, content coding undone.

        Raises:
            TooLarge: more bytes than are kept.
            Failed: it broke off, or is packed in another way than it says.
        """
        said = self.headers.get(hdrs.CONTENT_LENGTH, "")
        if said.isdecimal() and len(said) < 20 and int(said) > self._most:
            raise TooLarge(f"the body has {int(said):,} bytes; at most {self._most:,} are kept")
        unpacker = Unpacker(self.headers.get(hdrs.CONTENT_ENCODING, ""), self._most)
        try:
            async for raw in self._response.content.iter_any():
                for piece in unpacker.feed(raw):
                    yield piece
        except FOREIGN as error:
            raise failure(error, self.host, "answering") from None
        yield unpacker.finish()

    async def text(self) -> str:
        """A short body as text."""
        body = bytearray()
        async for piece in self.pieces():
            body += piece
        return body.decode("utf-8", "replace")


class Visitor:
    """Makes visits within the bounds of one page."""

    def __init__(self, client: GuardedClient, turns: Turns, bounds: Bounds) -> None:
        self._client = client
        self._turns = turns
        self._bounds = bounds

    async def reaches(self, url: str) -> bool:
        """Whether the server of an address answers now."""
        self._client.forget_names()
        try:
            async with self.visit(Trail("direct", url), most_redirects=0):
                return True
        except Failed as error:
            return error.stage == "answering"
        except Unfetched:
            return False

    @asynccontextmanager
    async def visit(
        self,
        trail: Trail,
        *,
        permit: Permit = any_target,
        headers: Mapping[str, str] | None = None,
        most_redirects: int | None = None,
        most_bytes: int | None = None,
        read_seconds: float | None = None,
    ) -> AsyncIterator[Answer]:
        """Ask for `trail.asked`, follow its redirects, and give the answer at their end.

        The block reads the body; the turn at the host is held so long.

        Args:
            permit: asked before each hop.
            headers: for the first address only: they may hold a key.
            most_redirects, most_bytes, read_seconds: in place of those of the configuration.

        Raises:
            Unfetched: no answer, or one that is not taken; the trail says how far it came.
        """
        bounds = self._bounds
        most = bounds.most_redirects if most_redirects is None else most_redirects
        seconds = bounds.total_seconds
        target = self._client.guard.target(trail.asked)
        jar: aiohttp.CookieJar | None = None
        own = dict(headers or {})
        seen: set[tuple[str, str]] = set()
        trail.begin()
        while True:
            await permit(target)
            cookies = _cookies(jar, target) if jar else ""
            if (target.url, cookies) in seen:
                raise Failed("its redirects lead in a circle", host=target.host)
            seen.add((target.url, cookies))
            sent = own | ({hdrs.COOKIE: cookies} if cookies else {})
            async with self._turns.at(target.host):
                started = monotonic()
                trail.tries += not trail.hops
                try:
                    async with (
                        asyncio.timeout(seconds),
                        self._client.get(target, sent, read_seconds) as response,
                    ):
                        self._turns.answered(target.host)
                        trail.arrive(target.url, response.status, response.headers)
                        where = _leads_to(response)
                        if where is None:
                            yield Answer(response, target.host, most_bytes or bounds.most_bytes)
                            return
                        # Those of IP addresses too (unsafe): they are sent nowhere else.
                        jar = aiohttp.CookieJar(unsafe=True) if jar is None else jar
                        jar.update_cookies(response.cookies, URL(target.url, encoded=True))
                except TimeoutError:
                    raise Failed(
                        f"{target.host}: not done within {bounds.total_seconds:g} s",
                        "waiting" if trail.url != target.url else "answering",
                        host=target.host, heals=True,
                    ) from None  # fmt: skip
                seconds -= monotonic() - started
            target = self._hop(trail, target, where)
            if len(trail.hops) > most:
                raise Failed(f"more than {most} redirects", host=target.host)
            own = {}

    def _hop(self, trail: Trail, origin: Target, where: str) -> Target:
        """Where a redirect leads, read like any other address."""
        assert trail.status is not None
        try:
            target = self._client.guard.target(urljoin(origin.url, where))
        except (Refused, ValueError) as error:
            trail.hops.append(Hop(status=trail.status, url=shown(where)))
            reason = error if isinstance(error, Refused) else "an address that cannot be read"
            raise Refused(f"{shown(origin.url)} redirects to {shown(where)}: {reason}") from None
        trail.hops.append(Hop(status=trail.status, url=target.url))
        return target


def _cookies(jar: aiohttp.CookieJar, target: Target) -> str:
    return jar.filter_cookies(URL(target.url, encoded=True)).output([], "", ";").strip()


def _leads_to(response: aiohttp.ClientResponse) -> str | None:
    """Where a redirect leads, as the server wrote it; None for other answers."""
    where = response.headers.get(hdrs.LOCATION)
    if response.status not in REDIRECTS or where is None:
        return None
    raw = where.encode("utf-8", "surrogateescape").strip()
    try:
        return raw.decode("utf-8").replace(" ", "%20")
    except UnicodeDecodeError:
        return raw.decode("latin-1").replace(" ", "%20")

"""Connections that can only lead where they may.

aiohttp's own connections, without httpx's interface over them: every layer between what was
checked and what is sent would read the address once more, and write it in its own way. A name is
resolved once; its addresses are checked, and the socket goes to exactly these. The last look is
at the moment a socket is made: it holds for names, for literal addresses and for whatever
another way through the library would lead to.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import SimpleNamespace, TracebackType

import aiohttp
import httpx
from yarl import URL

from tasks.configuration.web import WebSettings
from tasks.web.errors import Failed, ProxyRefuses
from tasks.web.failures import FOREIGN, failure
from tasks.web.guard import Guard, Target
from tasks.web.proxies import Proxies
from tasks.web.resolving import CheckedResolver, Lookup

MOST_HEADER_BYTES = 32_768
"""Of one line: policies of 10 kB and more are common. Of lines aiohttp takes 128."""
KEEP_ALIVE_SECONDS = 5.0
"""Pages of one host follow each other; connections to all others would pile up."""
NAME_SECONDS = 10
"""A name that was resolved and checked is not asked for again so soon."""
_PROXY_REFUSES = 407
_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class _Sent:
    """One request."""

    reused = False
    """Whether it went over a connection that had been kept open."""


def _watched() -> aiohttp.TraceConfig:
    async def note(session: object, context: SimpleNamespace, event: object) -> None:
        context.trace_request_ctx.reused = True

    watched = aiohttp.TraceConfig()
    watched.on_connection_reuseconn.append(note)
    return watched


class GuardedClient:
    """Sends GET requests to checked places; no cookies, no redirects, no credentials of its own.

    Args:
        lookup: in place of the system's way to resolve names.
    """

    def __init__(self, settings: WebSettings, lookup: Lookup | None = None) -> None:
        self._proxies = Proxies(settings.allowed.environment_proxies)
        self.guard = Guard(settings.allowed, self._proxies.places)
        bounds = settings.bounds
        self._bounds = bounds
        self._resolver = CheckedResolver(self.guard, lookup, bounds.connect_seconds)
        self._connector = aiohttp.TCPConnector(
            limit=0,  # `Turns` says how many
            ssl=httpx.create_ssl_context(),
            resolver=self._resolver,
            socket_factory=self._resolver.socket,
            ttl_dns_cache=NAME_SECONDS,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[_watched()],
            headers={
                "User-Agent": user_agent(settings.named_operator()),
                "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8",
                "Accept-Language": "en,*;q=0.5",
                "Accept-Encoding": "gzip, deflate",
            },
            auto_decompress=False,
            trust_env=False,  # it would also send what a .netrc holds
            max_line_size=MOST_HEADER_BYTES,
            max_field_size=MOST_HEADER_BYTES,
        )
        self._session._retry_connection = False  # tries are counted elsewhere, all of them

    @asynccontextmanager
    async def get(
        self, target: Target, headers: Mapping[str, str], read_seconds: float | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Ask for an address; its answer as soon as its headers are there.

        Raises:
            Refused: the host's name leads where we do not go.
            Failed: no answer; says how far it came.
            ProxyRefuses: what came was the proxy's word, not the page's.
        """
        bounds = self._bounds
        proxy: str | None = None
        while True:
            sent = _Sent()
            try:
                proxy = await self._proxy(target)
                response = await self._session.get(
                    URL(target.url, encoded=True),
                    headers=headers,
                    allow_redirects=False,
                    proxy=proxy,
                    timeout=aiohttp.ClientTimeout(
                        sock_connect=bounds.connect_seconds,
                        sock_read=read_seconds or bounds.read_seconds,
                    ),
                    trace_request_ctx=sent,
                )
                break
            except FOREIGN as error:
                _check_proxy(getattr(error, "status", None), proxy)
                if sent.reused and isinstance(error, _CLOSED):
                    continue  # the server had closed the connection before this request
                raise failure(error, target.host, "waiting") from None
        try:
            _check_proxy(response.status, proxy)
            if response.status < 200:
                raise Failed(f"{target.host} answered HTTP {response.status}", host=target.host)
            yield response
        finally:
            response.release()

    def forget_names(self) -> None:
        """Resolve all names afresh."""
        self._connector.clear_dns_cache()

    async def _proxy(self, target: Target) -> str | None:
        """The proxy to go through. It resolves the name, so the name is checked beforehand."""
        proxy = self._proxies.for_host(target.scheme, target.host)
        if proxy:
            await self._resolver.addresses(target.host, target.port, proxied=True)
        return proxy

    async def __aenter__(self) -> "GuardedClient":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()
        await self._resolver.close()


def _check_proxy(status: int | None, proxy: str | None) -> None:
    if proxy and status == _PROXY_REFUSES:
        raise ProxyRefuses(
            "The proxy that the environment names does not let us through (HTTP 407): it wants "
            "a name and a password in HTTP_PROXY and HTTPS_PROXY, or others."
        )


def user_agent(operator: str | None) -> str:
    """Who asks, and for what."""
    who = f"{operator}; " if operator else ""
    return f"EvergreenBench/{version('evergreen-bench')} ({who}cited-page archive)"

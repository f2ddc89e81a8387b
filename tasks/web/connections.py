"""HTTP connections restricted to allowed addresses.

Uses aiohttp directly: every layer between the check and the socket would parse the URL again
and might rewrite it. A name is resolved once, its addresses are checked, and the socket connects
to exactly these. The final check, when the socket is created, covers names, literal addresses
and any other code path through the library.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import SimpleNamespace, TracebackType

import aiohttp
import httpx
from yarl import URL

from tasks.configuration.web import WebSettings
from tasks.web.errors import FetchFailed, ProxyAuthRequired
from tasks.web.failures import NETWORK_ERRORS, convert_error
from tasks.web.guard import CheckedUrl, Guard
from tasks.web.proxies import Proxies
from tasks.web.resolver import CheckedResolver, Lookup

MAX_HEADER_BYTES = 32_768
"""Longest header line: policies of 10 kB and more are common. aiohttp accepts 128 lines."""
KEEP_ALIVE_SECONDS = 5.0
"""Short: pages of one host follow each other, and idle connections to others would pile up."""
DNS_CACHE_SECONDS = 10
"""How long a resolved and checked name is cached."""
_PROXY_AUTH_REQUIRED = 407
_GATEWAY_FAILED = frozenset({502, 503, 504})
_CONNECTION_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class _SentRequest:
    """The trace of one request."""

    reused = False
    """Whether it used a connection that had been kept open."""


def _trace_reuse() -> aiohttp.TraceConfig:
    async def note(session: object, context: SimpleNamespace, event: object) -> None:
        context.trace_request_ctx.reused = True

    watched = aiohttp.TraceConfig()
    watched.on_connection_reuseconn.append(note)
    return watched


class GuardedClient:
    """Sends GET requests to checked URLs, without cookies, redirects or credentials of its own.

    Args:
        lookup: resolves names instead of the system's resolver.
    """

    def __init__(self, settings: WebSettings, lookup: Lookup | None = None) -> None:
        self._proxies = Proxies(settings.allowed.environment_proxies)
        self.guard = Guard(settings.allowed, self._proxies.host_ports)
        bounds = settings.bounds
        self._bounds = bounds
        self._resolver = CheckedResolver(self.guard, lookup, bounds.connect_seconds)
        self._connector = aiohttp.TCPConnector(
            limit=0,  # `HostThrottle` limits them
            ssl=httpx.create_ssl_context(),
            resolver=self._resolver,
            socket_factory=self._resolver.socket,
            ttl_dns_cache=DNS_CACHE_SECONDS,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[_trace_reuse()],
            headers={
                "User-Agent": format_user_agent(settings.get_operator()),
                "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8",
                "Accept-Language": "en,*;q=0.5",
                "Accept-Encoding": "gzip, deflate",
            },
            auto_decompress=False,
            trust_env=False,  # it would also send credentials from a .netrc
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._session._retry_connection = False  # all tries are counted in `retries`

    @asynccontextmanager
    async def get(
        self, target: CheckedUrl, headers: Mapping[str, str], read_seconds: float | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Request a URL and yield the response as soon as its headers are there.

        Raises:
            AddressRefused: the host's name resolves to an address that is not allowed.
            FetchFailed: no answer; its phase tells how far the request got.
            ProxyAuthRequired: the answer came from the proxy, which asks for credentials.
        """
        bounds = self._bounds
        proxy: str | None = None
        while True:
            sent = _SentRequest()
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
            except NETWORK_ERRORS as error:
                _check_proxy(getattr(error, "status", None), proxy, target.host)
                if sent.reused and isinstance(error, _CONNECTION_CLOSED):
                    continue  # the server had closed the connection before this request
                raise convert_error(error, target.host, "waiting") from None
        try:
            # Through a proxy's tunnel only the host itself answers.
            _check_proxy(response.status, proxy if target.scheme == "http" else None, target.host)
            if response.status < 200:
                raise FetchFailed(
                    f"{target.host} answered HTTP {response.status}", host=target.host
                )
            yield response
        finally:
            response.release()

    def clear_dns_cache(self) -> None:
        """Clear the DNS cache."""
        self._connector.clear_dns_cache()

    async def _proxy(self, target: CheckedUrl) -> str | None:
        """Return the proxy to use, if any. It resolves the name itself, so check the name first."""
        proxy = self._proxies.for_host(target.scheme, target.host)
        if proxy:
            await self._resolver.find_addresses(target.host, target.port, proxied=True)
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


def _check_proxy(status: int | None, proxy: str | None, host: str) -> None:
    """Raise an error unless the answer is the host's own, or may be."""
    if proxy and status in _GATEWAY_FAILED:
        raise FetchFailed(
            f"the proxy answered HTTP {status} for {host}", "waiting", host=host, retryable=True
        )
    if proxy and status == _PROXY_AUTH_REQUIRED:
        raise ProxyAuthRequired(
            "The proxy in the environment requires authentication (HTTP 407): put a user name "
            "and password into HTTP_PROXY and HTTPS_PROXY, or correct them."
        )


def format_user_agent(operator: str | None) -> str:
    """Return the User-Agent header, with the operator's contact if there is one."""
    who = f"{operator}; " if operator else ""
    return f"EvergreenBench/{version('evergreen-bench')} ({who}cited-page archive)"

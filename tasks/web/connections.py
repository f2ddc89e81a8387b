"""HTTP connections restricted to allowed addresses.

Uses aiohttp directly: every layer between the check and the socket would parse the URL again
and might rewrite it. A name is resolved once, its addresses are checked, and the socket connects
to exactly these. The final check, when the socket is created, covers names, literal addresses
and any other code path through the library. Network errors become `FetchFailed`, plainly worded.
"""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import SimpleNamespace
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from yarl import URL

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.web import WebSettings
from tasks.models.transport import strip_received_bytes
from tasks.web.errors import NO_SUCH_HOST, FetchFailed, Phase, ProxyAuthRequired, printable
from tasks.web.guard import CheckedUrl, Guard
from tasks.web.resolver import CheckedResolver, Lookup
from tasks.web.unpacker import ACCEPTED

NETWORK_ERRORS = (aiohttp.ClientError, OSError, ValueError, TimeoutError)
"""Every error seen while sending a request to unknown servers and reading the answer."""
_NO_ADDRESS = getattr(socket, "EAI_NODATA", socket.EAI_NONAME)
"""The name exists, with no address that this machine can use: IPv6 alone, or mail."""
MAX_HEADER_BYTES = 32_768
"""Longest header line: policies of 10 kB and more are common. aiohttp accepts 128 lines."""
KEEP_ALIVE_SECONDS = 5.0
"""Short: pages of one host follow each other, and idle connections to others would pile up."""
DNS_CACHE_SECONDS = 10
"""How long a resolved and checked name is cached."""
_PROXY_AUTH_REQUIRED = 407
_GATEWAY_FAILED = frozenset({502, 503, 504})
_CONNECTION_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


def _trace_reuse() -> aiohttp.TraceConfig:
    """Note of each request whether it used a connection that had been kept open."""

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
                "Accept-Encoding": ACCEPTED,
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
            sent = SimpleNamespace(reused=False)
            try:
                proxy = self._proxies.for_host(target.scheme, target.host)
                if proxy:  # it resolves the name itself, so the name is checked first
                    await self._resolver.find_addresses(target.host, target.port, proxied=True)
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

    async def __aenter__(self) -> "GuardedClient":
        return self

    async def __aexit__(self, *_: object) -> None:
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


class Proxies:
    """Chooses the proxy of a request.

    Args:
        wanted: whether the configuration allows proxies at all.

    Raises:
        ConfigurationError: one of them is not an HTTP proxy.
    """

    def __init__(self, wanted: bool) -> None:
        proxies = getproxies() if wanted else {}
        found = {scheme: proxies.get(scheme) or proxies.get("all") for scheme in ("http", "https")}
        self._by_scheme = {scheme: proxy for scheme, proxy in found.items() if proxy}
        self.host_ports = frozenset(_host_port(*one) for one in self._by_scheme.items())
        """`host:port` of each proxy."""

    def for_host(self, scheme: str, host: str) -> str | None:
        """Return the proxy for a host, or None."""
        proxy = self._by_scheme.get(scheme)
        return None if proxy is None or proxy_bypass(host) else proxy


def _host_port(scheme: str, proxy: str) -> str:
    try:
        url = URL(proxy)
        if url.scheme in ("http", "https") and url.host:
            host = url.host.lower()
            return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"
    except ValueError:
        pass
    raise ConfigurationError(
        f"The proxy for {scheme} in the environment is not an http(s) URL. Correct HTTP_PROXY, "
        "HTTPS_PROXY or ALL_PROXY, or set `allowed.environment_proxies` to false in "
        "configs/web.yaml."
    )


def convert_error(error: Exception, host: str, phase: Phase) -> FetchFailed:
    """Return the `FetchFailed` for a library's error.

    phase: how far the request got at least; connection errors tell it themselves.
    """
    retryable = True
    match error:
        case aiohttp.ClientConnectorDNSError() | socket.gaierror():
            cause = error if isinstance(error, socket.gaierror) else error.os_error
            retryable, phase = cause.errno not in (socket.EAI_NONAME, _NO_ADDRESS), "connecting"
            words = f"{host} could not be resolved ({cause.strerror})"
            if cause.errno == socket.EAI_NONAME:  # without an address it may have one elsewhere
                words = f"{NO_SUCH_HOST} {host} (DNS)"
        case aiohttp.ClientConnectorCertificateError():
            retryable, phase = False, "waiting"
            wrong = error.certificate_error
            reason = printable(str(getattr(wrong, "verify_message", wrong)))
            words = f"{host} has no valid certificate ({reason})"
        case aiohttp.ClientConnectorSSLError():
            retryable, phase = False, "waiting"
            words = f"{host}: no secure connection ({printable(str(error.os_error))})"
        case aiohttp.ClientConnectorError():
            phase = "connecting"
            words = f"{host} cannot be reached ({error.os_error.strerror or error.os_error})"
        case aiohttp.ConnectionTimeoutError():
            phase = "connecting"
            words = f"{host} cannot be reached: no connection in time"
        case aiohttp.SocketTimeoutError() | TimeoutError():
            words = f"{host} fell silent"
        case aiohttp.ServerDisconnectedError():
            words = f"{host} hung up without an answer"
        case aiohttp.ClientPayloadError():
            words = f"{host}: the answer broke off"
        case aiohttp.ClientResponseError():
            text = printable(strip_received_bytes(error.message))
            words = f"{host}: the answer is no HTTP that can be read ({text})"
        case aiohttp.InvalidURL():
            retryable, phase = False, "connecting"
            words = f"{host}: the address cannot be requested ({printable(str(error))})"
        case OSError():
            words = f"{host}: the connection was cut ({error.strerror or type(error).__name__})"
        case _:
            words = f"{host}: {type(error).__name__} {printable(str(error))}".strip()
    return FetchFailed(words, phase, host=host, retryable=retryable)

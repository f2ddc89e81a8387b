"""The gate before each of our servers: own names, own pages, and bodies as JSON.

A browser lets any web page send requests to this machine. Three checks keep such a page out: the
Host header must be a name of ours (else its own name could point here: DNS rebinding), an Origin
must be one of ours, and a body must be `application/json`, which a browser sends to another origin
only after it was allowed to.
"""

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = ("127.0.0.1", "[::1]", "localhost")
POLICY_VIOLATION = 1008
"""The WebSocket's close code for a refusal (RFC 6455, 7.4.1)."""

_PORT = re.compile(r":\d*\Z")


@dataclass(frozen=True)
class OwnNames:
    """What a server may be called, and which pages may call it."""

    hosts: frozenset[str]
    """Names in lower case, without a port; IPv6 addresses in brackets."""
    origins: frozenset[str] | None
    """The origins of pages that may call it; None: any whose host is one of `hosts`."""
    any_address: bool = False
    """Whether its Host may be any IP address, since rebinding needs a name."""


@dataclass(frozen=True)
class Refused:
    """A request that the gate stops."""

    status: int
    reason: str
    error: str


def serving_names(bound: str, further: Iterable[str] = ()) -> OwnNames:
    """The names of a server that is bound to an address.

    further: names by which other machines reach it, if it is not bound to the loopback.
    """
    names = {*LOOPBACK_NAMES, f"[{bound}]" if ":" in bound else bound, *further}
    if is_loopback(bound):
        return OwnNames(frozenset(map(str.lower, names)), None)
    names |= {socket.gethostname(), socket.getfqdn()}
    return OwnNames(frozenset(map(str.lower, names)), None, any_address=True)


def is_loopback(host: str) -> bool:
    """Whether a host is only reachable from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Gate:
    """ASGI middleware that stops requests and WebSockets which no client of ours sends."""

    def __init__(self, app: ASGIApp, names: OwnNames) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = None if scope["type"] == "lifespan" else self.check(Headers(scope=scope))
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            content = {"error": refused.error, "reason": refused.reason}
            await JSONResponse(content, refused.status)(scope, receive, send)

    def check(self, headers: Headers) -> Refused | None:
        """Return why a request with these headers is stopped; None if it is not."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own_host(hosts[0]):
            known = ", ".join(sorted(self._names.hosts))
            return Refused(421, "wrong_host", f"Ask for {known}: this server has no other name.")
        if not all(map(self._is_own_origin, headers.getlist("origin"))):
            return Refused(403, "wrong_origin", "Pages of other sites may not call this server.")
        given = headers.getlist("content-type")
        types = [each.partition(";")[0].strip().lower() for each in given]
        if has_body(headers) and types != ["application/json"]:
            return Refused(
                415, "not_json", "A body must be JSON, with `Content-Type: application/json`."
            )
        return None

    def _is_own_host(self, host: str) -> bool:
        name = _PORT.sub("", host.strip().lower())
        if name in self._names.hosts:
            return True
        return self._names.any_address and _is_address(name)

    def _is_own_origin(self, origin: str) -> bool:
        if self._names.origins is not None:
            return origin.lower() in self._names.origins
        scheme, _, host = origin.lower().partition("://")
        return scheme in ("http", "https") and _PORT.sub("", host) in self._names.hosts


def has_body(headers: Headers) -> bool:
    """Whether a request announces a body (RFC 9112, 6.3)."""
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip() != "0"


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True

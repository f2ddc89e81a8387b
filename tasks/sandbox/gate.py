"""Who may ask, and how often: before anything else looks at a request."""

import hmac
import math
import re
from collections import OrderedDict
from collections.abc import Sequence
from ipaddress import ip_address

from aiolimiter import AsyncLimiter
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

OPEN = frozenset({"/", "/health", "/openapi.json"})
"""Paths that need no key and are not counted: they say nothing of what pages hold."""
MOST_CLIENTS = 10_000
"""Whose requests are counted; with more, those that have been quiet longest start afresh."""

_PORT = re.compile(r":\d*\Z")


class OwnName:
    """Where only this machine can ask: asks to be asked for by a name of this machine.

    A web page of any site can have its own name lead here (DNS rebinding); then its reader's
    browser asks for that name, and would let it read the answers.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        """host: the address it is bound to; where others can ask there, any name will do."""
        self._app = app
        bound = f"[{host}]" if ":" in host else host.lower()
        self._names = {"127.0.0.1", "[::1]", "localhost", bound} if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._names is None or self._asked(scope) in self._names:
            await self._app(scope, receive, send)
            return
        said = {"error": "Ask for 127.0.0.1, [::1] or localhost; only this machine can ask.",
                "reason": "wrong_host"}  # fmt: skip
        await JSONResponse(said, 421)(scope, receive, send)

    def _asked(self, scope: Scope) -> str:
        return _PORT.sub("", Headers(scope=scope).get("host", "").lower())


class Gate:
    """Asks for a key, and refuses who asks too often."""

    def __init__(self, app: ASGIApp, keys: Sequence[str], per_minute: int) -> None:
        """keys: any of them opens; none: everybody may ask. per_minute: of one key or address."""
        self._app = app
        self._keys = [key.encode() for key in keys]
        self._per_minute = per_minute
        self._asked: OrderedDict[str, AsyncLimiter] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        who = self._who(scope)
        if who is None:
            said = "A key is needed: send it as `x-api-key`, or as `Authorization: Bearer …`."
            refused = JSONResponse(
                {"error": said, "reason": "no_key"}, 401, {"WWW-Authenticate": "Bearer"}
            )
            await refused(scope, receive, send)
            return
        limiter = self._limiter(who)
        if not limiter.has_capacity():
            wait = str(math.ceil(60 / self._per_minute))
            said = f"More than {self._per_minute} requests a minute; ask again in {wait} s."
            refused = JSONResponse(
                {"error": said, "reason": "too_often"}, 429, {"Retry-After": wait}
            )
            await refused(scope, receive, send)
            return
        await limiter.acquire()
        await self._app(scope, receive, send)

    def _who(self, scope: Scope) -> str | None:
        """The key's number or the client's address; None where a key is needed and not given."""
        client = scope.get("client")
        if not self._keys:
            return client[0] if client else ""
        headers = Headers(scope=scope)
        bearer, _, token = headers.get("authorization", "").partition(" ")
        given = headers.get("x-api-key") or (token if bearer.lower() == "bearer" else "")
        # All are compared, each in constant time: how long it takes says nothing of them.
        right = [hmac.compare_digest(given.strip().encode(), key) for key in self._keys]
        return str(right.index(True)) if any(right) else None

    def _limiter(self, who: str) -> AsyncLimiter:
        limiter = self._asked.pop(who, None) or AsyncLimiter(self._per_minute, 60)
        self._asked[who] = limiter
        if len(self._asked) > MOST_CLIENTS:
            self._asked.popitem(last=False)
        return limiter


def is_loopback(host: str) -> bool:
    """Whether only this machine can ask there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

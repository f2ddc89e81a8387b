"""Middleware that checks key and rate; the gate (`tasks.serving`) comes before it."""

import hmac
import math
from collections import OrderedDict
from collections.abc import Sequence

from aiolimiter import AsyncLimiter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tasks.sandbox.responses import refuse

OPEN_PATHS = frozenset({"/", "/health", "/openapi.json"})
"""Paths that need no key and are not rate limited, since they reveal no page content."""
MAX_CLIENTS = 10_000
"""How many clients are rate limited; with more, the least recent ones start afresh."""


class ClientCheck:
    """Requires a key and limits the rate of requests."""

    def __init__(self, app: ASGIApp, keys: Sequence[str], per_minute: int) -> None:
        """keys: accepted keys; empty for an open server. per_minute: for each key or address."""
        self._app = app
        self._keys = [key.encode() for key in keys]
        self._per_minute = per_minute
        self._limiters: OrderedDict[str, AsyncLimiter] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        client_id = self._identify(scope)
        if client_id is None:
            error = "A key is needed: send it as `x-api-key`, or as `Authorization: Bearer …`."
            refusal = refuse(error, "no_key", 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        limiter = self._limiter(client_id)
        if not limiter.has_capacity():
            wait = str(math.ceil(60 / self._per_minute))
            error = f"More than {self._per_minute} requests a minute; ask again in {wait} s."
            refusal = refuse(error, "too_often", 429, {"Retry-After": wait})
            await refusal(scope, receive, send)
            return
        await limiter.acquire()
        await self._app(scope, receive, send)

    def _identify(self, scope: Scope) -> str | None:
        """Return the key's index or the client's address; None if a required key is missing."""
        client = scope.get("client")
        if not self._keys:
            return client[0] if client else ""
        headers = Headers(scope=scope)
        bearer, _, token = headers.get("authorization", "").partition(" ")
        given = headers.get("x-api-key") or (token if bearer.lower() == "bearer" else "")
        # Compare all keys, each in constant time, so that the duration reveals nothing.
        matches = [hmac.compare_digest(given.strip().encode(), key) for key in self._keys]
        return str(matches.index(True)) if any(matches) else None

    def _limiter(self, client_id: str) -> AsyncLimiter:
        limiter = self._limiters.pop(client_id, None) or AsyncLimiter(self._per_minute, 60)
        self._limiters[client_id] = limiter
        if len(self._limiters) > MAX_CLIENTS:
            self._limiters.popitem(last=False)
        return limiter

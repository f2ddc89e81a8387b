"""Middleware that checks token and rate; the gate (`tasks.serving`) comes before it."""

import math
from collections import OrderedDict

from aiolimiter import AsyncLimiter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tasks.sandbox.responses import refuse
from tasks.sandbox.tokens import InvalidToken, ReaderToken, SandboxToken, read_token

OPEN_PATHS = frozenset({"/", "/health", "/openapi.json"})
"""Paths that need no token and are not rate limited, since they reveal no page content."""
ASKED_PATH = "/asked"
"""The path that says what a job asked for, to whoever issued its token."""
MAX_CLIENTS = 10_000
"""How many clients are rate limited; with more, the least recent ones start afresh."""


class TokenCheck:
    """Requires a token and limits the rate of requests. Handlers find it as `state.token`."""

    def __init__(
        self, app: ASGIApp, key: bytes | None, edition: str | None, per_minute: int
    ) -> None:
        """key: of the tokens; None for an open server. edition: whose tokens are accepted.
        per_minute: for each token's job, or address."""
        self._app = app
        self._key = key
        self._edition = edition
        self._per_minute = per_minute
        self._limiters: OrderedDict[str, AsyncLimiter] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            token = self._read_token(scope)
        except InvalidToken as error:
            refusal = refuse(str(error), "no_token", 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        limiter = self._limiter(_identify(scope, token))
        if not limiter.has_capacity():
            wait = str(math.ceil(60 / self._per_minute))
            often = f"More than {self._per_minute} requests a minute; ask again in {wait} s."
            refusal = refuse(often, "too_often", 429, {"Retry-After": wait})
            await refusal(scope, receive, send)
            return
        await limiter.acquire()
        scope.setdefault("state", {})["token"] = token
        await self._app(scope, receive, send)

    def _read_token(self, scope: Scope) -> SandboxToken | ReaderToken | None:
        """Return the request's token; None on an open server.

        Raises:
            InvalidToken: it is missing, or cannot be accepted.
        """
        if self._key is None:
            return None
        headers = Headers(scope=scope)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = headers.get("x-api-key") or (bearer if scheme.lower() == "bearer" else "")
        if not given:
            raise InvalidToken(
                "A token is needed: send it as `Authorization: Bearer …`, or as `x-api-key`. "
                "`evergreen sandbox token` makes one."
            )
        token = read_token(self._key, given.strip())
        if isinstance(token, SandboxToken) and token.edition != self._edition:
            raise InvalidToken("The token is for another edition.")
        if isinstance(token, ReaderToken) != (scope["path"] == ASKED_PATH):
            raise InvalidToken("The token is not for this path.")
        return token

    def _limiter(self, client_id: str) -> AsyncLimiter:
        limiter = self._limiters.pop(client_id, None) or AsyncLimiter(self._per_minute, 60)
        self._limiters[client_id] = limiter
        if len(self._limiters) > MAX_CLIENTS:
            self._limiters.popitem(last=False)
        return limiter


def _identify(scope: Scope, token: SandboxToken | ReaderToken | None) -> str:
    """Name whose requests are counted together."""
    if isinstance(token, SandboxToken):
        return f"job {token.job}"
    client = scope.get("client")
    return client[0] if client else ""

"""Access to the index for HTTP and MCP requests, under the rules of one server. Middleware checks
token and rate; the gate (`tasks.serving`) comes before it."""

import math
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from datetime import date
from typing import Any, TypeVar

from aiolimiter import AsyncLimiter
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.sandbox.catalogue import Ban, NotServed, PageFilter
from tasks.sandbox.responses import FetchedPage, SearchResult, refuse
from tasks.sandbox.search import SearchIndex
from tasks.sandbox.tokens import (
    Asked,
    AskedStore,
    InvalidToken,
    ReaderToken,
    SandboxToken,
    read_token,
)

AnswerT = TypeVar("AnswerT")
OPEN_PATHS = frozenset({"/", "/health", "/openapi.json"})
"""Paths that need no token and are not rate limited, since they reveal no page content."""
ASKED_PATH = "/asked"
"""The path that says what a job asked for, to whoever issued its token."""
MAX_CLIENTS = 10_000
"""How many clients are rate limited; with more, the least recent ones start afresh."""


class AccessRules(Frozen):
    """Which pages a server returns, and to whom. No request can relax them."""

    name: str
    """The name of the edition or corpus."""
    edition: str | None = None
    """The edition whose tokens are accepted; None without one."""
    ban: Ban | None
    """What any assignment of the edition bans, for every request; None without an edition: then
    nothing is banned, not even encyclopedias."""
    assignments: frozenset[str] = frozenset()
    """The assignments that requests may name."""
    as_of: date | None = None
    """Pages of later days are left out."""
    token_key: bytes | None = None
    """The key of the tokens that every request needs; None: the server is open to all."""


class Sandbox:
    """An index with the access rules of one server: what a request may search and read."""

    def __init__(
        self,
        index: SearchIndex,
        rules: AccessRules,
        settings: SandboxSettings,
        log: Callable[[str], None] | None = None,
        store: AskedStore | None = None,
    ) -> None:
        """log: receives every query, if given. store: keeps what each token asks for."""
        self.index = index
        self.rules = rules
        self.settings = settings
        self._log = log
        self._store = store
        self._filter = PageFilter(as_of=rules.as_of, ban=rules.ban)
        self.n_served = len(index.catalogue.find_served(self._filter))
        """Pages that requests can see."""
        allowed = index.catalogue.find_served(PageFilter(ban=rules.ban))
        self.n_banned = None if rules.ban is None else len(index.catalogue.rows) - len(allowed)
        """Pages that nobody can see, whatever their day; None if nothing is banned."""

    async def search(
        self,
        query: str,
        k: int,
        assignment: str | None,
        token: SandboxToken | None = None,
        *,
        with_texts: bool = False,
    ) -> list[SearchResult]:
        """Return the k best pages that requests may see.

        assignment: only checked; every request gets the same pages.

        Raises:
            NotServed: there is no such assignment, or it is not the token's.
        """
        found = self.index.search(query, k, self._filter, with_texts=with_texts)
        return await self._answer("search", query, assignment, token, found)

    async def fetch(
        self, url: str, assignment: str | None, token: SandboxToken | None = None
    ) -> FetchedPage:
        """Return a page by its URL or the URL that it redirects to.

        assignment: as in `search`.

        Raises:
            NotServed: there is no such assignment, or it is not the token's, or the page is not
                served.
        """
        page = self.index.get_page(url, self._filter)
        return await self._answer("fetch", url, assignment, token, page)

    def read_asked(self, job: str) -> list[Asked]:
        """Return what the tokens of a job asked for."""
        return self._store.read(job) if self._store else []

    async def _answer(
        self,
        call: str,
        argument: str,
        assignment: str | None,
        token: SandboxToken | None,
        answer: Coroutine[Any, Any, AnswerT],
    ) -> AnswerT:
        """Wait for an answer, unless the request may not have it, and keep what was asked for."""
        if self._log:
            self._log(f"{call} {argument!r}")
        outcome = "failed"
        try:
            self._check_assignment(assignment, token)
            found = await answer
            outcome = "served"
        except NotServed as error:
            outcome = error.reason
            raise
        finally:
            answer.close()
            if token and self._store:
                self._store.add(token, call, argument, outcome)
        return found

    def _check_assignment(self, assignment: str | None, token: SandboxToken | None) -> None:
        """Refuse a name that is not known: what such an assignment bans is not known either."""
        for name in (assignment, token.assignment if token else None):
            if name is not None and name not in self.rules.assignments:
                raise NotServed(
                    "unknown_assignment", f"{self.rules.name} has no assignment {name[:200]!r}."
                )
        if token and assignment not in (None, token.assignment):
            raise NotServed("unknown_assignment", "The token is for another assignment.")


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

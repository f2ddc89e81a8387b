"""Access to the index for HTTP and MCP requests, under the rules of one server."""

from collections.abc import Callable, Coroutine
from datetime import date
from typing import Any, TypeVar

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.sandbox.asked import Asked, AskedStore
from tasks.sandbox.bans import Ban
from tasks.sandbox.catalogue import NotServed, PageFilter
from tasks.sandbox.responses import FetchedPage, SearchResult
from tasks.sandbox.search import SearchIndex
from tasks.sandbox.tokens import SandboxToken

AnswerT = TypeVar("AnswerT")


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

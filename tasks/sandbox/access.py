"""Access to the index for HTTP and MCP requests, under the rules of one server."""

from collections.abc import Callable, Sequence
from datetime import date

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.sandbox.bans import Ban
from tasks.sandbox.catalogue import NotServed, PageFilter
from tasks.sandbox.responses import FetchedPage, SearchResult
from tasks.sandbox.search import SearchIndex


class AccessRules(Frozen):
    """Which pages a server returns, and to whom. No request can relax them."""

    name: str
    """The name of the edition or corpus."""
    ban: Ban | None
    """What any assignment of the edition bans, for every request; None without an edition: then
    nothing is banned, not even encyclopedias."""
    assignments: frozenset[str] = frozenset()
    """The assignments that requests may name."""
    as_of: date | None = None
    """Pages of later days are left out."""
    keys: Sequence[str] = ()
    """Accepted keys; without any, the server is open."""


class Sandbox:
    """An index with the access rules of one server: what a request may search and read."""

    def __init__(
        self,
        index: SearchIndex,
        rules: AccessRules,
        settings: SandboxSettings,
        log: Callable[[str], None] | None = None,
    ) -> None:
        """log: receives every query, if given."""
        self.index = index
        self.rules = rules
        self.settings = settings
        self._log = log
        self._filter = PageFilter(as_of=rules.as_of, ban=rules.ban)
        self.n_served = len(index.catalogue.find_served(self._filter))
        """Pages that requests can see."""
        allowed = index.catalogue.find_served(PageFilter(ban=rules.ban))
        self.n_banned = None if rules.ban is None else len(index.catalogue.rows) - len(allowed)
        """Pages that nobody can see, whatever their day; None if nothing is banned."""

    async def search(
        self, query: str, k: int, assignment: str | None, *, with_texts: bool = False
    ) -> list[SearchResult]:
        """Return the k best pages that requests may see.

        assignment: only checked; every request gets the same pages.

        Raises:
            NotServed: there is no such assignment.
        """
        self._check_assignment(assignment)
        self._log_call("search", query)
        return await self.index.search(query, k, self._filter, with_texts=with_texts)

    async def fetch(self, url: str, assignment: str | None) -> FetchedPage:
        """Return a page by its URL or the URL that it redirects to.

        assignment: as in `search`.

        Raises:
            NotServed: there is no such assignment, or the page is not served.
        """
        self._check_assignment(assignment)
        self._log_call("fetch", url)
        return await self.index.get_page(url, self._filter)

    def _log_call(self, call: str, argument: str) -> None:
        if self._log:
            self._log(f"{call} {argument!r}")

    def _check_assignment(self, assignment: str | None) -> None:
        """Refuse a name that is not known: what such an assignment bans is not known either."""
        if assignment is not None and assignment not in self.rules.assignments:
            raise NotServed(
                "unknown_assignment", f"{self.rules.name} has no assignment {assignment[:200]!r}."
            )

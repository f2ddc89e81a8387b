"""Access to the index for HTTP and MCP requests, under the rules of one server."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.sandbox.bans import Ban
from tasks.sandbox.catalogue import NotServed, PageFilter
from tasks.sandbox.responses import FetchedPage, SearchResult
from tasks.sandbox.search import SearchIndex


class AccessRules(Frozen):
    """Which pages a server returns, and to whom."""

    name: str
    """The name of the edition or corpus."""
    bans: Mapping[str, Ban]
    """The ban of each assignment; a request may name an assignment."""
    ban: Ban | None = None
    """The ban for requests that name no assignment."""
    assignment: str | None = None
    """The only assignment that requests may name; None for any."""
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
        self.n_served = index.catalogue.count_served(self._make_filter(None))
        """Pages that are served to requests without an assignment."""

    async def search(
        self, query: str, k: int, assignment: str | None, *, with_texts: bool = False
    ) -> list[SearchResult]:
        """Return the k best pages that a request for an assignment, or for none, may see.

        Raises:
            NotServed: the assignment is not served.
        """
        page_filter = self._make_filter(assignment)
        self._log_call("search", query)
        return await self.index.search(query, k, page_filter, with_texts=with_texts)

    async def fetch(self, url: str, assignment: str | None) -> FetchedPage:
        """Return a page by its URL or the URL that it redirects to.

        Raises:
            NotServed: the assignment or the page is not served.
        """
        page_filter = self._make_filter(assignment)
        self._log_call("fetch", url)
        return await self.index.get_page(url, page_filter)

    def _log_call(self, call: str, argument: str) -> None:
        if self._log:
            self._log(f"{call} {argument!r}")

    def _make_filter(self, assignment: str | None) -> PageFilter:
        return PageFilter(as_of=self.rules.as_of, ban=self._find_ban(assignment))

    def _find_ban(self, assignment: str | None) -> Ban | None:
        rules = self.rules
        if assignment is None:
            return rules.ban
        if rules.assignment is not None and assignment != rules.assignment:
            raise NotServed(
                "unknown_assignment",
                f"{assignment[:200]!r} is not served here; only {rules.assignment!r} is.",
            )
        if assignment not in rules.bans:
            raise NotServed(
                "unknown_assignment", f"{rules.name} has no assignment {assignment[:200]!r}."
            )
        return rules.bans[assignment]

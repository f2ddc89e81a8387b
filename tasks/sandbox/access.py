"""Access to the index for HTTP and MCP requests, under the rules of one server."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.sandbox.bans import Ban
from tasks.sandbox.catalogue import PageFilter
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


class UnknownAssignment(ValueError):
    """A request names an assignment that is not served; the message says which."""


class Sandbox:
    """An index with the access rules of one server."""

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
        self.n_served = index.catalogue.count_served(self.filter_for(None))
        """Pages that are served to requests without an assignment."""

    def filter_for(self, assignment: str | None) -> PageFilter:
        """Return the filter for requests that name an assignment, or none.

        Raises:
            UnknownAssignment: the assignment is not served.
        """
        return PageFilter(as_of=self.rules.as_of, ban=self._find_ban(assignment))

    def log_call(self, call: str, argument: str) -> None:
        """Log a call if logging is on."""
        if self._log:
            self._log(f"{call} {argument!r}")

    def _find_ban(self, assignment: str | None) -> Ban | None:
        rules = self.rules
        if assignment is None:
            return rules.ban
        if rules.assignment is not None and assignment != rules.assignment:
            raise UnknownAssignment(
                f"{assignment[:200]!r} is not served here; only {rules.assignment!r} is."
            )
        if assignment not in rules.bans:
            raise UnknownAssignment(f"{rules.name} has no assignment {assignment[:200]!r}.")
        return rules.bans[assignment]

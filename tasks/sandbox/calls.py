"""What HTTP and MCP have in common: the index, and what a request may see of it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from tasks.base import Frozen
from tasks.configuration.sandbox import SandboxSettings
from tasks.sandbox.bans import Ban
from tasks.sandbox.catalogue import Allowed
from tasks.sandbox.search import SearchIndex


class Served(Frozen):
    """What a server gives, and to whom."""

    name: str
    """Of the edition or corpus."""
    bans: Mapping[str, Ban]
    """What each assignment must not use; a request may name one of them."""
    ban: Ban | None = None
    """For requests that name none."""
    assignment: str | None = None
    """The only one that is served; None: any."""
    as_of: date | None = None
    keys: Sequence[str] = ()
    """Any of them opens; none: everybody may ask."""


class UnknownAssignment(ValueError):
    """A request names one that is not served; says which."""


class Calls:
    """The two calls under the rules of one server."""

    def __init__(
        self,
        index: SearchIndex,
        served: Served,
        settings: SandboxSettings,
        log: Callable[[str], None] | None = None,
    ) -> None:
        """log: told every query; None: nobody is."""
        self.index = index
        self.served = served
        self.settings = settings
        self._log = log
        self.n_served = index.catalogue.n_served(self.allowed(None))
        """Pages that requests which name no assignment may see."""

    def allowed(self, assignment: str | None) -> Allowed:
        """What a request may see.

        Raises:
            UnknownAssignment: it names an assignment that is not served.
        """
        return Allowed(as_of=self.served.as_of, ban=self._ban(assignment))

    def asked(self, call: str, what: str) -> None:
        """Log a call, if that is wanted."""
        if self._log:
            self._log(f"{call} {what!r}")

    def _ban(self, assignment: str | None) -> Ban | None:
        served = self.served
        if assignment is None:
            return served.ban
        if served.assignment is not None and assignment != served.assignment:
            raise UnknownAssignment(
                f"{assignment[:200]!r} is not served here; only {served.assignment!r} is."
            )
        if assignment not in served.bans:
            raise UnknownAssignment(f"{served.name} has no assignment {assignment[:200]!r}.")
        return served.bans[assignment]

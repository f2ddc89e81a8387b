"""The messages of `evergreen sandbox`."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flows.display.console import print_message, print_result
from tasks.sandbox.page import SandboxError

if TYPE_CHECKING:
    from tasks.sandbox.access import AccessRules, Sandbox


class LimitedWarnings:
    """Collects warnings of one kind: the first few, and their number."""

    def __init__(self, kind: str, limit: int) -> None:
        self._kind = kind
        self._limit = limit
        self._first: list[str] = []
        self._n = 0

    def __call__(self, line: str) -> None:
        self._n += 1
        if self._n <= self._limit:
            self._first.append(line)

    def print(self) -> None:
        """Print the first warnings, and count the others."""
        for line in self._first:
            _print_warning(f"{self._kind}: {line}")
        if self._n > self._limit:
            _print_warning(f"{self._kind}: {self._n - self._limit:,} more")


def check_served(sandbox: "Sandbox") -> None:
    """Print how many pages are served, unless all are.

    Raises:
        SandboxError: no page is served.
    """
    served, settings, catalogue = sandbox.rules, sandbox.settings, sandbox.index.catalogue
    n, as_of, undated = len(catalogue.rows), served.as_of, catalogue.n_undated
    if as_of and undated:
        treatment = "are left out" if settings.undated == "leave_out" else "are served anyway"
        _print_warning(
            f"{undated:,} of {n:,} pages have neither a date of publication nor one of fetching; "
            f"they {treatment} (`undated` in configs/sandbox.yaml)."
        )
    left_out = [f"pages from after {as_of}"] if as_of else []
    left_out += ["pages that an assignment bans"] if served.ban else []
    message = f"{sandbox.n_served:,} of {n:,} pages are served"
    if left_out:
        message += f"; {' and '.join(left_out)} are left out"
    if not sandbox.n_served:
        raise SandboxError(
            f"{message}: there is nothing to search. Choose a later --as-of, keep pages without a "
            "date (`undated: keep` in configs/sandbox.yaml), or name more pages with --corpus."
        )
    if left_out:
        print_message(f"{message}.")


def print_addresses(address: str, served: "AccessRules") -> None:
    query = urlencode({"query": "history", "k": 3, "format": "json"})
    key = ' -H "Authorization: Bearer $TOKEN"' if served.token_key else ""
    print_result(f"Search     {address}/search?query=&k=")
    print_result(f"Fetch      {address}/fetch?url=")
    print_result(f"MCP        {address}/mcp")
    print_result(f"Try        curl{key} '{address}/search?{query}'", wrap=False)
    print_message("Press Ctrl-C to stop.")


def warn_about_open_access(host: str) -> None:
    _print_warning(
        f"Anybody who can reach {host} can read these texts, which belong to others: leave out "
        "--open. Other machines use its address, its host name, or a --name."
    )


def warn_about_missing_bans() -> None:
    _print_warning(
        "Nothing is banned, not even encyclopedias: without an edition there are no assignments "
        "to protect. To serve agents that are asked about an edition, give --edition, too."
    )


def print_log_line(line: str) -> None:
    now = datetime.now(UTC)
    print_message(f"{now:%Y-%m-%d %H:%M:%S} {line}")


def _print_warning(line: str) -> None:
    print_message(line, style="yellow")

"""What `evergreen sandbox` says to people."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flows.display.console import ANSWERS, remark

if TYPE_CHECKING:
    from tasks.sandbox.calls import Calls, Served


class Told:
    """Remarks of one kind: the first few, and how many there are."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._first: list[str] = []
        self._n = 0

    def __call__(self, line: str) -> None:
        self._n += 1
        if self._n <= 10:
            self._first.append(line)

    def say(self, most: int) -> None:
        """most: are named, at most ten; the others are counted."""
        for line in self._first[:most]:
            _warn(f"{self._kind}: {line}")
        if self._n > most:
            _warn(f"{self._kind}: {self._n - most:,} more")


def check_served(calls: "Calls") -> None:
    """Say how many pages are served where that is not all of them.

    Raises:
        SandboxError: there is none.
    """
    from tasks.sandbox.errors import SandboxError

    served, settings, catalogue = calls.served, calls.settings, calls.index.catalogue
    n, as_of, undated = len(catalogue.rows), served.as_of, catalogue.n_undated
    if as_of and undated:
        what = "are left out" if settings.undated == "leave_out" else "are served all the same"
        _warn(
            f"{undated:,} of {n:,} pages say neither when they were published nor when they were "
            f"fetched; they {what} (`undated` in configs/sandbox.yaml)."
        )
    rules = [f"as of {as_of}"] if as_of else []
    rules += ["without what is banned"] if served.ban else []
    said = f"{calls.n_served:,} of {n:,} pages are served {' and '.join(rules)}"
    if not calls.n_served:
        raise SandboxError(
            f"{said}: there is nothing to search. Choose a later --as-of, keep pages without a "
            "date (`undated: keep` in configs/sandbox.yaml), or name more pages with --corpus."
        )
    if rules:
        remark(f"{said}.")


def say_address(address: str, served: "Served") -> None:
    query = urlencode({"query": "history", "k": 3, "format": "json"})
    key = ' -H "x-api-key: $KEY"' if served.keys else ""
    ANSWERS.print(f"Search     {address}/search?query=&k=", markup=False, highlight=False)
    ANSWERS.print(f"Fetch      {address}/fetch?url=", markup=False, highlight=False)
    ANSWERS.print(f"MCP        {address}/mcp", markup=False, highlight=False)
    ANSWERS.print(f"Try        curl{key} '{address}/search?{query}'", markup=False,
                  highlight=False, soft_wrap=True)  # fmt: skip
    remark("Ctrl-C ends it.")


def say_open(host: str) -> None:
    _warn(
        f"Everybody who reaches {host} can read these texts, which are other people's: set a key "
        "with --api-key-env. Other machines ask for this one's name or address."
    )


def log(line: str) -> None:
    now = datetime.now(UTC)
    remark(f"{now:%Y-%m-%d %H:%M:%S} {line}")


def _warn(line: str) -> None:
    remark(line, style="yellow")

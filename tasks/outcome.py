"""What became of a run, of one of its steps or stages: one word for it, and a message.

Stages and flows build outcomes; `flows.runtime.outcomes` turns them into Prefect's states and back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tasks.errors import ExpectedError

Kind = Literal["done", "cached", "open", "partial", "failed", "cancelled"]
NAMES: dict[Kind, str] = {
    "cancelled": "Cancelled",
    "failed": "Failed",
    "partial": "Partial",
    "open": "Open",
    "done": "Completed",
    "cached": "Cached",
}
"""What each kind is called where people read it; the worst comes first."""
MAX_ERRORS, MAX_ITEMS = 5, 3
"""Failures listed in a message; the `failures` artifact lists all."""


class PartLeft(ExpectedError):
    """A part of a stage was done but for some items, which stay pending; what came is kept.

    Attributes:
        may_pass: whether the part may be tried again at once: its endpoint did not answer, or asked
            to wait, so nothing was bought.
        left: how many of its items; None: all.
        is_down: whether that endpoint has answered nobody meanwhile.
    """

    def __init__(self, message: str, *, may_pass: bool = False, left: int | None = None) -> None:
        super().__init__(message)
        self.may_pass = may_pass
        self.left = left
        self.is_down = False


class PartOpen(PartLeft):
    """What a part has left waits for its second look: nobody has to act."""


@dataclass(frozen=True)
class Failure:
    """One item that could not be done in this run."""

    stage: str
    item: str
    error: str
    cause: BaseException | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Outcome:
    """What became of something.

    `cached`: nothing was pending. `open`: what is left waits for its second look, and nobody has to
    act. `partial`: some items failed; run again for these alone. `failed`: it could not be done.
    """

    kind: Kind
    message: str
    failures: tuple[Failure, ...] = ()
    other_name: str = ""
    """A name that says more than the kind, e.g. `Declined`."""
    error: BaseException | None = None

    @property
    def name(self) -> str:
        """Its name in the Prefect UI and in messages."""
        return self.other_name or NAMES[self.kind]

    @property
    def is_complete(self) -> bool:
        """Whether everything was done that was asked for: the exit code 0."""
        return self.kind in ("done", "cached") and not self.other_name

    def require(self) -> "Outcome":
        """Return it, or raise its error if the work failed or was cancelled."""
        if self.kind in ("failed", "cancelled"):
            raise self.error or RuntimeError(self.message)
        return self


def join_outcomes(
    message: str,
    parts: Iterable[Outcome] = (),
    failures: Iterable[Failure] = (),
    left: str = "Left:",
) -> Outcome:
    """Make the outcome of a whole: that of its worst part, at least `partial` with failures.

    message: what was done. left: what stands before the list of failures.
    """
    parts = list(parts)
    every = (*(failure for part in parts for failure in part.failures), *failures)
    kinds = [part.kind for part in parts]
    kind = find_worst([*kinds, "partial"] if every else kinds)
    listed = f"{left}{format_failures(every)}" if every else ""
    return Outcome(kind, f"{message} {listed}".strip(), every)


def find_worst(kinds: Iterable[Kind]) -> Kind:
    """Return the worst of these kinds; `done` if there are none."""
    return min(kinds, key=[*NAMES].index, default="done")


def format_failures(failures: Sequence[Failure]) -> str:
    """Format the first errors, a line each after their items, and count the other failures."""
    by_error: dict[str, list[str]] = {}
    for failure in failures:
        by_error.setdefault(failure.error, []).append(failure.item)
    listed = list(by_error.items())[:MAX_ERRORS]
    lines = "".join(f"\n  {_format_items(items)}: {error}" for error, items in listed)
    rest = len(failures) - sum(len(items) for _, items in listed)
    return lines + (f"\n  (and {rest} more)" if rest else "")


def _format_items(items: Sequence[str]) -> str:
    more = len(items) - MAX_ITEMS
    return "; ".join(items[:MAX_ITEMS]) + (f" and {more} more" if more > 0 else "")

"""Findings: what a check found, how serious it is, and what to do about it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from tasks.base import Frozen
from tasks.configuration.errors import ConfigurationError
from tasks.warehouse.errors import WarehouseError, first_line

Status = Literal["ok", "warn", "fail", "skipped"]
"""`warn`: works, but needs attention. `fail`: something cannot work as it is.
`skipped`: not checked, or nothing to check."""


class Finding(Frozen):
    """The outcome of one check. Never contains a key or anything derived from one."""

    group: str
    """The area: software, configuration, keys, …"""
    check: str
    status: Status
    finding: str
    """A sentence for people."""
    advice: str | None = None
    """What to do; null if there is nothing to do."""


@dataclass(frozen=True)
class CheckGroup:
    """Builds the findings of one group."""

    group: str

    def finding(self, status: Status, check: str, text: str, advice: str | None = None) -> Finding:
        """Return a finding; the advice is dropped if the status is ok."""
        needed = None if status == "ok" else advice
        return Finding(group=self.group, check=check, status=status, finding=text, advice=needed)

    def ok(self, check: str, text: str) -> Finding:
        return self.finding("ok", check, text)

    def warn(self, check: str, text: str, advice: str | None = None) -> Finding:
        return self.finding("warn", check, text, advice)

    def fail(self, check: str, text: str, advice: str | None = None) -> Finding:
        return self.finding("fail", check, text, advice)

    def skipped(self, check: str, text: str, advice: str | None = None) -> Finding:
        return self.finding("skipped", check, text, advice)


def run_checks(
    group: str, check: Callable[..., Iterable[Finding]], *arguments: object
) -> Iterator[Finding]:
    """Yield the findings of a check. If it raises, that becomes a failed finding."""
    try:
        yield from check(*arguments)
    except (WarehouseError, ConfigurationError) as error:
        yield CheckGroup(group).fail(group, first_line(error))
    except Exception as error:  # the other groups must still be checked
        text = f"could not be checked ({type(error).__name__}: {first_line(error)})."
        yield CheckGroup(group).fail(group, text)


def count_by_status(findings: Iterable[Finding]) -> dict[Status, int]:
    """Count the findings by status."""
    counts = Counter(found.status for found in findings)
    return {status: counts[status] for status in get_args(Status)}

"""A look at everything Evergreen stands on: what is found, how bad that is, and what to do.

Each kind of check is a file beside this one (`checkup_*.py`); `evergreen doctor` runs them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from tasks.base import Frozen
from tasks.configuration.errors import ConfigurationError
from tasks.warehouse.errors import WarehouseError, first_line

Status = Literal["ok", "warn", "fail", "skipped"]
"""`warn`: it works, but somebody should look. `fail`: something cannot be done as it is.
`skipped`: not looked at, or nothing to look at."""


class Finding(Frozen):
    """What one check found. It never holds a key, nor anything made from one."""

    group: str
    """What it is about: software, configuration, keys, …"""
    check: str
    status: Status
    finding: str
    """In words."""
    advice: str | None = None
    """What to do; null where there is nothing to do."""


@dataclass(frozen=True)
class About:
    """Makes the findings of one group."""

    group: str

    def told(self, status: Status, check: str, finding: str, advice: str | None = None) -> Finding:
        """A finding; one that is fine needs no advice."""
        needed = None if status == "ok" else advice
        return Finding(group=self.group, check=check, status=status, finding=finding, advice=needed)

    def ok(self, check: str, finding: str) -> Finding:
        return self.told("ok", check, finding)

    def warn(self, check: str, finding: str, advice: str | None = None) -> Finding:
        return self.told("warn", check, finding, advice)

    def fail(self, check: str, finding: str, advice: str | None = None) -> Finding:
        return self.told("fail", check, finding, advice)

    def skipped(self, check: str, finding: str, advice: str | None = None) -> Finding:
        return self.told("skipped", check, finding, advice)


def checked(group: str, checks: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of some checks; one that fails itself is a finding, too, and ends them."""
    about = About(group)
    try:
        yield from checks()
    except (WarehouseError, ConfigurationError) as error:
        yield about.fail(group, first_line(error))
    except Exception as error:  # whatever is wrong, the other checks are still to be made
        said = f"it could not be checked ({type(error).__name__}: {first_line(error)})."
        yield about.fail(group, said)


def counted(findings: Iterable[Finding]) -> dict[Status, int]:
    """How many findings there are of each status."""
    counts: dict[Status, int] = {"ok": 0, "warn": 0, "fail": 0, "skipped": 0}
    for found in findings:
        counts[found.status] += 1
    return counts

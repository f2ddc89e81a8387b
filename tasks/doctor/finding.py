"""Findings: what a check found, how serious it is, and what to do about it."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from tasks.base import Frozen

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


class Found(NamedTuple):
    """What the function of a check yields."""

    status: Status
    finding: str
    advice: str | None = None
    """What to do, where it is not the check's advice."""
    check: str = ""
    """What was checked, where a check looks at several things."""
    group: str = ""
    """The area, where it is another than the check's."""


def count_by_status(findings: Iterable[Finding]) -> dict[Status, int]:
    """Count the findings by status."""
    counts = Counter(found.status for found in findings)
    return {status: counts[status] for status in get_args(Status)}

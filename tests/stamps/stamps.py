"""Stamps: that a unit passed, and the sha of all that it could reach then.

One file for each target, `.ci/stamps/<target>`: a line for each unit, sorted, with its name, the
sha, and what was left unproven because this machine lacks it. Where Git has joined two branches
there may be two lines for a unit; either may be the one that holds.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tests.stamps.outcomes import Outcome
from tests.stamps.tree import STAMPS


def _no_docker() -> bool:
    """As tests/test_docker.py finds it."""
    try:
        for asked in (["docker", "compose", "version"], ["docker", "info"]):
            subprocess.run(asked, capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return True
    return False


LACKING: dict[str, Callable[[], bool]] = {
    "needs a Docker engine": _no_docker,
    "root may write everywhere": lambda: os.geteuid() == 0,
}
"""Reasons with which a test may be skipped and its unit have a stamp all the same, and whether
they apply here: where one does not, the stamp does not hold, so that what it leaves unproven is
proven by the first machine that can."""


class Stamp(NamedTuple):
    name: str
    sha: str
    unproven: tuple[str, ...] = ()
    """Reasons of LACKING, each with the number of tests that were skipped for it."""

    def holds(self) -> bool:
        return all(LACKING[lack]() for each in self.unproven if (lack := lacking(each)))


def lacking(reason: str) -> str | None:
    """The reason of LACKING that this is; None for one with which there is no stamp."""
    return next((lack for lack in LACKING if reason.startswith(lack)), None)


def path_of(root: Path, target: str) -> Path:
    return root / STAMPS / target


def read_stamps(root: Path, target: str) -> list[Stamp]:
    path = path_of(root, target)
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [_parsed(line) for line in lines if line]


def _parsed(line: str) -> Stamp:
    name, sha, *unproven = line.split("\t")
    return Stamp(name, sha, tuple(unproven))


def write_stamps(root: Path, target: str, stamps: Iterable[Stamp]) -> None:
    lines = sorted("\t".join([each.name, each.sha, *each.unproven]) for each in {*stamps})
    path = path_of(root, target)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def refusal(outcome: Outcome) -> str | None:
    """Why there is no stamp for tests that ended so; None where there is one."""
    if outcome.failed:
        return "it failed"
    if forbidden := [reason for reason in sorted(outcome.skipped) if not lacking(reason)]:
        return f"skipped: {'; '.join(forbidden)}"
    return None if outcome.passed or outcome.skipped else "no test was run"


def unproven(outcome: Outcome) -> tuple[str, ...]:
    """What a stamp for tests that ended so leaves unproven."""
    lacks = Counter[str]()
    for reason, n in outcome.skipped.items():
        lacks[lacking(reason) or reason] += n
    return tuple(f"{lack} ({n})" for lack, n in sorted(lacks.items()))

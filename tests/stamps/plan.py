"""What is to be run, and why: all that no stamp covers."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.stamps.stamps import read_stamps
from tests.stamps.tree import STAMPS
from tests.stamps.units import TARGETS, Units

PROVEN_TWICE = ("demo", "test")
"""What a newcomer runs. A stamp of the machine on which it was written must not hide a step of
installation that is missing elsewhere: the commit that brings it is proven on a clean clone."""


@dataclass(frozen=True)
class Planned:
    """A target, with what is run of it."""

    target: str
    names: list[str]
    """Units that are run."""
    n_units: int
    why: str
    unproven: list[str]
    """What the stamps of the others leave unproven here."""


def plan(units: Units, everything: bool = False) -> Iterator[Planned]:
    for target in TARGETS:
        yield planned(units, target, everything)


def planned(units: Units, target: str, everything: bool = False) -> Planned:
    names = units.names(target)
    stamps = read_stamps(units.root, target)
    unproven: list[str] = []
    stale = []
    for name in names:
        sha = units.sha(target, name)
        found = next((each for each in stamps if each[:2] == (name, sha) and each.holds()), None)
        if found:
            unproven += [f"{name}: {reason}" for reason in found.unproven]
        else:
            stale.append(name)
    if everything:
        return Planned(target, names, len(names), "everything is run", [])
    if stale:
        stamped = {stamp.name for stamp in stamps}
        why = "it reaches what was changed" if stamped & {*stale} else "no stamp"
        return Planned(target, stale, len(names), why, unproven)
    if target in PROVEN_TWICE and is_brought_by_head(units.root, target):
        return Planned(target, names, len(names), "this commit brings its stamp", [])
    return Planned(target, [], len(names), "stamped", unproven)


def is_brought_by_head(root: Path, target: str) -> bool:
    """Whether nothing but the newest commit is here, and the stamp came with it."""
    # Stamps aside, which this very run may have written.
    if _git(root, "status", "--porcelain", "--", ".", f":(exclude){STAMPS}"):
        return False
    changed = _git(root, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-m", "HEAD")
    return f"{STAMPS}/{target}" in changed.splitlines()


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def table(rows: list[Planned]) -> str:
    """For people: what is run, what is not, and what nobody has proven."""
    lines = [f"{'unit':16} {'runs':>9}  why"]
    for row in rows:
        runs = f"{len(row.names)} of {row.n_units}" if row.n_units > 1 else "yes" * bool(row.names)
        lines.append(f"{row.target:16} {runs or '-':>9}  {row.why}")
        lines += [f"{'':16} {'':>9}  not proven: {each}" for each in row.unproven]
    lines += [f"{each:16} {'yes':>9}  always" for each in ("lint", "prose")]
    return "\n".join(lines)

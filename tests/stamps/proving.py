"""Running a target for what no stamp covers, and stamping what passed."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.stamps.outcomes import Outcome, read_outcomes
from tests.stamps.stamps import Stamp, read_stamps, refusal, unproven, write_stamps
from tests.stamps.tree import Tree
from tests.stamps.units import BY_FILE, Units


def prove(units: Units, target: str, names: Sequence[str], make: Sequence[str] = ("make",)) -> int:
    """Run the target for these units, stamp what passed, and say so.

    Returns:
        make's exit code.
    """
    shas = {name: units.sha(target, name) for name in names}
    code, outcomes = run(units, target, names, make)
    now = Tree(units.root)  # a file that was changed meanwhile may not be what was tested
    passed, failed = list[Stamp](), set[str]()
    for name in names:
        outcome = outcomes.get(name, Outcome())
        why = refusal(outcome)
        if why is None and units.differs(now, target, name):
            why = "what it reaches was changed while it ran"
        if why is None:
            passed.append(Stamp(name, shas[name], unproven(outcome)))
        if outcome.failed:
            failed.add(name)
        remarks = [f"no stamp, {why}"] if why else [f"not proven: {x}" for x in unproven(outcome)]
        for remark in remarks:
            print(f"== {name}: {remark}.")
    replaced = failed | {stamp.name for stamp in passed}
    kept = [stamp for stamp in read_stamps(units.root, target)
            if stamp.name not in replaced and stamp.name in units.names(target)]  # fmt: skip
    write_stamps(units.root, target, [*kept, *passed])
    print(f"== {target}: {len(passed)} of {len(names)} stamped.", flush=True)
    return code


def run(
    units: Units, target: str, names: Iterable[str], make: Sequence[str]
) -> tuple[int, dict[str, Outcome]]:
    """make's exit code, and how each unit ended."""
    if not units.runs_pytest(target):
        return _run_rig(units.root, [*make, target], target)
    with TemporaryDirectory() as folder:
        outcomes, only = Path(folder) / "outcomes.json", Path(folder) / "only"
        options = f"-p tests.stamps.outcomes --outcomes={outcomes}"
        if target in BY_FILE:
            only.write_text("\n".join(names), "utf-8")
            options += f" --only={only}"
        command = [*make, target, f"PYTEST={options}"]
        code = subprocess.run(command, cwd=units.root, check=False).returncode
        found = read_outcomes(outcomes)
    together = sum(found.values(), Outcome())
    if code and not together.failed:  # no test tells what went wrong
        return code, {name: Outcome(failed=1) for name in names}
    return code, found if target in BY_FILE else {target: together}


def _run_rig(root: Path, command: Sequence[str], target: str) -> tuple[int, dict[str, Outcome]]:
    """A program says in words that it was skipped."""
    outcome = Outcome()
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"PYTHONUNBUFFERED": "1"}) as process:  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            if line.startswith("Skipped:"):
                outcome.skipped[line.removeprefix("Skipped:").strip()] += 1
    outcome.failed = int(process.returncode != 0)
    outcome.passed = 1 - outcome.failed
    return process.returncode, {target: outcome}

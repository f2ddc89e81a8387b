"""Look for known vulnerabilities of all that the locks name: `make audit`.

Exit codes: 0 there are none, or it could not be asked, which the last line says; 1 there are some;
2 a lock is wrong.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.dependencies.locks import LOCKS, ROOT

UNREACHED = ("ConnectionError", "ProxyError", "Timeout", "SSLError", "ServiceError")
"""Errors of pip-audit that say that nobody answered."""
MAX_NAMED = 10
"""Packages that a line names."""


def main(locks: Sequence[str] = LOCKS) -> int:
    """Ask, print what was found, and return the exit code."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        given = [argument for lock in locks for argument in ("-r", str(ROOT / lock))]
        done = subprocess.run(
            [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip",
             "--progress-spinner", "off", "--format", "json", "--output", str(report), *given],
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        found = json.loads(report.read_text("utf-8")) if report.exists() else None
    code, said = judge(found, done.stderr)
    print(said)
    return code


def judge(found: dict[str, Any] | None, error: str) -> tuple[int, str]:
    """Return the exit code and what to say of pip-audit's report; without one, of its error."""
    if found is None:
        why = error.strip().splitlines()[-1] if error.strip() else "pip-audit said nothing"
        if any(name in error for name in UNREACHED):
            return 0, f"make audit DID NOT RUN: nobody could be asked ({why[:300]})."
        return 2, f"make audit failed: {why}"
    packages = found["dependencies"]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    asked = len(packages) - len(skipped)
    if not asked:
        return 0, "make audit DID NOT RUN: the service that was asked knows none of the packages."
    bad = [
        f"{package['name']} {package['version']}: {each['id']}, fixed in "
        f"{', '.join(each['fix_versions']) or 'no version yet'}"
        for package in packages
        for each in package.get("vulns", ())
    ]
    lines = bad or [f"No known vulnerability in {asked} packages."]
    if skipped:
        named = ", ".join(skipped[:MAX_NAMED]) + (" …" if len(skipped) > MAX_NAMED else "")
        lines.append(f"NOT CHECKED, as the service does not know them: {len(skipped)} ({named}).")
    return int(bool(bad)), "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

"""Show that a change of the code changes no id, no verdict and no figure.

    python -m tests.rigs.same_figures --before COMMIT --work DIR [--published FOLDER]

Three warehouses are made by the code of COMMIT and by that of this checkout: the sample edition
by `demo` (offline judge), the published edition in FOLDER likewise, and the sample with three
small editions of research queries by a model judge through the ledger. The model is one server
for both, in its own process. Then all tables are compared, but for the columns of WITHOUT,
and the warehouses of COMMIT are evaluated again by this checkout's code:
nothing may be pending but scores of an older scorer, which cost nothing to compute. What COMMIT
gave stays in DIR for the next comparison with it.

Exit code 0: every table is equal, and no request was asked again.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tests.rigs import compared_tables
from tests.rigs.compared_tables import MADE_AT, Tables
from tests.rigs.kill_judges import INCIDENTAL
from tests.rigs.model_process import model_process, totals_of
from tests.rigs.research_editions import PROTOCOLS

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = "../shared/data/wlc/2025_Mar_Nov"
OTHERS = {"warehouse_info", "audit", "publications", "refreshes", "fetched_editions", "backups"}
"""Tables that say when something was done, and by whom."""
WITHOUT = {*MADE_AT, *INCIDENTAL, "message"}
"""Columns that say when or how something was made, and messages, which may be reworded."""


SCORER = "tasks/scoring/pending.py"
SCORING = "Scoring"
WORK = ("Extracting ", "Measuring ", "Making key points", "Judging", SCORING)
"""How lines of stages begin that have something to do."""


@dataclass(frozen=True)
class Side:
    """The code of one commit, and the folder in which its warehouses lie."""

    code: Path
    folder: Path
    address: str
    """Of the model's server."""

    def python(self, *arguments: str) -> str:
        """Run a module of this side's code; what it printed."""
        environment = {
            "PYTHONPATH": str(self.code),
            "EVERGREEN_PREFECT_HOME": str(self.folder / "prefect"),
            "EVERGREEN_LOCAL_URL": self.address,
            "EVERGREEN_LOCAL_KEY": "test-key",
        }
        done = subprocess.run(
            [sys.executable, "-m", *arguments], cwd=self.code, env={**os.environ, **environment},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n"
                               f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}")  # fmt: skip
        return done.stdout + done.stderr

    def scorer(self) -> str:
        """The version of this side's scorer."""
        found = re.search(
            r'^SCORER_VERSION = "(.+)"', (self.code / SCORER).read_text("utf-8"), re.M
        )
        if not found:
            raise RuntimeError(f"{self.code / SCORER} names no SCORER_VERSION")
        return found[1]

    def evaluations(self, published: bool) -> Iterator[tuple[str, ...]]:
        """The arguments of each evaluation."""
        yield ("--edition", "sample", "--warehouse", self.warehouse("sample"))
        if published:
            yield ("--edition", "published", "--warehouse", self.warehouse("published"))
        for edition in ("sample", *PROTOCOLS):
            yield ("--edition", edition, "--judge", "local",
                   "--warehouse", self.warehouse("judged"))  # fmt: skip

    def warehouse(self, name: str) -> str:
        return str(self.folder / f"{name}.duckdb")

    def make(self, published: Path | None) -> None:
        """All warehouses, from nothing."""
        self.folder.mkdir(parents=True)
        sample = str(self.code / "data" / "sample")
        for name, source in (("sample", sample), ("judged", sample), ("published", published)):
            if source:
                edition = "published" if name == "published" else "sample"
                self.python("flows", "import", "wlc", str(source), "--edition", edition,
                            "--warehouse", self.warehouse(name))  # fmt: skip
        self.python("tests.rigs.research_editions", "--to", self.warehouse("judged"))
        for arguments in self.evaluations(bool(published)):
            self.python("flows", "evaluate", *arguments)


def contents(warehouse: str, *without: str) -> Tables:
    """Every table's rows, without what says when they were made; and without these columns."""
    return compared_tables.contents(Path(warehouse), OTHERS, {*WITHOUT, *without})


def differences(before: str, now: str) -> list[str]:
    """What differs between two warehouses, in words; empty if nothing does. Columns that a newer
    schema adds are left out."""
    added = columns_of(now) - columns_of(before)
    found = compared_tables.differences(contents(before), contents(now, *added))
    return [f"{Path(now).stem}, {said}" for said in found]


def columns_of(warehouse: str) -> set[str]:
    """All of a warehouse, as `table.column`."""
    with duckdb.connect(warehouse, read_only=True) as connection:
        query = "SELECT table_name || '.' || column_name FROM duckdb_columns() WHERE NOT internal"
        return {name for (name,) in connection.execute(query).fetchall()}


def code_of(commit: str, folder: Path) -> Path:
    """A commit's files, in `folder`."""
    folder.mkdir(parents=True)
    archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    if archive.wait():
        raise RuntimeError(f"git archive {commit} failed")
    for name, place in (("configs", "configs"), ("sample", "data/sample")):
        # Without it this checkout's are found.
        (folder / "evergreen" / name).symlink_to(folder.resolve() / place)
    return folder


def main() -> int:
    """Read the command line, make what is missing, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, help="a commit")
    parser.add_argument("--work", required=True, type=Path, help="a folder for this alone")
    parser.add_argument("--published", type=Path, default=ROOT / PUBLISHED)
    options = parser.parse_args()
    work: Path = options.work.absolute()
    published = options.published.resolve() if options.published.exists() else None
    if published is None:
        print(f"{options.published} does not exist: without the published edition.")
    named = ["git", "rev-parse", "--verify", f"{options.before}^{{commit}}"]
    commit = subprocess.run(named, cwd=ROOT, capture_output=True, text=True, check=True)
    before = work / commit.stdout.strip()[:12]
    with model_process() as address:
        old = Side(before / "code", before / "made", address)
        if not (before / "whole").exists():
            shutil.rmtree(before, ignore_errors=True)
            code_of(options.before, old.code)
            old.make(published)
            (before / "whole").touch()
        shutil.rmtree(work / "now", ignore_errors=True)
        new = Side(ROOT, work / "now" / "made", address)
        new.make(published)
        found = compare(old, new, bool(published))
        again = shutil.copytree(
            old.folder,
            work / "now" / "again",
            symlinks=True,
            ignore=shutil.ignore_patterns("prefect"),
        )
        rescored = old.scorer() != new.scorer()
        found += pending(Side(ROOT, again, address), bool(published), rescored)
    print("\n".join(found) or "Every table is equal, and nothing was asked again.")
    return 1 if found else 0


def compare(old: Side, new: Side, published: bool) -> list[str]:
    """The differences of all warehouses; says how much was compared."""
    found = []
    for name in ("sample", "judged", *(["published"] if published else [])):
        found += differences(old.warehouse(name), new.warehouse(name))
        rows = {table: len(rows) for table, rows in contents(new.warehouse(name)).items()}
        said = ", ".join(f"{rows[table]:,} {table}" for table in ("cells", "verdicts", "scores",
                                                                  "calls"))  # fmt: skip
        print(f"{name}: {said}; {sum(rows.values()):,} rows in all")
    return found


def pending(side: Side, published: bool, rescored: bool) -> list[str]:
    """What this code finds pending in warehouses of the commit before; `rescored`: scores may."""
    works = [work for work in WORK if not (rescored and work == SCORING)]
    asked = totals_of(side.address)["requests"]
    found = []
    for arguments in side.evaluations(published):
        said = side.python("flows", "evaluate", *arguments)
        if any(work in said for work in works):  # a newer schema's snapshots are made anew
            found.append(f"evaluate {' '.join(arguments)}: something was pending:\n{said}")
    if totals_of(side.address)["requests"] != asked:
        found.append("The model was asked again.")
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Show that a change of the code changes no id, verdict or figure, and nothing that users see.

    python -m tests.rigs.same_figures --before COMMIT --work DIR [--published FOLDER]
        [--except PATTERN …]

Three warehouses are made by the code of COMMIT and by that of this checkout: the sample edition
(offline judge), the published edition in FOLDER likewise, and the sample with three
small editions of research queries by a model judge through the ledger. The model is one server
for both, in its own process. Then all tables are compared, but for the columns of WITHOUT,
and the warehouses of COMMIT are evaluated again by this checkout's code:
nothing may be pending but scores of an older scorer, which cost nothing to compute.

Compared as well is what a user sees (same_surface): every command's help, what commands print and
answer (surface_commands), and the files and sites that they write. PATTERN is a regular
expression of a difference that is known: of a file's name, or of a changed line.

Each side is made in DIR/side, so that both have the same paths, and moved away: what COMMIT gave
to DIR/<its first twelve digits>, where it stays for the next comparison with it; what this
checkout gave, with its files and not yet committed changes, to DIR/now.

Exit code 0: there is no difference, and no request was asked again.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from tests.rigs import compared_tables, same_surface
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
COLUMNS = 200
"""The width of the terminal: wide, so that what is added to a text moves no other line."""
CLOSED = "http://127.0.0.1:9"
"""A proxy that is not there: nothing reaches another host."""
EVALUATED = "evaluated"
"""A side's warehouses before any command of same_surface changed them."""
HANGS_SECONDS = 3600
"""After which a command counts as hung; the published edition takes long."""
MADE = "made.json"
"""How a side was made; there once it is whole."""
SCORER = re.compile(r'^SCORER_VERSION = "(.+)"', re.M)
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

    def run(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run Python with this side's code, in its folder; with no variables but those that it
        needs."""
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "LANG": "C.UTF-8", "TZ": "UTC", "COLUMNS": str(COLUMNS),
            "HTTP_PROXY": CLOSED, "HTTPS_PROXY": CLOSED,
            "PYTHONPATH": str(self.code),
            "EVERGREEN_PREFECT_HOME": "prefect",
            "EVERGREEN_LOCAL_URL": self.address,
            "EVERGREEN_LOCAL_KEY": "test-key",
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-P", *arguments], cwd=self.folder, env=environment | variables,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=HANGS_SECONDS,
        )  # fmt: skip

    def python(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a module of this side's code, which must not fail."""
        done = self.run("-m", *arguments)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}:\n"
                               f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}")  # fmt: skip
        return done

    def scorer(self) -> str:
        """The version of this side's scorer."""
        for file in sorted((self.code / "tasks").rglob("*.py")):
            if found := SCORER.search(file.read_text("utf-8")):
                return found[1]
        raise RuntimeError(f"{self.code / 'tasks'} names no SCORER_VERSION")

    def evaluations(self, published: bool) -> Iterator[tuple[str, ...]]:
        """The arguments of each evaluation."""
        yield ("--edition", "sample", "--warehouse", "sample.duckdb")
        if published:
            yield ("--edition", "published", "--warehouse", "published.duckdb")
        for edition in ("sample", *PROTOCOLS):
            yield ("--edition", edition, "--judge", "local", "--warehouse", "judged.duckdb")

    def make(self, published: Path | None) -> None:
        """All warehouses, from nothing, with what making them printed."""
        self.folder.mkdir(parents=True)
        sample = "../code/data/sample"
        commands: list[tuple[str, ...]] = [
            ("import", "wlc", sample, "--edition", "sample", "--warehouse", "sample.duckdb"),
            ("import", "wlc", sample, "--edition", "sample", "--warehouse", "judged.duckdb"),
        ]
        if published:
            commands.append(("import", "wlc", str(published), "--edition", "published",
                             "--warehouse", "published.duckdb"))  # fmt: skip
        commands += [("evaluate", *arguments) for arguments in self.evaluations(bool(published))]
        for arguments in commands:
            if "gym" in arguments:  # the first of them
                self.python("tests.rigs.research_editions", "--to", "judged.duckdb")
            done = self.python("flows", *arguments)
            same_surface.record_messages(self.folder, "made", arguments, done)


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


def code_of(commit: str | None, folder: Path) -> None:
    """A commit's files in `folder`; this checkout's, as they are now, if no commit is given."""
    folder.mkdir(parents=True)
    if commit:
        archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
        if archive.wait():
            raise RuntimeError(f"git archive {commit} failed")
    else:
        for name in git("ls-files", "-z", "-co", "--exclude-standard").split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    for name, place in (("configs", "../configs"), ("sample", "../data/sample")):
        # Without it those of the installed package are found.
        (folder / "evergreen" / name).symlink_to(place)


def day_of(side: Path) -> str:
    """The day on which a side was made."""
    return str(json.loads((side / MADE).read_text("utf-8"))["day"])


def today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def made_side(commit: str | None, to: Path, address: str, published: Path | None) -> Side:
    """Make all of one side, in the folder that both sides share, and move it to `to`."""
    common = to.parent / "side"
    for folder in (common, to):
        shutil.rmtree(folder, ignore_errors=True)
    side = Side(common / "code", common / "made", address)
    code_of(commit, side.code)
    side.make(published)
    shutil.copytree(side.folder, common / EVALUATED, symlinks=True,
                    ignore=shutil.ignore_patterns("prefect*"))  # fmt: skip
    same_surface.record(side, bool(published))
    made = {"day": today(), "rig": same_surface.version(), "published": bool(published)}
    (common / MADE).write_text(json.dumps(made), "utf-8")
    common.rename(to)
    return Side(to / "code", to / "made", address)


def is_whole(side: Path, published: Path | None) -> bool:
    """Whether a side was made to its end, as this rig makes it, with all that is to compare."""
    if not (side / MADE).exists():
        return False
    made = json.loads((side / MADE).read_text("utf-8"))
    if made["day"] != today():
        print(f"{side} was made on {made['day']}: what counts days may differ.")
    return bool(made["rig"] == same_surface.version() and made["published"] >= bool(published))


def main() -> int:
    """Read the command line, make what is missing, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, help="a commit")
    parser.add_argument("--work", required=True, type=Path, help="a folder for this alone")
    parser.add_argument("--published", type=Path, default=ROOT / PUBLISHED)
    parser.add_argument("--except", action="append", default=[], dest="excepted",
                        metavar="PATTERN", help="a difference that is known")  # fmt: skip
    options = parser.parse_args()
    work: Path = options.work.absolute()
    published = options.published.resolve() if options.published.exists() else None
    if published is None:
        print(f"{options.published} does not exist: without the published edition.")
    commit = git("rev-parse", "--verify", f"{options.before}^{{commit}}").strip()
    before = work / commit[:12]
    with model_process() as address:
        if is_whole(before, published):
            old = Side(before / "code", before / "made", address)
        else:
            old = made_side(commit, before, address, published)
        new = made_side(None, work / "now", address, published)
        found = compare(before / EVALUATED, work / "now" / EVALUATED, bool(published))
        found += same_surface.changes(
            old.folder, new.folder, days=(day_of(before), day_of(work / "now")),
            published=bool(published), without={*MADE_AT, *INCIDENTAL}, excepted=options.excepted,
        )  # fmt: skip
        again = shutil.copytree(before / EVALUATED, work / "now" / "again", symlinks=True)
        rescored = old.scorer() != new.scorer()
        found += pending(Side(new.code, again, address), bool(published), rescored)
    print("\n\n".join(found) or "Everything is equal, and nothing was asked again.")
    return 1 if found else 0


def compare(before: Path, now: Path, published: bool) -> list[str]:
    """The differences of all warehouses in two folders; says how much was compared."""
    found = []
    for name in ("sample", "judged", *(["published"] if published else [])):
        old, new = str(before / f"{name}.duckdb"), str(now / f"{name}.duckdb")
        found += differences(old, new)
        rows = {table: len(rows) for table, rows in contents(new).items()}
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
        done = side.python("flows", "evaluate", *arguments)
        said = done.stdout + done.stderr
        if any(work in said for work in works):  # a newer schema's snapshots are made anew
            found.append(f"evaluate {' '.join(arguments)}: something was pending:\n{said}")
    if totals_of(side.address)["requests"] != asked:
        found.append("The model was asked again.")
    return found


if __name__ == "__main__":
    sys.exit(main())

"""What a user sees of a side of `same_figures`: helps, messages, answers, files and sites.

`same_figures` calls it:

    python -m tests.rigs.same_figures --before COMMIT --work DIR [--except PATTERN …]

Both sides are made in the same folder, one after the other, so that paths are the same in all
that is said. `record` writes what a side shows into files below the folder, `changes` compares the
files of two sides: text by lines, Parquet by its rows, all else by its bytes. MASKS holds all that
may differ, with the reason.

Nothing reaches the network: requests to other hosts go to a closed port.
"""

import difflib
import gzip
import json
import re
import shlex
import shutil
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple, Protocol

import duckdb

from tests.rigs.surface_commands import OPERATOR, WRITTEN, Session, sessions

Ended = CompletedProcess[str]
HELP_TEXTS = Path(__file__).with_name("help_texts.py")
HELPS, MESSAGES, EXPORTS = "help", "messages", "exports"
COMPARED = (HELPS, MESSAGES, WRITTEN, EXPORTS)
"""Folders of a side whose files are compared."""
AT_ONCE = 3
"""Sessions that run side by side."""
NEVER = r"(?!)"
"""A pattern that nothing matches."""
MAX_LINES = 40
"""Lines of a difference that are shown."""
MAX_SHOWN = 60
"""Differences that are shown; of further ones the files are named."""
MAX_WIDTH = 300
LONG_LINE = re.compile(rf".{{{MAX_WIDTH},}}")


class Runner(Protocol):
    """A side, as far as it is needed here."""

    @property
    def folder(self) -> Path: ...

    def run(self, *arguments: str, **variables: str) -> Ended: ...


class Mask(NamedTuple):
    """Something that differs from run to run."""

    pattern: str
    """A regular expression; DAY in it stands for the day on which a side was made."""
    instead: str
    reason: str
    files: str = "*"
    """A glob of the files in which it is masked."""


CALLS = "*calls*"
"""Files that list calls to models."""
SUMS_OF_CALLS = "*/calls_--[fs]*"
"""Those whose last column is how long they took."""
MASKS = (
    Mask(r"\d{8}T\d{6}\.\d+Z", "<moment>", "folders of exports and backups bear their moment"),
    Mask(r"DAY[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|\+00:00)?", "<moment>",
         "when something was made, asked or printed; moments of other days are data"),
    Mask("DAY", "<day>", "likewise"),
    Mask(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>",
         "ids of warehouses and of Prefect's runs are random"),
    Mask(r"/tmp/[\w./-]+", "<temporary>", "temporary folders have random names"),
    Mask(r"[\d.,]+ of [\d.,]+ GB free\. *", "<free>", "the disk is others' as well"),
    Mask(r"\b[\d.]+ hours ago", "<hours> ago", "grows with the time that the commands take"),
    Mask(r"\bschema (\d+), [\d.]+ MB", r"schema \1, <size>", "DuckDB's files have free blocks"),
    Mask(r'("(?:latency_)?seconds": ?)[\d.e-]+', r"\1<seconds>", "how long a model took", CALLS),
    Mask(r"(?m)[ ,]+\d+\.\d+ *$", " <seconds>", "likewise, the last column", SUMS_OF_CALLS),
    Mask(r'("(?:cached_tokens|response_id|tries)": ?)[^,}\n]+', r"\1<incidental>",
         "how a call went: what is cached hangs on the order of calls", CALLS),
    Mask(r'"sha256": ?"[0-9a-f]{64}"', '"sha256": "<sha>"',
         "of files that hold moments; each file of a site is compared itself", "*/site.json"),
    Mask(r"(?m)^[0-9a-f]{64}(?= )", "<sha>", "likewise", "*SHA256SUMS*"),
    Mask(r'"(sha256|bytes)": ?"?[0-9a-f]+"?', r'"\1": <file>',
         "of tables with moments; they are compared as exports", "*backup*"),
    Mask(r"(127\.0\.0\.1|localhost):\d{4,5}", "<host>:<port>", "servers take a free port"),
)  # fmt: skip


def mask(name: str, text: str, day: str = "") -> str:
    """Return a file's text without what differs from run to run.

    day: that on which its side was made.
    """
    for pattern, instead, _, files in MASKS:
        if fnmatch(name, files):
            text = re.sub(pattern.replace("DAY", re.escape(day) if day else NEVER), instead, text)
    return text


# What a side shows


def record(side: Runner, published: bool) -> None:
    """Write all that a side shows into files of its folder, after its warehouses are made."""
    configure_operator(side.folder)
    (side.folder / WRITTEN).mkdir()
    record_helps(side)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda session: record_session(side, session), sessions(published)))


def configure_operator(folder: Path) -> None:
    """Make configurations that name an operator, from the side's own."""
    (folder / OPERATOR).mkdir()
    for name in ("web.yaml", "wikipedia.yaml"):
        text = (folder.parent / "code" / "configs" / name).read_text("utf-8")
        named = text.replace("operator: null", "operator: referee@example.org")
        (folder / OPERATOR / name).write_text(named, "utf-8")


def record_helps(side: Runner) -> None:
    """Write the help of every command."""
    done = side.run(str(HELP_TEXTS))
    if done.returncode:
        raise RuntimeError(f"the commands could not be listed:\n{done.stderr[-4000:]}")
    for name, text in json.loads(done.stdout).items():
        write(side.folder / HELPS / f"{name}.txt", text)


def record_session(side: Runner, session: Session) -> None:
    """Run a session's commands, one after the other."""
    if session.copied_from:
        copied = side.folder / f"{session.copied_from}.duckdb"
        shutil.copy(copied, side.folder / f"{session.warehouse}.duckdb")
    settings = {
        "EVERGREEN_WAREHOUSE": f"{session.warehouse}.duckdb",
        "EVERGREEN_PREFECT_HOME": f"prefect-{session.name}",
    }
    for words in session.commands():
        variables = [word for word in words if re.match(r"EVERGREEN_\w+=", word)]
        given = settings | dict(word.split("=", 1) for word in variables)
        done = side.run("-m", "flows", *words[len(variables) :], **given)
        record_messages(side.folder, session.name, words, done)


def record_messages(folder: Path, session: str, words: Sequence[str], done: Ended) -> None:
    """Write what a command printed, and how it ended; a second time beside the first."""
    name = re.sub(r"[^\w.=-]+", "_", " ".join(words))[:100].strip("_") or "evergreen"
    while (file := folder / MESSAGES / session / f"{name}.txt").exists():
        name = f"{name}+"
    write(
        file,
        f"$ evergreen {shlex.join(words)}\nexit code {done.returncode}\n"
        f"--- standard output\n{done.stdout}\n--- standard error\n{done.stderr}",
    )


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def version() -> str:
    """Return what a side is made by: another one's messages cannot be compared with it."""
    files = (HELP_TEXTS, HELP_TEXTS.with_name("surface_commands.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


# What differs


def changes(
    before: Path,
    now: Path,
    *,
    days: tuple[str, str],
    published: bool,
    without: Collection[str] = (),
    excepted: Sequence[str] = (),
) -> list[str]:
    """Return what differs between two sides' files, as a unified diff each; none if nothing does.

    Args:
        before, now: the folders of the two sides.
        days: those on which they were made.
        published: whether to compare what is of the published edition.
        without: columns of tables that may differ.
        excepted: regular expressions of differences that are known: a file whose name one matches
            is not compared, and a changed line that one matches is not counted.
    """
    unread = [*excepted, *([] if published else ["published"])]
    old, new = files_of(before, unread), files_of(now, unread)
    found = [*only(old.keys() - new.keys(), "before"), *only(new.keys() - old.keys(), "now")]
    for name in sorted(old.keys() & new.keys()):
        if old[name].read_bytes() != new[name].read_bytes():
            sides = zip((old, new), days, strict=True)
            one, other = (read(name, files[name], day, without) for files, day in sides)
            found += diff(name, one, other, excepted)
    return found[:MAX_SHOWN] + shorten_rest(found[MAX_SHOWN:])


def shorten_rest(found: Sequence[str]) -> list[str]:
    """Return the names alone, as one difference, of what is too much to be shown."""
    names = [each.splitlines()[0].replace("--- before/", "also in ") for each in found]
    return ["\n".join(names)] if names else []


def only(names: Collection[str], where: str) -> Iterator[str]:
    """Yield which files are on one side only, as one difference."""
    if names:
        yield "\n".join(shorten([f"only {where}: {name}" for name in sorted(names)]))


def files_of(folder: Path, unread: Sequence[str]) -> dict[str, Path]:
    """Return all files to compare, by names that are the same on both sides.

    unread: regular expressions of names that are left out.
    """
    found: dict[str, Path] = {}
    for part in COMPARED:
        for file in sorted((folder / part).rglob("*")):
            if file.is_file() and not any(each.is_symlink() for each in (file, file.parent)):
                name = mask("names", str(file.relative_to(folder)))
                while name in found:
                    name = f"{name}+"  # several exports, in the order of their times
                found[name] = file
    return {n: f for n, f in found.items() if not any(re.search(each, n) for each in unread)}


def read(name: str, file: Path, day: str, without: Collection[str]) -> str:
    """Return a file's contents as text: a table's rows, or of other data that it differs."""
    if file.suffix == ".parquet":
        return mask(name, read_table(file, without), day)
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    try:
        text = mask(name, content.decode(), day)
    except UnicodeDecodeError:
        return f"{len(content)} bytes, sha256 {sha256(content).hexdigest()}"
    if file.suffix == ".jsonl":  # calls are listed as they were answered
        return "\n".join(sorted(text.split("\n")))
    return text


def read_table(file: Path, without: Collection[str]) -> str:
    """Return a Parquet file's columns and rows."""
    with duckdb.connect() as connection:
        table = connection.read_parquet(str(file))
        kept = [f'"{column}"' for column in table.columns if column not in without]
        texts = ", ".join(f"{column}::VARCHAR" for column in kept)
        rows = table.order(", ".join(kept)).project(texts).fetchall() if kept else []
        columns = zip(table.columns, table.types, strict=True)
        return "\n".join([*(f"{column} {kind}" for column, kind in columns), *map(repr, rows)])


def diff(name: str, before: str, now: str, excepted: Sequence[str]) -> Iterator[str]:
    """Yield the difference of two texts, cut to a readable length; nothing if there is none."""
    if before == now:
        return
    old, new = lines_of(before), lines_of(now)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    begin = max(0, alike - 1)
    shown = [
        f"--- before/{name}",
        f"+++ now/{name}, from line {begin + 1}",
        *list(difflib.unified_diff(old[begin:], new[begin:], n=1, lineterm=""))[2:],
    ]
    changed = [line for line in shown[2:] if line[0] in "+-"]
    if not all(any(re.search(pattern, line) for pattern in excepted) for line in changed):
        yield "\n".join(shorten(shown))


def lines_of(text: str) -> list[str]:
    """Return a text's lines; long ones, as of JSON and HTML, in parts."""
    return re.sub(LONG_LINE, lambda line: re.sub(r"(?<=[>,;}])", "\n", line[0]), text).split("\n")


def shorten(lines: Sequence[str]) -> list[str]:
    """Return lines cut to a readable length and number."""
    shown = [line if len(line) <= MAX_WIDTH else f"{line[:MAX_WIDTH]} …" for line in lines]
    more = len(shown) - MAX_LINES
    return [*shown[:MAX_LINES], f"… and {more} more lines"] if more > 0 else shown

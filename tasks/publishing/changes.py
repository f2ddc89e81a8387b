"""What differs between two published sites and between the leaderboards they were made of."""

import hashlib
from pathlib import Path

import polars as pl

from tasks.base import Frozen
from tasks.site.mark import OURS, UnwritableSite, check_target
from tasks.warehouse.store import Readable

BEFORE, AFTER, FIGURES, CHANGES = "before", "after", "before.json", "changes.json"
"""What lies in a folder in which an edition was published before and after a change."""
BOARD_KEY = ("protocol", "agent", "metric", "judge")
BOARD_SQL = (
    f"SELECT {', '.join(BOARD_KEY)}, value, n_items, n_reports, provisional FROM leaderboard "
    "WHERE edition = $1 ORDER BY ALL"
)
BOARD = {
    **dict.fromkeys(BOARD_KEY, pl.String), "value": pl.Float64, "n_items": pl.Int64,
    "n_reports": pl.Int64, "provisional": pl.Boolean,
}  # fmt: skip
"""The columns that it gives."""


class Begun(Frozen):
    """What a change began with: kept, as a run that goes on later could not see it any more."""

    edition: str
    judge: str
    """The one that judges again."""
    figures: list[dict[str, str | float | int | bool | None]]
    """Rows of BOARD_SQL."""

    @property
    def board(self) -> pl.DataFrame:
        return pl.DataFrame(self.figures, schema=BOARD)


class FileChange(Frozen):
    """One file that is not the same in both sites."""

    path: str
    change: str
    """`new`, `gone` or `differs`."""
    bytes_before: int | None
    bytes_after: int | None


class FigureChange(Frozen):
    """One figure of the leaderboard that is not the same in both; shares 0-1."""

    protocol: str
    agent: str
    metric: str
    judge: str
    before: float | None
    """Null: not there, or without a value."""
    after: float | None
    items_before: int
    items_after: int
    reports_before: int
    reports_after: int
    provisional: bool
    """Whether it is now."""


class SiteChanges(Frozen):
    """What publishing again has changed."""

    figures: tuple[FigureChange, ...]
    files: tuple[FileChange, ...]
    n_files: int
    """Of the site as it is now."""
    complete: bool = True
    """Whether nothing was left to judge; otherwise the next run is compared with the same."""


def check_changes_folder(folder: Path) -> None:
    """Raise UnwritableSite where the folder cannot be written to, or holds something else than an
    earlier comparison."""
    if folder.is_file():
        raise UnwritableSite(f"{folder} is a file. Name a folder with --publish.")
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if {name for name in there if OURS not in name} - {BEFORE, AFTER, FIGURES, CHANGES}:
        raise UnwritableSite(
            f"{folder} holds other files than {BEFORE}/, {AFTER}/, {FIGURES} and {CHANGES}. Name "
            "an empty or a new folder with --publish."
        )
    try:
        for name in (BEFORE, AFTER):
            check_target(folder / name)
    except UnwritableSite as error:
        raise UnwritableSite(str(error).replace("--to", "--publish")) from error


def board_of(source: Readable, edition: str) -> pl.DataFrame:
    """The figures of an edition as they stand now, to be compared later."""
    return source.frame(BOARD_SQL, [edition])


def figure_changes(before: pl.DataFrame, after: pl.DataFrame) -> tuple[FigureChange, ...]:
    """Figures that are new, gone, or have another value or number of items, in the board's order.

    before, after: as `board_of` gives them.
    """
    joined = before.join(after, on=BOARD_KEY, how="full", coalesce=True, suffix="_after")
    rows = []
    for row in joined.sort(BOARD_KEY).iter_rows(named=True):
        change = FigureChange(
            **{name: row[name] for name in BOARD_KEY},
            before=row["value"],
            after=row["value_after"],
            items_before=row["n_items"] or 0,
            items_after=row["n_items_after"] or 0,
            reports_before=row["n_reports"] or 0,
            reports_after=row["n_reports_after"] or 0,
            provisional=bool(row["provisional_after"]),
        )
        was = (change.before, change.items_before, change.reports_before)
        if was != (change.after, change.items_after, change.reports_after):
            rows.append(change)
    return tuple(rows)


def file_changes(before: Path, after: Path) -> tuple[tuple[FileChange, ...], int]:
    """The files that differ between two folders, by path, and how many files the later one has."""
    old, new = _contents(before), _contents(after)
    changes = []
    for path in sorted({*old, *new}):
        one, other = old.get(path), new.get(path)
        if one != other:
            changes.append(
                FileChange(
                    path=path,
                    change="new" if one is None else "gone" if other is None else "differs",
                    bytes_before=one[0] if one else None,
                    bytes_after=other[0] if other else None,
                )
            )
    return tuple(changes), len(new)


def begun_before(folder: Path, edition: str, judge: str) -> Begun | None:
    """What an earlier run began with that was to do the same and did not come to its end."""
    kept, changes = folder / FIGURES, read_changes(folder)
    if not kept.exists() or not (folder / BEFORE).is_dir() or (changes and changes.complete):
        return None
    begun = Begun.model_validate_json(kept.read_text("utf-8"))
    return begun if (begun.edition, begun.judge) == (edition, judge) else None


def begin_anew(folder: Path) -> None:
    """Forget an earlier comparison: its sites are written over."""
    for name in (FIGURES, CHANGES):
        (folder / name).unlink(missing_ok=True)


def keep_begun(folder: Path, begun: Begun) -> None:
    """Write it once the site before is there: both together are what a later run goes on with."""
    _write(folder / FIGURES, begun)


def keep_changes(folder: Path, changes: SiteChanges) -> None:
    """Write what differs beside both sites."""
    _write(folder / CHANGES, changes)


def read_changes(folder: Path) -> SiteChanges | None:
    """What differs between the sites of a folder; None where they were not compared."""
    path = folder / CHANGES
    return SiteChanges.model_validate_json(path.read_text("utf-8")) if path.exists() else None


def _write(path: Path, value: Frozen) -> None:
    """Whole or not at all."""
    written = path.with_name(f"{OURS}{path.name}")
    written.write_text(value.model_dump_json(indent=1), "utf-8")
    written.replace(path)


def _contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and sha-256 of every file, by its path in the folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                sha = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = (path.stat().st_size, sha)
    return found

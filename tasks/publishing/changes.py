"""What judging again has changed on an edition's leaderboard, beside the edition's site."""

from pathlib import Path

import polars as pl
from pydantic import ConfigDict

from tasks.base import Frozen
from tasks.scoring.pending import SCORER_VERSION
from tasks.site.mark import (
    WORK_PREFIX,
    UnwritableSite,
    check_target,
    make_public_folder,
    write_atomically,
)
from tasks.warehouse.store import Readable

BEFORE, AFTER, FIGURES, CHANGES = "before", "after", "before.json", "changes.json"
"""The contents of a folder: the site after a change, the figures before it, and what has changed.
Earlier versions also wrote the site before the change."""
BOARD_KEY = ("protocol", "agent", "metric", "judge")
BOARD_SQL = (
    f"SELECT {', '.join(BOARD_KEY)}, value, n_items, n_reports, provisional FROM leaderboard "
    "WHERE edition = $1 ORDER BY ALL"
)
BOARD = {
    **dict.fromkeys(BOARD_KEY, pl.String), "value": pl.Float64, "n_items": pl.Int64,
    "n_reports": pl.Int64, "provisional": pl.Boolean,
}  # fmt: skip
"""The columns of BOARD_SQL."""


class ComparisonStart(Frozen):
    """The state before a change, stored for runs that continue it later."""

    edition: str
    judge: str
    """The judge that judges again."""
    scorer_version: str = ""
    """What figures meant then; empty if an earlier Evergreen began it."""
    figures: list[dict[str, str | float | int | bool | None]]
    """Rows of BOARD_SQL."""

    @property
    def board(self) -> pl.DataFrame:
        return pl.DataFrame(self.figures, schema=BOARD)


class FigureChange(Frozen):
    """A figure that differs between the two leaderboards; shares 0-1."""

    protocol: str
    agent: str
    metric: str
    judge: str
    before: float | None
    """Null: missing, or without a value."""
    after: float | None
    items_before: int
    items_after: int
    reports_before: int
    reports_after: int
    provisional: bool
    """Whether the figure is provisional now."""


class BoardChanges(Frozen):
    """The differences between the two leaderboards."""

    model_config = ConfigDict(extra="ignore")  # earlier versions compared the files of two sites

    figures: tuple[FigureChange, ...]
    complete: bool = True
    """Whether nothing is pending; otherwise the next run compares with the same state."""


def check_changes_folder(folder: Path) -> None:
    """Raise UnwritableSite if the folder cannot be written to, or holds anything but an earlier
    comparison."""
    if folder.is_file():
        raise UnwritableSite(f"{folder} is a file. Name a folder with --to.")
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if {name for name in there if WORK_PREFIX not in name} - {BEFORE, AFTER, FIGURES, CHANGES}:
        raise UnwritableSite(
            f"{folder} holds other files than {AFTER}/, {FIGURES} and {CHANGES}. Name an "
            "empty or a new folder with --to."
        )
    for name in (BEFORE, AFTER):
        check_target(folder / name)


def load_figures(source: Readable, edition: str) -> pl.DataFrame:
    """Load the current figures of an edition, to compare them later."""
    return source.frame(BOARD_SQL, [edition])


def compare_figures(before: pl.DataFrame, after: pl.DataFrame) -> tuple[FigureChange, ...]:
    """Return the figures that are new, gone, or changed in value or numbers, in the board's order.

    before, after: frames of `load_figures`.
    """
    joined = before.join(after, on=BOARD_KEY, how="full", coalesce=True, suffix="_after")
    changes = joined.sort(BOARD_KEY).select(
        *BOARD_KEY,
        before="value",
        after="value_after",
        items_before=pl.col("n_items").fill_null(0),
        items_after=pl.col("n_items_after").fill_null(0),
        reports_before=pl.col("n_reports").fill_null(0),
        reports_after=pl.col("n_reports_after").fill_null(0),
        provisional=pl.col("provisional_after").fill_null(False),
    )
    differs = (
        pl.col("before").ne_missing(pl.col("after"))
        | (pl.col("items_before") != pl.col("items_after"))
        | (pl.col("reports_before") != pl.col("reports_after"))
    )
    return tuple(FigureChange(**row) for row in changes.filter(differs).iter_rows(named=True))


def load_unfinished(folder: Path, edition: str, judge: str) -> ComparisonStart | None:
    """Load the start of an unfinished comparison of this edition and judge; None without one.

    Raises:
        UnwritableSite: its figures were scored by another version, in which they may mean
            something else.
    """
    start, changes = folder / FIGURES, load_changes(folder)
    if not start.exists() or (changes and changes.complete):
        return None
    begun = ComparisonStart.model_validate_json(start.read_text("utf-8"))
    if (begun.edition, begun.judge) != (edition, judge):
        return None
    if begun.scorer_version != SCORER_VERSION:
        raise UnwritableSite(
            f"{start} was begun by scorer version {begun.scorer_version or '4 or earlier'}, and "
            f"this is version {SCORER_VERSION}: figures of the same name may mean something else, "
            "so they are not compared. Name a new folder with --to, which begins anew."
        )
    return begun


def clear_comparison(folder: Path) -> None:
    """Delete the files of an earlier comparison; its site will be overwritten."""
    for name in (FIGURES, CHANGES):
        (folder / name).unlink(missing_ok=True)


def save_start(folder: Path, begun: ComparisonStart) -> None:
    """Store the start, for later runs."""
    make_public_folder(folder)
    write_atomically(folder / FIGURES, begun.model_dump_json(indent=1).encode())


def save_changes(folder: Path, changes: BoardChanges) -> None:
    """Store the differences beside the site."""
    write_atomically(folder / CHANGES, changes.model_dump_json(indent=1).encode())


def load_changes(folder: Path) -> BoardChanges | None:
    """Load the differences; None if nothing was compared."""
    path = folder / CHANGES
    return BoardChanges.model_validate_json(path.read_text("utf-8")) if path.exists() else None

"""`evergreen backup` and `evergreen restore`: a warehouse with all that belongs to it."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Printed, WarehouseAt
from flows.display.console import ANSWERS, insist, passing_bars, remark
from tasks.backup.create import MadeBackup, back_up
from tasks.backup.manifest import BackupManifest, opened_backup, verify
from tasks.backup.restore import Restored
from tasks.backup.restore import restore as restore_backup
from tasks.warehouse.location import DEFAULT

MOST_NAMED = 5
"""Of what is missing, so many are named."""

Where = Annotated[
    Path,
    typer.Argument(
        metavar="BACKUP", help="A folder of backups (the newest counts), one of them, or a file."
    ),
]


def make(
    context: typer.Context,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            help="A folder, for many backups that share their pages; or a new file, NAME.tar.",
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, help="Of the backups in the folder only the newest stay."),
    ] = None,
    form: Printed = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Back up a warehouse: its tables as Parquet, its archived pages, its reports' files.

    A run that owns a DuckDB file is waited for; of a lake one moment is copied while others write.
    Again into the same folder: another backup, with only the pages and files that are new. What is
    half-written is never taken for a backup. Restored, it becomes either kind of warehouse.
    """
    if context.invoked_subcommand:
        return
    if to is None:
        raise typer.BadParameter("say where: --to FOLDER, or --to NAME.tar.", param_hint="--to")
    with _followed() as on_progress:
        made = back_up(warehouse, to, keep=keep, on_wait=remark, on_progress=on_progress)
    _say_made(made, form)
    if made.manifest.missing:
        _say_missing(made.manifest)
        raise typer.Exit(1)
    remark(f"Next: evergreen backup verify {made.place}")


def verify_backup(where: Where, form: Printed = "table") -> None:
    """Read all of a backup and compare it with its manifest; exit code 1 if it is not whole."""
    with opened_backup(where) as found, _followed() as on_progress:
        done, total = 0, found.manifest.bytes

        def read(n_bytes: int) -> None:
            nonlocal done
            done += n_bytes
            on_progress("verified", done, total)

        verify(found, read)
        place, manifest = found.place, found.manifest
    _say(f"{place} is whole: {_brief(manifest)}.", manifest, form)
    if manifest.missing:
        _say_missing(manifest)


def restore(
    where: Where,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Also where something is. A file that is there is kept beside the new one.",
        ),
    ] = False,
    form: Printed = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Make a warehouse what it was when a backup was taken, as a file or as a lake.

    The backup is verified first. A file appears whole or not at all, a lake's tables change in one
    commit. Pages and files that are there are left, those that are missing or damaged come back.
    So a warehouse also moves: from a file of one host to a lake of several, and back.
    """
    with opened_backup(where) as found:
        with _followed() as on_progress:
            done = restore_backup(
                found, warehouse, replace=replace, on_wait=remark, on_progress=on_progress
            )
        place, manifest = found.place, found.manifest
    _say_restored(place, manifest, done, form)


@contextmanager
def _followed() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for what is being done."""
    with passing_bars() as bars:
        bar = bars.add_task("", total=None)

        def on_progress(what: str, done: int, total: int) -> None:
            bars.update(bar, description=what, completed=done, total=total)

        yield on_progress


def _brief(manifest: BackupManifest) -> str:
    pages, files = (manifest.stores[store].count for store in ("pages", "files"))
    return (
        f"{manifest.rows:,} rows in {len(manifest.tables)} tables (schema "
        f"{manifest.schema_version}), {pages:,} pages, {files:,} files, "
        f"{manifest.bytes / 1e6:,.1f} MB; of {manifest.warehouse}, "
        f"{manifest.created_at:%Y-%m-%d %H:%M:%S} UTC"
    )


def _say(text: str, manifest: BackupManifest, form: str) -> None:
    if form == "json":
        print(manifest.model_dump_json(indent=1))
    else:
        ANSWERS.print(text, markup=False, highlight=False, soft_wrap=True)


def _say_made(made: MadeBackup, form: str) -> None:
    _say(f"{made.place}: {_brief(made.manifest)}.", made.manifest, form)
    new = ", ".join(f"{n:,} {store}" for store, n in made.copied.items())
    remark(f"New in it: {new}.")
    if made.removed:
        remark(f"Removed: {', '.join(path.name for path in made.removed)}.")


def _say_missing(manifest: BackupManifest) -> None:
    named = ", ".join(manifest.missing[:MOST_NAMED])
    more = len(manifest.missing) - MOST_NAMED
    insist(
        "Of the pages and files that the warehouse's tables name it has lost "
        f"{len(manifest.missing):,}, or they are damaged; the backup goes without: {named}"
        f"{f' and {more:,} more' if more > 0 else ''}. An older backup may have them: "
        "`evergreen restore` brings back what is missing.",
        style="red",
    )


def _say_restored(place: Path, manifest: BackupManifest, done: Restored, form: str) -> None:
    _say(f"{done.where} is what {place} holds: {_brief(manifest)}.", manifest, form)
    brought = ", ".join(f"{n:,} {store}" for store, n in done.copied.items())
    remark(f"Brought back: {brought}. The others were there.")
    if done.kept_aside:
        remark(f"What was there before: {done.kept_aside} (remove it when nobody needs it).")
    if manifest.missing:
        _say_missing(manifest)
    remark(f"Next: evergreen doctor --warehouse {shlex.quote(str(done.where))}")

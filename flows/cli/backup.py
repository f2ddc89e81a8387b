"""`evergreen backup`: back up a warehouse with its pages and files."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import TextOrJsonOption, WarehouseOption
from flows.cli.signing_options import PublicKeyOption, SignOption, prepare_signing
from flows.display.console import (
    print_always,
    print_message,
    print_result,
    transient_progress,
)
from flows.display.formats import format_json
from tasks.backup.creation import MadeBackup, create_backup, record_backup
from tasks.backup.manifest import BackupManifest, OnProgress, Store, open_backup, verify
from tasks.backup.restoration import RestoredWarehouse, restore_backup
from tasks.backup.signature import check_signature, describe_unchecked_signature
from tasks.base import format_count
from tasks.secrecy.guard import KeyGuard
from tasks.signing.keys import find_signer
from tasks.signing.signatures import describe_signature, load_public_key
from tasks.warehouse.location import DEFAULT_LOCATION

MAX_NAMED = 5
"""Missing files that a message names."""

BackupArgument = Annotated[
    Path,
    typer.Argument(
        metavar="BACKUP", help="A folder of backups (the newest is used), one of them, or a file."
    ),
]


def make(
    context: typer.Context,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FOLDER|FILE.tar",
            help="A folder for many backups that share their pages, or a new file, NAME.tar.",
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, help="Keep only this many of the folder's backups."),
    ] = None,
    sign: SignOption = None,
    allow_keys: Annotated[
        bool,
        typer.Option(
            "--allow-keys",
            help="Back up also what looks like somebody's key, such as in a report; never ours.",
        ),
    ] = False,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Back up a warehouse: its tables as Parquet, its archived pages, its reports' files.

    It waits for a run that owns the DuckDB file; a lake is copied as of one moment while others
    write. A further backup into the same folder copies only new pages and files. An unfinished
    backup is never mistaken for a whole one. It can be restored as either kind of warehouse.
    """
    if context.invoked_subcommand:
        return
    if to is None:
        raise typer.BadParameter("give --to FOLDER or --to NAME.tar.", param_hint="--to")
    prepare_signing(sign)
    with _show_progress() as on_progress:
        made = create_backup(
            warehouse,
            to,
            keep=keep,
            signer=find_signer(),
            guard=KeyGuard(stops_at_forms=not allow_keys),
            on_wait=print_message,
            on_progress=on_progress,
        )
    record_backup(warehouse, to, made.manifest)
    _print_created(made, form)
    if made.manifest.missing:
        _warn_about_missing_files(made.manifest)
        raise typer.Exit(1)
    print_message(f"Next: evergreen backup verify {made.place}")


def verify_backup(where: BackupArgument, form: TextOrJsonOption = "table") -> None:
    """Read a whole backup and compare it with its manifest; exit code 1 if it is damaged."""
    with open_backup(where) as found, _show_progress() as on_progress:
        verify(found, on_progress)
        place, manifest = found.place, found.manifest
    _print_manifest(f"{place} is whole: {_summarize_manifest(manifest)}.", manifest, form)
    if manifest.missing:
        _warn_about_missing_files(manifest)


def restore(
    where: BackupArgument,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace an existing warehouse. An existing file is kept beside the new one.",
        ),
    ] = False,
    public_key: PublicKeyOption = None,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Restore a warehouse from a backup, as a file or as a lake.

    It verifies the backup first. A file is written atomically, a lake's tables in one commit.
    Existing pages and files stay, missing or damaged ones are restored. This also moves a warehouse
    from a file on one host to a lake for several, and back.
    """
    key = load_public_key(public_key) if public_key else None
    with open_backup(where) as found:
        signature = (
            f"It is {check_signature(found, key)}." if key else describe_unchecked_signature(found)
        )
        with _show_progress() as on_progress:
            done = restore_backup(
                found,
                warehouse,
                replace=replace,
                public_key=key,
                on_wait=print_message,
                on_progress=on_progress,
            )
        place, manifest = found.place, found.manifest
    record_backup(done.where, place, manifest)
    print_always(signature)
    _print_restored(place, manifest, done, form)


@contextmanager
def _show_progress() -> Iterator[OnProgress]:
    """Show a progress bar; yield the callback that updates it."""
    with transient_progress() as bars:
        bar = bars.add_task("", total=None)

        def on_progress(what: str, done: int, total: int) -> None:
            bars.update(bar, description=what, completed=done, total=total)

        yield on_progress


def _summarize_manifest(manifest: BackupManifest) -> str:
    pages, files = (manifest.stores[store].count for store in ("pages", "files"))
    return (
        f"{format_count(manifest.rows, 'row')} in {len(manifest.tables)} tables (schema "
        f"{manifest.schema_version}), "
        f"{format_count(pages, 'page')}, {format_count(files, 'file')}, "
        f"{manifest.bytes / 1e6:,.1f} MB; of {manifest.warehouse}, "
        f"{manifest.created_at:%Y-%m-%d %H:%M:%S} UTC"
    )


def _print_manifest(text: str, manifest: BackupManifest, form: str) -> None:
    if form == "json":
        print(format_json(manifest.model_dump(mode="json")))
    else:
        print_result(text, wrap=False)


def _print_created(made: MadeBackup, form: str) -> None:
    _print_manifest(f"{made.place}: {_summarize_manifest(made.manifest)}.", made.manifest, form)
    print_message(describe_signature(made.manifest.signature))
    if made.manifest.keys:
        print_message(
            f"Texts with what looks like somebody's key: {made.manifest.keys:,}. They are in the "
            "backup unchanged; keep it to yourself."
        )
    print_message(f"New in it: {_format_copied(made.copied)}.")
    if made.removed:
        print_message(f"Removed: {', '.join(path.name for path in made.removed)}.")


def _format_copied(copied: Mapping[Store, int]) -> str:
    return ", ".join(format_count(n, store.removesuffix("s")) for store, n in copied.items())


def _warn_about_missing_files(manifest: BackupManifest) -> None:
    named = ", ".join(manifest.missing[:MAX_NAMED])
    more = len(manifest.missing) - MAX_NAMED
    print_always(
        "Pages and files that the warehouse's tables name but that are missing or damaged: "
        f"{len(manifest.missing):,}; the backup does not have them: {named}"
        f"{f' and {more:,} more' if more > 0 else ''}. An older backup may have them: "
        "`evergreen backup restore` restores what is missing.",
        style="red",
    )


def _print_restored(
    place: Path, manifest: BackupManifest, done: RestoredWarehouse, form: str
) -> None:
    _print_manifest(
        f"{done.where} is restored from {place}: {_summarize_manifest(manifest)}.", manifest, form
    )
    print_message(f"Restored: {_format_copied(done.copied)}. All others existed.")
    if done.kept_aside:
        print_message(f"Previous warehouse: {done.kept_aside} (delete it when nobody needs it).")
    if manifest.missing:
        _warn_about_missing_files(manifest)
    print_message(f"Next: evergreen doctor --warehouse {shlex.quote(str(done.where))}")

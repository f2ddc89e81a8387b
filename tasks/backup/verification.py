"""Verify a backup, and copy files out of it: nothing is used that has changed since it was made."""

import gzip
import shutil
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from tasks.backup.manifest import (
    CHANGED,
    MANIFEST,
    STORES,
    TABLES,
    Backup,
    OnProgress,
    explain_errors,
    format_stored_name,
    read_shas,
)
from tasks.files.checksums import SUMS, is_signature
from tasks.warehouse.foreign_tables import KEYS, find_problem
from tasks.warehouse.schema import SCHEMA_VERSION, connect, load_schema

RESTORING_SUFFIX = ".restoring"
OLD_SIGNATURE = f"{MANIFEST}.minisig"
"""Beside the manifest of a signed backup of format 1."""


def verify(backup: Backup, on_progress: OnProgress = lambda what, done, total: None) -> None:
    """Read and check the whole backup.

    on_progress: called with "verified" and the number of bytes.

    Raises:
        BackupError: a file is missing, was changed, is not listed or no table that a restore
            would take; the message names it.
    """
    manifest = backup.manifest
    if backup.sums.get(MANIFEST) != backup.manifest_sha:
        raise backup.make_error(MANIFEST, CHANGED)
    stored = {
        format_stored_name(store, sha): sha for store in STORES for sha in read_shas(backup, store)
    }
    done = 0
    for n_bytes in _verify_tables(backup):
        done += n_bytes
        on_progress("verified", done, manifest.bytes)
    known = {MANIFEST, OLD_SIGNATURE, SUMS, *manifest.parts, *stored}
    if surplus := sorted(n for n in backup.list_names() - known if not is_signature(n)):
        raise backup.make_error(surplus[0], f"is not listed in {MANIFEST}")
    for name, sha in stored.items():
        with backup.read(name) as file:
            if digest(file, name) != sha:
                raise backup.make_error(name, CHANGED)
            done += file.tell()
        on_progress("verified", done, manifest.bytes)


def _verify_tables(backup: Backup) -> Iterator[int]:
    """Check the tables, also that they are those of this schema, if the backup is of it; yield the
    bytes of each."""
    manifest = backup.manifest
    is_current = manifest.schema_version == SCHEMA_VERSION
    known, listed = set(KEYS), set(manifest.tables)
    if is_current and (wrong := sorted(listed - known or known - listed)):
        found = f"`tables` {'lists' if listed - known else 'lacks'} {', '.join(wrong[:5])}"
        expected = f"expected the tables of schema version {SCHEMA_VERSION}"
        raise backup.make_error(MANIFEST, f"is wrong: {found}; {expected}")
    advice = "Free some space, or name another folder in TMPDIR."
    with (
        explain_errors(backup.place, "verified", advice),
        TemporaryDirectory(prefix="evergreen-") as work,
        connect(Path(work, "empty.duckdb"), folders=[Path(work)]) as connection,
    ):
        connection.execute(load_schema())
        for table, stored in manifest.tables.items():
            file = copy_table(backup, table, Path(work))
            problem = (
                find_problem(connection, file, stored.rows, manifest.warehouse_id)
                if is_current
                else None
            )
            if problem:
                raise backup.make_error(f"{TABLES}/{file.name}", problem)
            yield file.stat().st_size
            file.unlink()


def copy_table(backup: Backup, table: str, folder: Path) -> Path:
    """Copy a table out of the backup, since DuckDB cannot read a tar file; return the copy."""
    name, target = f"{TABLES}/{table}.parquet", folder / f"{table}.parquet"
    copy_out(backup, name, target, backup.sums.get(name, ""))
    return target


def copy_out(backup: Backup, name: str, target: Path, sha: str) -> None:
    """Copy a file out of the backup; raise BackupError if its content has another sha-256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}{RESTORING_SUFFIX}")
    fresh.unlink(missing_ok=True)  # a link there would be written through
    with backup.read(name) as source, fresh.open("x+b") as file:
        shutil.copyfileobj(source, file)
        file.seek(0)
        is_right = digest(file, name) == sha
    if not is_right:
        fresh.unlink()
        raise backup.make_error(name, CHANGED)
    fresh.replace(target)


def digest(file: BinaryIO, name: str) -> str | None:
    """Return the sha-256 of a file's content, which is packed if its name ends in `.gz`; None if it
    cannot be unpacked."""
    is_packed = name.endswith(".gz")
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") if is_packed else nullcontext(file) as content:
            return file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error):
        return None

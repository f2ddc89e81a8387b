"""Check the disks: space for new data and for copies of the warehouse, and file locks."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tasks.doctor.finding import CheckGroup, Finding, Status
from tasks.files.locks import NoFileLocks, check_locks
from tasks.files.room import find_existing, load_reserve
from tasks.warehouse.compaction import measure_lake
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.location import DuckDBFile, DuckLake, Location

GROUP = CheckGroup("disk")
NEEDED = "{:,.1f} GB are needed: room for two copies of the warehouse."
MAKE_ROOM = (
    "Remove older backups (`evergreen backup --keep`), replaced warehouses beside this one, or "
    "earlier states of a lake (`evergreen compact`)."
)
NEEDED_BYTES = 2_000_000_000
COPIES = 2
"""Copies of the warehouse: compaction, restoring and an update each make one first."""
MIN_INODES = 100_000
"""Every archived page is a file of its own; some file systems run out of inodes."""


def check_disk(where: Location, folders: Iterable[Path]) -> Iterator[Finding]:
    """Check the free space and the locks of each file system that holds our data.

    folders: other folders that Evergreen writes to.
    """
    needed = max(NEEDED_BYTES, COPIES * measure_tables(where))
    seen: set[int] = set()
    for folder in (where.root, *folders):
        existing = find_existing(folder)
        device = existing.stat().st_dev
        if device not in seen:
            seen.add(device)
            yield _check_free_space(existing, needed)
            if folder != where.root or isinstance(where, DuckDBFile):  # a lake's are in its catalog
                yield from _check_locks(existing)


def measure_tables(where: Location) -> int:
    """Return the bytes of a warehouse's tables; 0 if there are none or a catalog fails."""
    if isinstance(where, DuckLake):
        with suppress(WarehouseError):  # the check of the catalog reports it
            return measure_lake(where).bytes if "://" not in where.data else 0
        return 0
    assert isinstance(where, DuckDBFile)
    return where.path.stat().st_size if where.path.exists() else 0


def _check_locks(folder: Path) -> Iterator[Finding]:
    try:
        check_locks(folder)
    except NoFileLocks as error:
        yield GROUP.fail(str(folder), str(error))
    except OSError as error:
        text = f"cannot be written to ({error.strerror}); what is in it can be read."
        yield GROUP.warn(str(folder), text, "Make it writable, or choose another place.")


def _check_free_space(folder: Path, needed: int) -> Finding:
    usage, inodes, reserve = shutil.disk_usage(folder), os.statvfs(folder), load_reserve()
    text = f"{usage.free / 1e9:,.1f} of {usage.total / 1e9:,.1f} GB free"
    few_inodes = inodes.f_files > 0 and inodes.f_favail < MIN_INODES
    if few_inodes:
        text += f"; only {inodes.f_favail:,} more files can be made (inodes)"
    status: Status = "ok"
    if usage.free < needed or few_inodes:
        status = "fail" if usage.free < reserve else "warn"
    advice = f"{NEEDED.format(needed / 1e9)} {MAKE_ROOM}"
    return GROUP.finding(status, str(folder), f"{text}.", advice)

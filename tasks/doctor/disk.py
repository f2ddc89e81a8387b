"""Whether there is room: for what is written, and for a copy of the warehouse beside it."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tasks.doctor.finding import About, Finding, Status
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.lake_maintenance import measured
from tasks.warehouse.location import DuckDBFile, DuckLake, Location

ABOUT = About("disk")
WANTED = "Wanted are {:,.1f} GB, room for two copies of the warehouse."
ROOM = (
    "Make room: older backups (`evergreen backup --keep`), replaced warehouses beside this one, "
    "earlier states of a lake (`evergreen compact`)."
)
LEAST_BYTES = 500_000_000
"""With less the next run ends amid its work."""
WANTED_BYTES = 2_000_000_000
COPIES = 2
"""Of the warehouse: compaction, restoring and an update each make one before the old one goes."""
LEAST_NAMES = 100_000
"""Every archived page is a file of its own; some file systems run out of names for them."""


def check_disk(where: Location, folders: Iterable[Path]) -> Iterator[Finding]:
    """Free space of each file system that something of ours lies on.

    folders: whatever else is written to.
    """
    wanted = max(WANTED_BYTES, COPIES * size_of(where))
    seen: set[int] = set()
    for folder in (where.root, *folders):
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        device = there.stat().st_dev
        if device not in seen:
            seen.add(device)
            yield _room(there, wanted)


def size_of(where: Location) -> int:
    """Bytes of a warehouse's tables; 0 where there is none, or a catalog does not answer."""
    if isinstance(where, DuckLake):
        with suppress(WarehouseError):  # told by the check of the catalog
            return measured(where).bytes if "://" not in where.data else 0
        return 0
    assert isinstance(where, DuckDBFile)
    return where.path.stat().st_size if where.path.exists() else 0


def _room(folder: Path, wanted: int) -> Finding:
    usage, names = shutil.disk_usage(folder), os.statvfs(folder)
    said = f"{usage.free / 1e9:,.1f} of {usage.total / 1e9:,.1f} GB free"
    few_names = names.f_files > 0 and names.f_favail < LEAST_NAMES
    if few_names:
        said += f"; only {names.f_favail:,} more files can be made (inodes)"
    status: Status = "ok"
    if usage.free < wanted or few_names:
        status = "fail" if usage.free < LEAST_BYTES else "warn"
    return ABOUT.told(status, str(folder), f"{said}.", f"{WANTED.format(wanted / 1e9)} {ROOM}")

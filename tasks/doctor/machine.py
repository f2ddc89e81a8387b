"""Check this machine: Python and its libraries, DuckDB's extensions, disks and file locks."""

import os
import platform
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tasks.doctor.finding import Found, Status
from tasks.files.locks import NoFileLocks, check_locks
from tasks.files.room import find_existing, load_reserve
from tasks.warehouse.compaction import measure_lake
from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.lake import load_extensions
from tasks.warehouse.location import DuckDBFile, DuckLake, Location

PROJECT = "evergreen-bench"
ROOT = Path(__file__).resolve().parents[2]
ALWAYS_LISTED = ("prefect", "fastapi", "sqlalchemy", "duckdb", "polars")
"""Libraries whose versions are always listed."""
RECREATE = "Recreate the environment with a matching Python."
INSTALL = "Reinstall the locked dependencies: pip install --require-hashes --no-deps -r"
REINSTALL = f"{INSTALL} requirements.lock."
REINSTALL_LAKE = (
    f"{INSTALL} requirements-lake.lock. Without them, a lake cannot be used; file warehouses can."
)
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


def check_python() -> Iterator[Found]:
    found, (required, _) = platform.python_version(), load_requirements()
    if SpecifierSet(required).contains(found, prereleases=True):
        yield Found("ok", f"Python {found}.")
    else:
        yield Found("fail", f"Python {found}; required: {required}.")


def check_libraries() -> Iterator[Found]:
    _, required = load_requirements()
    wrong, is_failure = [], False
    for requirement in required:
        if requirement.marker and not requirement.marker.evaluate():
            continue
        found = _find_version(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            wrong.append(
                f"{requirement.name} is {found or 'missing'}, required: {requirement.specifier}"
            )
            is_failure |= found is None or "==" in str(requirement.specifier)
    if wrong:
        yield Found("fail" if is_failure else "warn", f"{'; '.join(wrong)}.")
    else:
        named = ", ".join(f"{name} {_find_version(name)}" for name in ALWAYS_LISTED)
        yield Found("ok", f"{named}; all {len(required)} match pyproject.toml.")


def load_requirements() -> tuple[str, list[Requirement]]:
    """Return the required versions of Python and of the libraries; those of lakes only if they are
    installed. Without the file `pyproject.toml`, the installed metadata counts."""
    try:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    except FileNotFoundError:
        listed = [Requirement(line) for line in requires(PROJECT) or ()]
        return "", [each for each in listed if not each.marker or "extra" not in str(each.marker)]
    extra = map(Requirement, project.get("optional-dependencies", {}).get("lake", ()))
    return project["requires-python"], [
        *map(Requirement, project["dependencies"]),
        *(each for each in extra if _find_version(each.name)),
    ]


def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def check_extensions() -> Iterator[Found]:
    """Check that DuckDB loads what a lake needs."""
    if _find_version("duckdb-extension-ducklake") is None:
        yield Found("skipped", "The extra `lake` is not installed; only a lake needs them.")
        return
    try:
        loaded = load_extensions()
    except WarehouseError as error:
        yield Found("fail", first_line(error))
        return
    named = ", ".join(f"{name} {number}" for name, number in loaded.items())
    yield Found("ok", f"DuckDB loads {named} from wheels.")


def check_disk(where: Location, folders: Iterable[Path]) -> Iterator[Found]:
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


def _check_locks(folder: Path) -> Iterator[Found]:
    try:
        check_locks(folder)
    except NoFileLocks as error:
        yield Found("fail", str(error), check=str(folder))
    except OSError as error:
        text = f"cannot be written to ({error.strerror}); what is in it can be read."
        advice = "Make it writable, or choose another place."
        yield Found("warn", text, advice, str(folder))


def _check_free_space(folder: Path, needed: int) -> Found:
    usage, inodes, reserve = shutil.disk_usage(folder), os.statvfs(folder), load_reserve()
    text = f"{usage.free / 1e9:,.1f} of {usage.total / 1e9:,.1f} GB free"
    few_inodes = inodes.f_files > 0 and inodes.f_favail < MIN_INODES
    if few_inodes:
        text += f"; only {inodes.f_favail:,} more files can be made (inodes)"
    status: Status = "ok"
    if usage.free < needed or few_inodes:
        status = "fail" if usage.free < reserve else "warn"
    advice = f"{NEEDED.format(needed / 1e9)} {MAKE_ROOM}"
    return Found(status, f"{text}.", advice, str(folder))

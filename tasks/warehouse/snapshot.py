"""Snapshots: editions exported as Parquet, for readers while a flow owns the warehouse.

`<exports>/<edition>/<stamp>/<table>.parquet` plus a manifest. The link `latest` is replaced
atomically, so a reader sees either the old snapshot or the new one.
"""

import os
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from pydantic import BaseModel, ConfigDict

from tasks.files.opening import OutsideFile, open_file, resolve_within
from tasks.warehouse.calls import BatchJob, Call
from tasks.warehouse.errors import UnwritableWarehouse, WarehouseError
from tasks.warehouse.labels import HumanLabel
from tasks.warehouse.location import LocationLike, parse_location
from tasks.warehouse.operations import (
    AuditEntry,
    FetchedEdition,
    KnownBackup,
    MonthRefresh,
    Publication,
)
from tasks.warehouse.rows import Row, utc_now
from tasks.warehouse.schema import SCHEMA_VERSION, load_schema
from tasks.warehouse.sql import NO_EXTENSIONS
from tasks.warehouse.tables import TABLES
from tasks.warehouse.upgrade import rename_metrics

if TYPE_CHECKING:
    from tasks.warehouse.store import Warehouse

EDITION_FILTERS: dict[type[Row], str] = {
    # Calls have no edition: those behind its verdicts are exported, with all their attempts.
    Call: "request_id IN (SELECT request_id FROM calls WHERE call_id IN ("
    "SELECT unnest([call_id, refused_call]) FROM verdicts WHERE edition = $1))",
    BatchJob: "$1 IS NULL",
    # Snapshots are read and copied by more people than the warehouse.
    **dict.fromkeys(
        (Publication, MonthRefresh, FetchedEdition, KnownBackup, AuditEntry), "$1 IS NULL"
    ),
    HumanLabel: "sheet IN (SELECT sheet FROM annotation_items WHERE edition = $1)",
}
"""SQL that selects an edition's rows in tables without an edition column."""

KEPT_SNAPSHOTS = 2
"""The newest and the one before it, so that running queries can finish."""


class Manifest(BaseModel):
    """The contents of a snapshot."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    edition: str
    warehouse_id: str
    schema_version: int = 0
    """0 for 17 and earlier ones."""
    exported_at: datetime
    rows: dict[str, int]


def exports_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's snapshots: `exports/<its name>` beside it."""
    return parse_location(warehouse).subfolder("exports")


def latest_snapshot(warehouse: LocationLike, edition: str) -> Path:
    """Return the link to an edition's latest snapshot, whether or not it exists."""
    return find_latest(exports_folder(warehouse), edition)


def find_latest(exports: Path, edition: str) -> Path:
    """Like `latest_snapshot`, in a folder of snapshots."""
    return exports / _file_safe(edition) / "latest"


def export_edition(warehouse: "Warehouse", edition: str) -> Path:
    """Export the edition's tables as its latest snapshot, and return its folder.

    Raises:
        UnwritableWarehouse: the folder cannot be written.
    """
    folder = exports_folder(warehouse.location) / _file_safe(edition)
    now = utc_now()
    target = folder / now.strftime("%Y%m%dT%H%M%S.%fZ")
    try:
        target.mkdir(parents=True)
        counts = {model.table: _export_table(warehouse, model, edition, target) for model in TABLES}
        manifest = Manifest(
            edition=edition,
            warehouse_id=warehouse.id,
            schema_version=SCHEMA_VERSION,
            exported_at=now,
            rows=counts,
        )
        (target / "manifest.json").write_text(manifest.model_dump_json(indent=1), "utf-8")
        fresh = folder / f".latest-{os.getpid()}"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target.name)
        fresh.replace(folder / "latest")
    except (OSError, duckdb.IOException) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise UnwritableWarehouse(
            f"{folder}: the snapshot could not be written ({error}). The warehouse itself is "
            "safe; free some space or fix the permissions, then run again."
        ) from error
    stale = sorted(p for p in folder.glob("[0-9]*Z") if p.is_dir() and not p.is_symlink())
    for old in stale[:-KEPT_SNAPSHOTS]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def is_snapshot_current(
    warehouse: "Warehouse", edition: str, models: Sequence[type[Row]] = TABLES
) -> bool:
    """Return whether the latest snapshot has the edition's current rows in these tables.

    It has not if a process ended between writing and exporting.
    """
    folder = latest_snapshot(warehouse.location, edition)
    return all(_is_table_current(warehouse, model, edition, folder) for model in models)


def load_latest_manifests(warehouse: LocationLike) -> list[tuple[Path, Manifest]]:
    """Return (folder, manifest) of the latest snapshot of every exported edition."""
    manifests = []
    exports = exports_folder(warehouse)
    for link in sorted(exports.glob("*/latest")):
        with open_file(_check_inside(link / "manifest.json", exports), exports) as file:
            manifests.append((link.resolve(), Manifest.model_validate_json(file.read())))
    return manifests


def open_snapshot(
    warehouse: LocationLike, in_use: str | None = None
) -> tuple[duckdb.DuckDBPyConnection, datetime]:
    """Open an in-memory database of the latest snapshots, with the warehouse's tables and views.

    Returns:
        The connection, and when the oldest snapshot was exported.

    Raises:
        WarehouseError: nothing has been exported yet.
    """
    manifests, exports = load_latest_manifests(warehouse), exports_folder(warehouse)
    if not manifests:
        raise WarehouseError(
            f"{in_use or f'{warehouse} is in use'}. It has no snapshot yet that could be read "
            "meanwhile; try again when it is free."
        )
    connection = duckdb.connect(config=NO_EXTENSIONS)
    connection.execute(load_schema())
    for model in TABLES:
        files = [folder / f"{model.table}.parquet" for folder, _ in manifests]
        # A snapshot older than the table has no file of it.
        parts = [str(_check_inside(file, exports)) for file in files if file.exists()]
        if not parts:
            continue
        distinct = "DISTINCT" if model is Call else ""  # two editions may rest on the same call
        connection.execute(
            f"INSERT INTO {model.table} BY NAME "
            f"SELECT {distinct} * FROM read_parquet($1, union_by_name = true)",
            [parts],
        )
    for _, manifest in manifests:
        rename_metrics(connection, manifest.schema_version, manifest.edition)
    return connection, min(manifest.exported_at for _, manifest in manifests)


def _check_inside(file: Path, exports: Path) -> Path:
    """Return a file of a snapshot; raise WarehouseError if a link leads out of the exports."""
    try:
        return resolve_within(file, exports)
    except OutsideFile as error:
        raise WarehouseError(f"{file} is not read: {error}. Remove the link.") from None


def _is_table_current(warehouse: "Warehouse", model: type[Row], edition: str, folder: Path) -> bool:
    file = folder / f"{model.table}.parquet"
    if not file.exists():
        return False
    content = "SELECT count(*) AS n, bit_xor(hash(*COLUMNS(*))) AS content FROM "
    now = warehouse.frame(f"{content} ({_select_rows(model)})", [edition])
    then = warehouse.frame(f"{content} read_parquet($1)", [str(file)])
    return now.equals(then)


def _select_rows(model: type[Row]) -> str:
    """Return the query for the rows of edition `$1`."""
    return f"SELECT * FROM {model.table} WHERE {EDITION_FILTERS.get(model, 'edition = $1')}"


def _export_table(warehouse: "Warehouse", model: type[Row], edition: str, target: Path) -> int:
    order = ", ".join(f'"{column}"' for column in model.key)
    return warehouse.copy_to(
        target / f"{model.table}.parquet",
        f"{_select_rows(model)} ORDER BY {order}",
        [edition],
    )


def _file_safe(edition: str) -> str:
    # `.` and `..` would be other folders, in which old snapshots are removed.
    name = edition.replace("/", "_")
    return name if name.strip(".") else f"_{name}"

"""The Parquet snapshot of an edition: what people read while a flow owns the warehouse.

`<exports>/<edition>/<stamp>/<table>.parquet` plus a manifest; the link `latest` is swapped
in one step, so a reader sees the old snapshot or the new one, never half of each.
"""

import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from pydantic import BaseModel, ConfigDict

from tasks.warehouse.calls import BatchJob, Call
from tasks.warehouse.errors import UnwritableWarehouse, WarehouseError
from tasks.warehouse.labels import HumanLabel
from tasks.warehouse.location import Where, location
from tasks.warehouse.migrate import migrations
from tasks.warehouse.rows import Row, utc_now
from tasks.warehouse.tables import TABLES

if TYPE_CHECKING:
    from tasks.warehouse.store import Warehouse

OF_EDITION: dict[type[Row], str] = {
    # Calls belong to no edition: every attempt of those that its verdicts rest on goes along.
    Call: "request_id IN (SELECT c.request_id FROM calls AS c JOIN verdicts AS v USING (call_id) "
    "WHERE v.edition = $1)",
    BatchJob: "$1 IS NULL",
    HumanLabel: "sheet IN (SELECT sheet FROM annotation_items WHERE edition = $1)",
}
"""Which rows of a table belong to an edition, where it has no column for it."""

KEPT_SNAPSHOTS = 2
"""The newest and the one before it, so that a reader in the middle of a query can finish."""


class Manifest(BaseModel):
    """What a snapshot holds."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    edition: str
    warehouse_id: str
    exported_at: datetime
    rows: dict[str, int]


def exports_folder(warehouse: Where) -> Path:
    """Where the snapshots of a warehouse lie: `exports/<its name>` beside it."""
    return location(warehouse).beside("exports")


def latest_snapshot(warehouse: Where, edition: str) -> Path:
    """Where the latest snapshot of an edition is, if one has been exported."""
    return exports_folder(warehouse) / _file_safe(edition) / "latest"


def export_edition(warehouse: "Warehouse", edition: str) -> Path:
    """Write the edition's tables as Parquet and make them the latest snapshot.

    Raises:
        UnwritableWarehouse: the folder cannot be written.
    """
    folder = exports_folder(warehouse.location) / _file_safe(edition)
    now = utc_now()
    target = folder / now.strftime("%Y%m%dT%H%M%S.%fZ")
    try:
        target.mkdir(parents=True)
        counts = {model.table: _copy(warehouse, model, edition, target) for model in TABLES}
        manifest = Manifest(
            edition=edition, warehouse_id=warehouse.id, exported_at=now, rows=counts
        )
        (target / "manifest.json").write_text(manifest.model_dump_json(indent=1), "utf-8")
        _swap(folder / "latest", target)
    except (OSError, duckdb.IOException) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise UnwritableWarehouse(
            f"{folder}: the snapshot could not be written ({error}). The warehouse itself is "
            "safe; free some space or fix the permissions, then run again."
        ) from error
    stale = sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())
    for old in stale[:-KEPT_SNAPSHOTS]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def is_exported(warehouse: "Warehouse", edition: str) -> bool:
    """Whether the latest snapshot has the edition's rows as they are now.

    It has not where a process ended between its last row and its export.
    """
    folder = latest_snapshot(warehouse.location, edition)
    return all(_is_exported(warehouse, model, edition, folder) for model in TABLES)


def latest_manifests(warehouse: Where) -> list[tuple[Path, Manifest]]:
    """(folder, manifest) of the latest snapshot of every exported edition."""
    found = []
    for link in sorted(exports_folder(warehouse).glob("*/latest")):
        text = (link / "manifest.json").read_text("utf-8")
        found.append((link.resolve(), Manifest.model_validate_json(text)))
    return found


def open_snapshot(warehouse: Where) -> tuple[duckdb.DuckDBPyConnection, datetime]:
    """A read-only database over the latest snapshots, with the warehouse's tables and views.

    Returns:
        The connection, and when the oldest of the snapshots in it was exported.

    Raises:
        WarehouseError: nothing has been exported yet.
    """
    manifests = latest_manifests(warehouse)
    if not manifests:
        raise WarehouseError(
            f"{warehouse} is in use and has no export yet; ask again when the run has ended."
        )
    connection = duckdb.connect()
    for _, sql in migrations():
        connection.execute(sql)
    for model in TABLES:
        files = [folder / f"{model.table}.parquet" for folder, _ in manifests]
        # One that was exported before the table was thought of has no file of it.
        parts = [str(file) for file in files if file.exists()]
        if not parts:
            continue
        connection.execute(
            f"INSERT INTO {model.table} BY NAME "
            "SELECT DISTINCT * FROM read_parquet($1, union_by_name = true)"
            if model is Call
            else f"INSERT INTO {model.table} BY NAME "
            "SELECT * FROM read_parquet($1, union_by_name = true)",
            [parts],
        )
    return connection, min(manifest.exported_at for _, manifest in manifests)


def _is_exported(warehouse: "Warehouse", model: type[Row], edition: str, folder: Path) -> bool:
    file = folder / f"{model.table}.parquet"
    if not file.exists():
        return False
    content = "SELECT count(*) AS n, bit_xor(hash(*COLUMNS(*))) AS content FROM "
    now = warehouse.frame(f"{content} ({_rows(model)})", [edition])
    then = warehouse.frame(f"{content} read_parquet($1)", [str(file)])
    return now.equals(then)


def _rows(model: type[Row]) -> str:
    """The query for the rows that belong to the edition `$1`."""
    return f"SELECT * FROM {model.table} WHERE {OF_EDITION.get(model, 'edition = $1')}"


def _copy(warehouse: "Warehouse", model: type[Row], edition: str, target: Path) -> int:
    order = ", ".join(f'"{column}"' for column in model.key)
    return warehouse.copy_to(
        target / f"{model.table}.parquet",
        f"{_rows(model)} ORDER BY {order}",
        [edition],
    )


def _swap(link: Path, target: Path) -> None:
    fresh = link.with_name(f".latest-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target.name)
    fresh.replace(link)


def _file_safe(edition: str) -> str:
    return edition.replace("/", "_")

"""Somebody who reads with a command, or reads what it leaves."""

from pathlib import Path

import duckdb
import pytest

from tasks.warehouse.operations import AuditEntry, KnownBackup, MonthRefresh, Publication
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen, evergreen, no_server
from tests.tasks.annotated import sample_warehouse
from tests.tasks.made_rows import a_row

__all__ = ["evergreen", "no_server"]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


@pytest.mark.parametrize("command", [("edition", "list"), ("status",), ("calls",)], ids=" ".join)
def test_reading_changes_nothing(
    evergreen: Evergreen, warehouse: Path, command: tuple[str, ...]
) -> None:
    """A command that only reads changes no byte of the warehouse."""
    before = warehouse.read_bytes()
    assert evergreen(*command, "--warehouse", warehouse)[0] == 0
    assert warehouse.read_bytes() == before


def test_nothing_is_made_beside_what_is_no_warehouse(evergreen: Evergreen, tmp_path: Path) -> None:
    """A command that is given another file than a warehouse, or none, leaves nothing behind."""
    other = tmp_path / "letter.txt"
    other.write_text("Dear all, this is no warehouse.")
    for path in (other, tmp_path / "none.duckdb"):
        assert evergreen("compact", "--warehouse", path)[0] == 1
    assert [*tmp_path.iterdir()] == [other]


def test_snapshots_do_not_tell_who_did_what(warehouse: Path) -> None:
    """Folders of sites and backups, options, users and hosts are in no snapshot, which is copied
    and published."""
    rows = (
        a_row(Publication, edition="sample", folder="/srv/site"),
        a_row(MonthRefresh, edition="sample", options="{}"),
        a_row(KnownBackup, began_at=utc_now(), place="/srv/backups"),
        a_row(AuditEntry, audit_id="1", name="ask", edition="sample"),
    )
    with open_warehouse(warehouse) as store:
        for row in rows:
            store.write(Change(type(row), [row]))
        folder = export_edition(store, "sample")
    for row in rows:
        assert duckdb.sql(f"FROM '{folder / f'{row.table}.parquet'}'").fetchall() == []

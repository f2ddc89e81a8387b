"""A user who changes the warehouse and would rather not be known."""

import ast
import inspect
import json
import os
import pwd
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from flows.cli.commands import PANELS
from flows.cli.lazy_commands import GroupEntry, RecordedAtOnce, RecordedCommand
from tasks.warehouse import store as stores
from tasks.warehouse.audit import AuditEntry, leave_note, notes_folder
from tasks.warehouse.errors import UnwritableWarehouse
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.location import parse_location
from tasks.warehouse.recording import make_activity, record_activity
from tasks.warehouse.rows import Edition
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.cli.test_commands import commands
from tests.flows.conftest import Evergreen, evergreen, no_server
from tests.tasks.annotated import SAMPLE, sample_warehouse

__all__ = ["evergreen", "no_server"]

READING = {
    "agents", "agents check", "analyse", "audit", "backup verify", "calls", "compare agents",
    "compare extraction", "compare judges", "compare protocols", "doctor", "edition diff",
    "edition list", "edition show", "edition verify", "explain", "export drb2",
    "init", "judges", "judges check", "leaderboard", "pages counts",
    "pages export", "pages references", "pages show", "pages walls", "protocols", "sandbox",
    "schema", "serve", "sql", "status", "ui",
}  # fmt: skip
"""Commands that change nothing of a warehouse; `serve` has runs, which are recorded themselves."""
AT_ONCE = {"backup", "backup restore", "compact", "publish", "sandbox token"}
"""Commands that change something, or give somebody a right, without writing a row."""
CHANGING = {"open_existing_warehouse", "open_warehouse", "run_flow"}
"""What a command calls that changes the warehouse."""
ADD_COST = ("agents", "cost", "sample_blogger", "--edition", "sample", "--usd", "1")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


def audit(warehouse: Path) -> list[AuditEntry]:
    """The rows in the table, the earliest first."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        found = connection.execute("SELECT * FROM audit ORDER BY began_at").pl().to_dicts()
    return [AuditEntry.model_validate(row) for row in found]


def entries(panels: Iterable[Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every entry of the commands, with its name as it is typed."""
    for panel in panels:
        for name, entry in panel.items():
            yield f"{before}{name}", entry
            if isinstance(entry, GroupEntry):
                yield from entries([entry.commands], f"{before}{name} ")


def test_every_command_that_changes_something_is_recorded() -> None:
    """Every command that changes something leaves a row; what only reads is listed by name."""
    known = dict(entries(PANELS.values()))
    seen = dict(commands())
    groups = {name for name, entry in known.items() if getattr(entry, "callback", None)}
    assert {*seen, *groups} - READING == {
        name
        for name, entry in known.items()
        if not (isinstance(entry, GroupEntry) and not entry.callback) and name not in READING
    }
    for name, command in seen.items():
        assert isinstance(command, RecordedCommand), name
        assert command.callback, name
        source = inspect.getsource(command.callback)
        called = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
        if name not in READING | AT_ONCE and "_import" not in source:
            assert called & CHANGING, name
    at_once = {name for name, command in seen.items() if isinstance(command, RecordedAtOnce)}
    assert at_once | {"backup"} == AT_ONCE
    assert known["backup"].at_once


@pytest.mark.parametrize(
    ("command", "edition"),
    [
        (("import", "wlc", str(SAMPLE), "--edition", "again"), "again"),
        (ADD_COST, "sample"),
        (("annotate", "make", "--edition", "sample", "--kind", "claims", "--to", "{to}"),
         "sample"),
        (("backup", "--to", "{to}"), None),
        (("compact",), None),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_command_leaves_a_row(
    evergreen: Evergreen,
    warehouse: Path,
    command: tuple[str, ...],
    edition: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row says who ran which command (the system's user, whatever the environment says), when,
    where, with what and how it ended."""
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "somebody-else")
    given = [each.format(to=tmp_path / "to") for each in command]
    code, _, remarks = evergreen(*given, "--warehouse", warehouse)
    assert code == 0, remarks
    [row] = audit(warehouse)
    assert " ".join(given).startswith(row.name)
    assert (row.kind, row.outcome, row.error, row.edition) == ("command", "ok", None, edition)
    assert row.os_user == pwd.getpwuid(os.getuid()).pw_name
    assert row.host
    assert row.version
    assert row.ended_at
    assert row.seconds == pytest.approx((row.ended_at - row.began_at).total_seconds())


@pytest.mark.parametrize("command", [("edition", "list"), ("status",), ("calls",)], ids=" ".join)
def test_reading_leaves_no_row(
    evergreen: Evergreen, warehouse: Path, command: tuple[str, ...]
) -> None:
    """A command that only reads is not recorded, and changes no byte."""
    before = warehouse.read_bytes()
    assert evergreen(*command, "--warehouse", warehouse)[0] == 0
    assert warehouse.read_bytes() == before


def test_a_failed_command_is_recorded_with_its_error(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    """A row names the class of the error, and never its text."""
    there = tmp_path / "there.tar"
    there.write_text("no backup")
    assert evergreen("backup", "--to", there, "--warehouse", warehouse)[0] == 1
    [row] = audit(warehouse)
    assert (row.outcome, row.error) == ("failed", "BackupError")


def test_a_killed_command_shows_as_begun(warehouse: Path, tmp_path: Path) -> None:
    """A killed command keeps its row, which says that it began."""
    left = tmp_path / "left.duckdb"
    activity = make_activity(warehouse, "command", "import", {})
    with record_activity(activity, pytest.fail), open_warehouse(warehouse) as store:
        store.write(Change(Edition, [Edition(edition="half", source="test")]))
        shutil.copy(warehouse, left)  # what a kill leaves
        shutil.copy(f"{warehouse}.wal", f"{left}.wal")
    with open_warehouse(left) as store:
        [row] = store.rows(AuditEntry, "true")
        assert store.value("SELECT count(*) FROM editions WHERE edition = 'half'") == 1
    assert (row.name, row.outcome, row.ended_at) == ("import", "begun", None)


def test_a_row_lies_in_its_own_warehouse(warehouse: Path, tmp_path: Path) -> None:
    """A command's row lies in the warehouse that it was given, and in no other that it opens."""
    other = tmp_path / "other.duckdb"
    activity = make_activity(warehouse, "command", "import", {})
    with record_activity(activity, pytest.fail), open_warehouse(other) as store:
        store.write(Change(Edition, [Edition(edition="e", source="test")]))
    assert audit(other) == []


def test_no_change_without_its_row(warehouse: Path) -> None:
    """A change and its row are one commit: if the row cannot be written, nothing is changed."""
    activity = make_activity(warehouse, "command", "import", {})
    half = Change(Edition, [Edition(edition="half", source="test")])
    with open_warehouse(warehouse) as store:
        store._connection.execute("DROP TABLE audit")
        with pytest.raises(duckdb.CatalogException), record_activity(activity, lambda line: None):
            store.write(half)
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        assert connection.sql("FROM editions WHERE edition = 'half'").fetchall() == []


def test_a_busy_warehouse_loses_no_row(evergreen: Evergreen, warehouse: Path) -> None:
    """A command that ends while another has the warehouse is recorded, and waits for nobody."""
    activity = make_activity(warehouse, "command", "import", {}, at_once=True)
    with lock_warehouse(warehouse), record_activity(activity, pytest.fail):
        pass
    code, listed, remarks = evergreen("audit", "--format", "json", "--warehouse", warehouse)
    assert code == 0, remarks
    assert [row["outcome"] for row in json.loads(listed)] == ["ok"]
    with open_warehouse(warehouse):
        pass
    assert [row.outcome for row in audit(warehouse)] == ["ok"]
    assert not [*notes_folder(parse_location(warehouse)).iterdir()]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row can be completed: the disk is full."""
    write = stores.Warehouse.write

    def refuse(self: stores.Warehouse, *changes: Change) -> None:
        if any(isinstance(row, AuditEntry) and row.ended_at for c in changes for row in c.rows):
            raise UnwritableWarehouse("no space left")
        write(self, *changes)

    monkeypatch.setattr(stores.Warehouse, "write", refuse)


@pytest.mark.usefixtures("full")
def test_a_row_that_cannot_be_completed_waits(evergreen: Evergreen, warehouse: Path) -> None:
    """A row that cannot be completed now is completed as soon as it can be."""
    assert evergreen(*ADD_COST, "--warehouse", warehouse)[0] == 0
    assert [row.outcome for row in audit(warehouse)] == ["begun"]
    with open_warehouse(warehouse):
        pass
    assert [row.outcome for row in audit(warehouse)] == ["ok"]


@pytest.mark.usefixtures("full")
def test_a_command_that_did_its_work_does_not_fail_for_the_audit(
    evergreen: Evergreen, warehouse: Path
) -> None:
    """If a row can never be completed, the command warns, and what it did stays done."""
    notes_folder(parse_location(warehouse)).parent.touch()  # no folder can be made there
    code, _, remarks = evergreen(*ADD_COST, "--warehouse", warehouse)
    assert code == 0
    assert "the audit could not be completed" in remarks


def test_nothing_is_made_beside_what_is_no_warehouse(evergreen: Evergreen, tmp_path: Path) -> None:
    """A command that is given another file than a warehouse, or none, leaves nothing behind."""
    other = tmp_path / "letter.txt"
    other.write_text("Dear all, this is no warehouse.")
    for path in (other, tmp_path / "none.duckdb"):
        assert evergreen("compact", "--warehouse", path)[0] == 1
    assert [*tmp_path.iterdir()] == [other]


def test_a_complete_row_stays(warehouse: Path) -> None:
    """A note beside the warehouse rewrites no row that is complete."""
    where = parse_location(warehouse)
    entry = make_activity(warehouse, "command", "publish", {}).entry.end("failed", "OSError")
    with open_warehouse(warehouse) as store:
        store.write(Change(AuditEntry, [entry]))
    leave_note(where, entry.model_copy(update={"os_user": "somebody-else", "outcome": "ok"}))
    with open_warehouse(warehouse):
        pass
    assert audit(warehouse) == [entry]


def test_no_row_is_removed() -> None:
    """No change of the warehouse removes a row."""
    with pytest.raises(ValueError, match="never removed"):
        Change(AuditEntry, [], replacing={"edition": "sample"})


def test_a_restored_warehouse_keeps_its_audit(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    """Restoring an older backup removes no row."""
    to = ("--warehouse", warehouse)
    assert evergreen("backup", "--to", tmp_path / "b.tar", *to)[0] == 0
    assert evergreen(*ADD_COST, *to)[0] == 0
    code, _, remarks = evergreen("backup", "restore", tmp_path / "b.tar", "--replace", *to)
    assert code == 0, remarks
    found = [(row.name, row.outcome) for row in audit(warehouse)]
    assert found == [("backup", "ok"), ("agents cost", "ok"), ("backup restore", "ok")]


def test_snapshots_have_no_audit(evergreen: Evergreen, warehouse: Path) -> None:
    """Users and hosts are in no snapshot, which is copied and published."""
    assert evergreen(*ADD_COST, "--warehouse", warehouse)[0] == 0
    with open_warehouse(warehouse) as store:
        folder = export_edition(store, "sample")
    found = duckdb.sql(f"SELECT * FROM '{folder / 'audit.parquet'}'").fetchall()
    assert found == []


def test_the_audit_is_listed(evergreen: Evergreen, warehouse: Path) -> None:
    """`evergreen audit` lists the latest first, of one edition if asked."""
    to = ("--warehouse", warehouse)
    evergreen(*ADD_COST, *to)
    evergreen("compact", *to)
    every = json.loads(evergreen("audit", "--format", "json", *to)[1])
    assert [row["name"] for row in every] == ["compact", "agents cost"]
    one = json.loads(evergreen("audit", "--edition", "sample", "--format", "json", *to)[1])
    assert [row["name"] for row in one] == ["agents cost"]
    assert "compact" in evergreen("audit", "--limit", "1", *to)[1]


def test_a_snapshot_is_not_listed_as_the_audit(evergreen: Evergreen, warehouse: Path) -> None:
    """While the warehouse is in use, its audit is said to be out of reach, never to be empty."""
    with open_warehouse(warehouse) as store:
        export_edition(store, "sample")
    with lock_warehouse(warehouse):
        code, _, remarks = evergreen("audit", "--warehouse", warehouse)
    assert code == 1
    assert "its snapshots have no audit" in " ".join(remarks.split())

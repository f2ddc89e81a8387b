"""A warehouse with something in every table, and with pages and files, to be backed up."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from tasks.backup.manifest import BackupManifest, open_backup
from tasks.backup.restoration import RestoredWarehouse, restore_backup
from tasks.backup.verification import verify
from tasks.files.checksums import SUMS, format_sums, parse_sums
from tasks.warehouse.contents import FileStore, PageStore, files_folder, pages_folder
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.location import LocationLike, parse_location
from tasks.warehouse.pages import Fetch
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.tables import TABLES
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

ROOT = Path(__file__).resolve().parents[2]
VALUES: dict[str, str] = {
    "VARCHAR": "CASE WHEN i = 0 THEN '' ELSE 'é\n''\" \\ 𝄞 {n} ' || i END",
    "BIGINT": "9007199254740993 * i + {n}",
    "INTEGER": "i * 1000 + {n}",
    "DOUBLE": "i / 3.0 + {n}",
    "BOOLEAN": "i % 2 = 0",
    "DATE": "DATE '1999-12-31' + i::INTEGER",
    "TIMESTAMP": "TIMESTAMP '2026-11-22 23:59:59.999999' + i * INTERVAL 1 MICROSECOND",
}
"""By type, an expression that gives another value for each `i`; {n} is the column's number."""
N_ROWS = 5
FILE = b"%PDF-1.7 a report"


def filled(where: LocationLike) -> LocationLike:
    """Make a warehouse with `N_ROWS` rows in each table, a page, and a file."""
    with open_warehouse(where) as warehouse:
        for model in TABLES:
            fill(warehouse, model.table)
        warehouse.write(Change(Edition, [Edition(edition="kept", source="test")]))
        keep_page(warehouse, "https://example.org/", b"<p>A page.</p>" * 100)
        keep_file(warehouse, "a", FILE)
    return where


def fill(warehouse: Warehouse, table: str) -> None:
    """Rows with values of every kind; every third one is null where it may be."""
    columns = warehouse.frame(f"DESCRIBE {table}").rows(named=True)
    chosen = []
    for n, column in enumerate(columns):
        value = VALUES[column["column_type"]].format(n=n)
        if column["column_name"] == "sha":
            value = "NULL" if column["null"] == "YES" else f"'{sha256(FILE).hexdigest()}'"
        elif column["null"] == "YES":
            value = f"CASE WHEN (i + {n}) % 3 <> 0 THEN {value} END"
        chosen.append(f'{value} AS "{column["column_name"]}"')
    select = f"SELECT {', '.join(chosen)} FROM range({N_ROWS}) AS r(i)"
    # The writer takes rows; what is written here needs no meaning, only types.
    warehouse._writer._connection.execute(f"INSERT INTO {table} BY NAME {select}")


def keep_page(warehouse: Warehouse, url: str, content: bytes) -> str:
    with PageStore(pages_folder(warehouse.location)).create() as receiving:
        receiving.write(content)
        sha = receiving.keep()
    fetch = Fetch(edition="kept", url=url, source="direct", asked_url=url, outcome="fetched",
                  sha=sha)  # fmt: skip
    warehouse.write(Change(Fetch, [fetch]))
    return sha


def keep_file(warehouse: Warehouse, assignment: str, content: bytes) -> str:
    sha = FileStore(files_folder(warehouse.location)).put(content)
    row = a_row(
        ReportFile, edition="kept", assignment=assignment, name="a.pdf", reader="test", sha=sha,
        media_type="application/pdf", n_bytes=len(content),
    )  # fmt: skip
    warehouse.write(Change(ReportFile, [row]))
    return sha


def contents(where: LocationLike) -> dict[str, Any]:
    """All that a warehouse holds: the rows of every table, and the bytes of its stores."""
    with open_warehouse(where) as warehouse:
        found: dict[str, Any] = {
            table: warehouse.frame(f"SELECT * FROM {table} ORDER BY ALL").rows()
            for table in ("warehouse_info", *(model.table for model in TABLES))
        }
    for store in ("pages", "files"):
        folder = parse_location(where).subfolder(store)
        found[f"bytes of {store}"] = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()
        }  # fmt: skip
    return found


def in_a_process(code: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run Python code in a process of its own, from the project's folder."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def restored(backup: Path, to: Path, *, replace: bool = False) -> RestoredWarehouse:
    with open_backup(backup) as found:
        return restore_backup(found, to, replace=replace)


def checked(backup: Path) -> BackupManifest:
    with open_backup(backup) as found:
        verify(found)
        return found.manifest


def list_again(dated: Path) -> None:
    """Have the list of checksums say what is there now, as one who changes a backup would."""
    listed = parse_sums((dated / SUMS).read_bytes())
    there = {name for name in listed if (dated / name).is_file()}
    there |= {f"tables/{path.name}" for path in (dated / "tables").glob("*.parquet")}
    shas = {name: sha256((dated / name).read_bytes()).hexdigest() for name in there}
    (dated / SUMS).write_bytes(format_sums(shas))

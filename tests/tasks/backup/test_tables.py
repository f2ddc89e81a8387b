"""Only tables that are a warehouse's are restored; whatever else a backup holds is a sentence."""

import json
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError
from tests.tasks.backed_up import checked, contents, filled, restored

pytestmark = pytest.mark.file_only


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse and a folder of one backup of it. Never changed."""
    folder = tmp_path_factory.mktemp("original")
    filled(folder / "w.duckdb")
    create_backup(folder / "w.duckdb", folder / "backups")
    return folder


@pytest.fixture
def dated(original: Path, tmp_path: Path) -> Path:
    """A backup to change: a dated folder."""
    shutil.copytree(original / "backups", tmp_path / "backups")
    [manifest] = (tmp_path / "backups").glob("*Z/manifest.json")
    return manifest.parent


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The warehouse that a refused backup was to replace: it stays as it was."""
    path = tmp_path_factory.mktemp("there") / "w.duckdb"
    filled(path)
    before = contents(path)
    yield path
    assert contents(path) == before


def edit(dated: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = dated / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def put(dated: Path, name: str, content: bytes, rows: int | None = None) -> None:
    """Replace a table's file, and what the manifest says of it."""
    (dated / "tables" / f"{name}.parquet").write_bytes(content)
    said = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    said |= {} if rows is None else {"rows": rows}  # type: ignore[dict-item]
    edit(dated, lambda manifest: manifest["tables"][name].update(said))


def change(dated: Path, name: str, sql: str) -> None:
    """Change a table, `t`, by SQL; the manifest says the number of its rows."""
    file = dated / "tables" / f"{name}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{file}'; {sql}")
        connection.execute(f"COPY t TO '{file}' (FORMAT parquet)")
        [(rows,)] = connection.execute("SELECT count(*) FROM t").fetchall()
    put(dated, name, file.read_bytes(), rows)


def refused(dated: Path, there: Path, match: str) -> None:
    """Verifying and restoring say the same, and leave the warehouse as it was."""
    before = there.read_bytes(), sorted(there.parent.rglob("*"))
    with pytest.raises(BackupError, match=match) as verified:
        checked(dated)
    with pytest.raises(BackupError) as when_restored:
        restored(dated, there, replace=True)
    assert str(when_restored.value) == str(verified.value)
    after = (
        there.read_bytes(),
        [p for p in sorted(there.parent.rglob("*")) if ".lock" not in p.name],
    )
    assert after == (before[0], [path for path in before[1] if ".lock" not in path.name])


@pytest.mark.parametrize(
    ("table", "sql", "match"),
    [
        ("facts", "INSERT INTO t FROM t LIMIT 1", r"has 6 rows with 5 keys \(edition, article, n"),
        ("audit", "INSERT INTO t FROM t LIMIT 1", r"has \d rows with \d keys \(audit_id\)"),
        ("facts", "UPDATE t SET edition = NULL", 'has nulls in "edition"'),
        ("facts", "ALTER t ALTER number TYPE VARCHAR", "number is VARCHAR; expected INTEGER"),
        ("facts", "ALTER t ALTER number TYPE DOUBLE", "number is DOUBLE; expected INTEGER"),
        ("facts", "ALTER t ALTER number TYPE BIGINT", "number is BIGINT; expected INTEGER"),
        ("editions", "ALTER t ALTER imported_at TYPE TIMESTAMPTZ", "is TIMESTAMP WITH TIME ZONE; "),
        ("facts", "ALTER t ADD extra INTEGER", "extra is INTEGER; expected no column"),
        ("editions", "ALTER t DROP title", "title is missing; expected VARCHAR"),
        ("editions", "ALTER t DROP edition", "edition is missing; expected VARCHAR"),
        ("editions", "ALTER t RENAME title TO Title", "title is missing; expected VARCHAR"),
        ("warehouse_info", "DELETE FROM t", r"is of another warehouse than manifest\.json"),
        ("warehouse_info", "INSERT INTO t FROM t", "is of another warehouse than"),
        ("warehouse_info", "UPDATE t SET created_at = NULL", 'has nulls in "created_at"'),
    ],
)
def test_a_table_that_no_warehouse_could_hold_is_refused(
    dated: Path, there: Path, table: str, sql: str, match: str
) -> None:
    change(dated, table, sql.replace("ALTER t", "ALTER TABLE t"))
    refused(dated, there, rf"tables/{table}\.parquet .*{match}")


@pytest.mark.parametrize("rows", [0, 4, 10**12])
def test_a_table_has_as_many_rows_as_the_manifest_says(dated: Path, there: Path, rows: int) -> None:
    edit(dated, lambda manifest: manifest["tables"]["facts"].update(rows=rows))
    refused(dated, there, rf"facts\.parquet has 5 rows; manifest\.json lists {rows:,}\.")


@pytest.mark.parametrize("cut", [0, 4, 100, -8])
def test_a_table_that_is_not_parquet_is_refused(dated: Path, there: Path, cut: int) -> None:
    content = (dated / "tables" / "facts.parquet").read_bytes()
    put(dated, "facts", content[:cut])
    refused(dated, there, r"facts\.parquet cannot be read")


def test_a_table_with_damaged_rows_is_refused(dated: Path, there: Path) -> None:
    """The footer, which is what is read first, is as it was."""
    content = (dated / "tables" / "facts.parquet").read_bytes()
    put(dated, "facts", content[:4] + bytes(200) + content[204:])
    refused(dated, there, r"facts\.parquet cannot be read")


@pytest.mark.parametrize("number", [-1, 1.5, 2**63, "1", None, [], float("nan"), float("inf")])
@pytest.mark.parametrize("field", ["rows", "bytes"])
def test_a_count_that_is_none_is_named(
    dated: Path, there: Path, field: str, number: object
) -> None:
    edit(dated, lambda manifest: manifest["tables"]["facts"].update({field: number}))
    refused(dated, there, rf"is not a backup manifest \(.*tables\.facts\.{field}|invalid number")


def test_a_list_has_as_many_names_as_the_manifest_says(dated: Path, there: Path) -> None:
    edit(dated, lambda manifest: manifest["stores"]["pages"].update(count=2))
    refused(dated, there, r"pages\.txt is not a list of sha-256 \(2 of them\)")

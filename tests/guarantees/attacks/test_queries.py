"""A sender of queries to `evergreen sql`."""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from flows.cli.main import main
from tasks.warehouse import reader
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.reader import QueryLimits, run_query
from tasks.warehouse.store import open_warehouse

ENDLESS = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range = 7"
LIMITS = QueryLimits(seconds=0.3, memory_gb=0.1)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("queries") / "w.duckdb"
    with open_warehouse(path):
        pass
    return path


@pytest.mark.parametrize(
    "query",
    [ENDLESS, "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) SELECT sum(n) FROM t"],
    ids=["join", "recursion"],
)
def test_an_endless_query_ends(warehouse: Path, query: str) -> None:
    """A query ends at its time limit, and the warehouse is free again."""
    with pytest.raises(WarehouseError, match=r"did not end within 0.3 seconds.*--seconds"):
        run_query(warehouse, query, QueryLimits(seconds=0.3))
    assert run_query(warehouse, "SELECT 1 AS n")[0]["n"].to_list() == [1]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT md5(range::VARCHAR) AS m FROM range(2000000) ORDER BY m",
        "SELECT list(range) FROM range(100000000)",
        "SELECT repeat('x', 900000000)",
        "SELECT repeat('x', 40000000) FROM range(2000)",
        "SELECT range FROM range(30000000)",
    ],
    ids=["sorting", "one value", "one text", "many texts", "many rows"],
)
def test_a_query_takes_no_more_memory(warehouse: Path, query: str) -> None:
    """A query fails at its memory limit, whether it computes much or returns much."""
    with pytest.raises(WarehouseError, match=r"more than 0.1 GB of memory.*--memory"):
        run_query(warehouse, query, QueryLimits(seconds=30, memory_gb=0.1))
    assert sorted(path.name for path in warehouse.parent.iterdir()) == ["w.duckdb", "w.duckdb.lock"]


def test_a_query_changes_no_limit(warehouse: Path) -> None:
    """A query cannot raise its limits, nor read or write a file."""
    for query in (
        "SET memory_limit = '9GB'",
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO 'x.csv'",
        "ATTACH 'x.duckdb'",
        "SELECT 1; SET memory_limit = '9GB'",
    ):
        with pytest.raises(WarehouseError):
            run_query(warehouse, query, LIMITS)
    settings = ("memory_limit", "temp_directory", "lock_configuration")
    used = f"SELECT {', '.join(f'current_setting({name!r}) AS {name}' for name in settings)}"
    assert run_query(warehouse, used, LIMITS)[0].row(0) == ("95.3 MiB", "", True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM postgres_scan('host=evil.invalid', 'public', 'x')",
        "SELECT (SELECT count(*) FROM Postgres_Query('__ducklake_metadata_lake', 'SELECT 1'))",
        "WITH t AS (FROM system.main.postgres_attach('host=evil.invalid')) FROM t",
        "SELECT 1 UNION ALL FROM ducklake_cleanup_old_files('lake', cleanup_all => true)",
        "EXPLAIN ANALYZE SELECT * FROM enable_logging(storage='file', storage_path='x')",
        "EXPLAIN (ANALYZE, FORMAT json) FROM read_text('/etc/passwd')",
        "DESCRIBE SELECT * FROM editions, LATERAL (FROM query('SELECT 1'))",
        "SUMMARIZE FROM query_table(['editions'])",
        "FROM json_execute_serialized_sql('x')",
        "FROM __ducklake_metadata_lake.pg_catalog.pg_authid",
        'SELECT * FROM "__DUCKLAKE_metadata_lake".ducklake_metadata',
        "EXPLAIN DELETE FROM editions",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "CALL enable_logging()",
    ],
)
def test_a_query_calls_nothing_that_reaches_further(warehouse: Path, query: str) -> None:
    """A query reads tables and views: it calls no function that could reach anything else."""
    with pytest.raises(WarehouseError, match=r"^`evergreen sql` reads"):
        run_query(warehouse, query, LIMITS)


@pytest.mark.parametrize(
    "query",
    [
        "EXPLAIN SELECT * FROM editions",
        "explain analyze FROM editions",
        "DESCRIBE editions",
        "SHOW TABLES",
        "SUMMARIZE editions",
        "-- a comment\nSELECT unnest([1, 2]) FROM range(3), unnest(['a'])",
        "FROM duckdb_columns()",
    ],
)
def test_a_query_may_still_be_what_reads(warehouse: Path, query: str) -> None:
    """A query may still explain, describe, list and summarize."""
    assert run_query(warehouse, query)[0].width > 0


def test_a_query_is_limited_unless_somebody_says_otherwise(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command limits every query, to what its options say."""
    asked = ["evergreen", "sql", ENDLESS, "--seconds", "0.2", "--warehouse", str(warehouse)]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "within 0.2 seconds" in capfd.readouterr().err
    assert QueryLimits() == QueryLimits(seconds=60, memory_gb=2)


def test_a_query_that_does_not_listen_ends_with_its_process(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A query that does not listen to its time limit ends with its process."""
    stubborn = "SELECT levenshtein(repeat('ab', 6000), repeat('ba', 6000)) FROM range(1)"
    ended: list[int] = []
    monkeypatch.setattr("tasks.warehouse.reader.STUCK_SECONDS", 0.1)
    monkeypatch.setattr(os, "_exit", ended.append)
    asked = ["evergreen", "sql", stubborn, "--seconds", "0.1", "--warehouse", str(warehouse)]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit):
        main()
    assert ended[0] == 1
    assert "its process ends" in capfd.readouterr().err


def test_a_query_can_be_interrupted(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a query at once."""

    def fetch_and_interrupt(*given: Any) -> Any:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return fetch(*given)

    fetch = reader._fetch
    monkeypatch.setattr(reader, "_fetch", fetch_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_query(warehouse, ENDLESS, QueryLimits(seconds=30))

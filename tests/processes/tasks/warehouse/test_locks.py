"""Processes that replace rows of one table in a lake take turns, and lose none."""

import subprocess
import sys
from pathlib import Path

import pytest

from tasks.warehouse.rows import Edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.lakes import lake_at
from tests.processes.tasks.warehouse.test_lake_locks import postgres
from tests.rigs.postgres import RunningPostgres, missing

__all__ = ["postgres"]
pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]
WRITER = """
import sys
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
with open_warehouse(sys.argv[1]) as warehouse:
    for n in range(25):
        row = Edition(edition=f"{sys.argv[2]} {n % 5}", source=str(n))
        warehouse.write(Change(Edition, [row], replacing={"edition": row.edition}))
"""


def test_two_processes_that_replace_rows_of_one_table_lose_none(
    postgres: RunningPostgres, tmp_path: Path
) -> None:
    lake = lake_at(postgres, tmp_path / "both.duckdb", "locks")
    with open_warehouse(lake) as warehouse:
        warehouse.write(Change(Edition, [Edition(edition="e", source="s")]))
    both = [subprocess.Popen([sys.executable, "-c", WRITER, lake.url, who]) for who in "ab"]
    assert [process.wait() for process in both] == [0, 0]
    with open_warehouse(lake) as warehouse:
        found = {e.edition: e.source for e in warehouse.rows(Edition, "edition <> 'e'")}
    assert found == {f"{who} {n}": str(20 + n) for who in "ab" for n in range(5)}

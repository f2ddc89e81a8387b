"""`kill -9` at any moment raises no alarm; a log that is cut afterwards does."""

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import ROOT

pytestmark = pytest.mark.file_only
WRITES = """
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from tasks.warehouse.rows import Edition, Report
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change

with open_warehouse(sys.argv[1]) as store, ThreadPoolExecutor(4) as pool:
    began = store.value("SELECT count(*) FROM editions")
    def write(n):
        edition = Edition(edition=f"e{began + n}", source="test", title="x" * 20_000)
        store.write(Change(Edition, [edition], appending=n % 2 == 0))
        print(n, flush=True)
    for part in count():
        list(pool.map(write, range(part * 20, part * 20 + 20)))
"""


def killed_after(path: Path, n_writes: int) -> None:
    """Write from four threads in a process that is killed once so many are committed."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout
    for _ in range(n_writes):
        assert process.stdout.readline()
    process.kill()
    process.stdout.read()
    assert process.wait() == -signal.SIGKILL


def test_no_kill_raises_an_alarm_and_every_cut_does(tmp_path: Path) -> None:
    """With long texts, so that DuckDB writes its log into the file now and then."""
    path, chance = tmp_path / "w.duckdb", random.Random(3)
    n_cut = 0
    for n in range(8):
        killed_after(path, chance.randrange(1, 300))
        log = path.with_name("w.duckdb.wal")
        cut = shutil.copytree(tmp_path, tmp_path.with_name(f"{tmp_path.name}-{n}"))
        with (open_for_reading if n % 2 else open_warehouse)(path) as source:
            assert source.lost is None
            written = source.frame("SELECT writes FROM warehouse_info").item()
        if not log.exists() and not (cut / log.name).exists():
            continue  # all of it had just been written into the file
        (cut / log.name).unlink()
        with open_for_reading(cut / path.name) as source:
            left = source.frame("SELECT writes FROM warehouse_info").item()
            n_cut += left < written
            # The count beside it may lag by the commit that was interrupted.
            assert (source.lost is not None) == (left < written) or written - left <= 4
    assert n_cut > 3

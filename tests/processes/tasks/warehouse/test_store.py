"""A warehouse that another process owns, or that a killed one has left."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tasks.warehouse.errors import WarehouseBusy
from tasks.warehouse.store import open_warehouse
from tests.tasks.warehouse.test_store import path

__all__ = ["path"]


def test_a_second_process_waits_and_is_told_who_holds_the_warehouse(path: Path) -> None:
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from tasks.warehouse.store import open_warehouse
        with open_warehouse(Path(sys.argv[1])):
            print("open", flush=True)
            sys.stdin.readline()
    """)
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    assert holder.stdout.readline() == "open\n"
    with (
        pytest.raises(WarehouseBusy, match=f"pid {holder.pid}"),
        open_warehouse(path, wait_seconds=0),
    ):
        pass
    said: list[str] = []

    def release(line: str) -> None:
        said.append(line)
        assert holder.stdin
        holder.stdin.write("\n")
        holder.stdin.flush()

    with open_warehouse(path, on_wait=release):
        pass
    assert holder.wait(10) == 0
    assert len(said) == 1
    assert f"pid {holder.pid}" in said[0]


def test_what_was_acknowledged_survives_kill_minus_9(path: Path) -> None:
    program = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from tasks.warehouse.rows import Edition
        from tasks.warehouse.store import open_warehouse
        from tasks.warehouse.writer import Change
        with open_warehouse(Path(sys.argv[1])) as warehouse:
            for n in range(1000):
                warehouse.write(Change(Edition, [Edition(edition=str(n), source="test")]))
                print(n, flush=True)
                if n == 7:
                    os.kill(os.getpid(), signal.SIGKILL)
    """)
    killed = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    acknowledged = killed.stdout.split()
    assert acknowledged[-1] == "7"
    with open_warehouse(path, wait_seconds=5) as warehouse:
        kept = warehouse.frame("SELECT edition FROM editions")["edition"].to_list()
    assert set(acknowledged) <= set(kept)

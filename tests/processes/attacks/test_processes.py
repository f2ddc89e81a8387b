"""Another process of the same user"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.attacks.test_programs import ROOT, SECRET, WITHOUT_CAPABILITIES

WAIT = "print('up', flush=True); import time; time.sleep(60)"
SUPERVISOR = """
import sys
from pathlib import Path
from tasks.agents.command import supervisor
supervisor.read_spec = lambda folder: (print("up", flush=True), __import__("time").sleep(60))
supervisor.main(Path(sys.argv[1]))
"""
STARTS = {
    "a command, a served run or a Prefect server": f"import flows; {WAIT}",
    "a program's supervisor": SUPERVISOR,
}


@contextmanager
def started(code: str, folder: Path) -> Iterator[int]:
    """The id of a process of ours with a key in its environment."""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT, env=os.environ | {"A_KEY": SECRET}, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "up\n"
            yield process.pid
        finally:
            process.kill()


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="there is no setpriv")
@pytest.mark.parametrize("code", STARTS.values(), ids=STARTS)
def test_no_other_process_reads_our_keys(code: str, tmp_path: Path) -> None:
    """No other process of the same user reads the environment or the memory of one of ours."""
    with started(code, tmp_path) as pid:
        for file in ("environ", "mem", "maps", "fd/1"):
            read = ["head", "-c", "10", f"/proc/{pid}/{file}"]
            done = subprocess.run([*WITHOUT_CAPABILITIES, *read], capture_output=True, check=False)
            assert b"Permission denied" in done.stderr, file


def test_such_a_process_is_read_where_nothing_forbids_it(tmp_path: Path) -> None:
    with started(WAIT, tmp_path) as pid:
        assert SECRET.encode() in Path(f"/proc/{pid}/environ").read_bytes()

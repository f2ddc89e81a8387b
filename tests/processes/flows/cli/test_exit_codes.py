"""A command that is interrupted says so by its exit code."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.warehouse.file_lock import lock_warehouse
from tests.flows.cli.test_exit_codes import ROOT, warehouse

__all__ = ["warehouse"]


@pytest.mark.file_only
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_a_command_that_is_interrupted_says_so_by_its_exit_code(
    warehouse: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    # A shell shows a process that a signal ended as 128 and the signal's number: 143.
    with lock_warehouse(warehouse):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "flows", "backup", "--to", str(tmp_path / "backups"),
             "--warehouse", str(warehouse)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert waiting.stderr
        assert "waiting for it to finish" in waiting.stderr.readline()
        waiting.send_signal(number)
        _, said = waiting.communicate(timeout=60)
    assert waiting.returncode == code
    assert "Traceback" not in said

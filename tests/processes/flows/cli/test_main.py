"""A full disk is said plainly, and nothing is lost."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

from tests.flows.cli.test_main import ROOT
from tests.sample_edition import PART as SAMPLE


def test_a_full_disk_is_said_plainly_and_a_later_run_goes_on(tmp_path: Path) -> None:
    # A limit on the size of files stands in for a full disk: both end in a failed write.
    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    command = [sys.executable, "-m", "flows", "import", "wlc", str(SAMPLE), "--warehouse",
               str(tmp_path / "w.duckdb")]  # fmt: skip
    failed = subprocess.run(
        command, preexec_fn=full, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert failed.returncode == 1
    assert "no room left on the disk" in failed.stderr
    assert "Traceback" not in failed.stderr
    again = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert again.returncode == 0, again.stderr
    assert "9 reports" in again.stderr

"""A browser on the page of a run, at the shared server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.long.flows.site.folders import NEEDS_CHROMIUM
from tests.processes.flows.runtime.test_server import (
    AUTH,
    Finished,
    Shared,
    environment,
    finished,
    served,
    shared,
)

__all__ = ["finished", "served", "shared"]
ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.rig
@NEEDS_CHROMIUM
def test_a_browser_shows_the_run_and_reaches_for_nothing_beyond_the_loopback(
    finished: Finished, shared: Shared, tmp_path: Path
) -> None:
    rig = [sys.executable, "-m", "tests.rigs.ui_screenshots"]
    what = ["--api", shared.record.api_url, "--flow-run", finished.run_id, "--out", str(tmp_path)]
    done = subprocess.run(
        [*rig, *what], env=environment() | {AUTH: os.environ[AUTH]}, cwd=ROOT, check=False,
        capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    pictures = [Path(line) for line in done.stdout.splitlines()]
    assert [picture.name.rpartition("-")[2] for picture in pictures] == [
        "run.png", "runs.png", "runs.png", "artifacts.png",
    ]  # fmt: skip
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)

"""`evergreen ui` stays while its server lives, however late it answers, and ends with it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from flows.runtime.server_record import ServerRecord, read_record
from tests import waiting
from tests.processes.flows.runtime.test_server import environment

STILL_SECONDS = 12
"""Longer than a server's health was once waited for."""


@pytest.fixture
def ui(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], ServerRecord]]:
    """The command, with its server up."""
    shown = subprocess.Popen(
        [sys.executable, "-m", "flows", "ui", "--port", "4299"],
        env=environment() | {"EVERGREEN_PREFECT_HOME": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert shown.stdout is not None
        assert any(line.startswith("Prefect UI: ") for line in shown.stdout)
        record = read_record(tmp_path)
        assert record is not None
        yield shown, record
    finally:
        shown.kill()
        shown.wait()


def test_a_server_that_stands_still_for_a_while_keeps_its_ui(
    ui: tuple[subprocess.Popen[str], ServerRecord],
) -> None:
    shown, record = ui
    os.kill(record.pid, signal.SIGSTOP)
    time.sleep(STILL_SECONDS)
    os.kill(record.pid, signal.SIGCONT)
    assert shown.poll() is None
    assert httpx.get(f"{record.api_url}/health", timeout=30).is_success


def test_a_server_that_is_gone_ends_its_ui_with_a_reason(
    ui: tuple[subprocess.Popen[str], ServerRecord],
) -> None:
    shown, record = ui
    os.kill(record.pid, signal.SIGKILL)
    said, _ = shown.communicate(timeout=waiting.SECONDS)
    assert shown.returncode == 1
    assert "The server ended unexpectedly." in said

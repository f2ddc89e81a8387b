"""`evergreen compact` after a process that was killed."""

import json
from pathlib import Path

import pytest

from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.guarantees.flows.cli.test_backup import warehouse
from tests.tasks.backed_up import in_a_process

__all__ = ["warehouse"]
pytestmark = pytest.mark.file_only


def test_what_a_killed_process_had_not_written_into_the_file_is_written(
    evergreen: Evergreen, warehouse: Path
) -> None:
    code = """
import os, signal, sys
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
with open_warehouse(sys.argv[1]) as warehouse:
    warehouse.write(Change(Edition, [Edition(edition="kept", source="test")]))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert in_a_process(code, warehouse).returncode == -9
    assert warehouse.with_name(f"{warehouse.name}.wal").stat().st_size > 0
    _, said, _ = evergreen("compact", "--warehouse", warehouse, "--format", "json")
    sizes = json.loads(said)
    beside = "bytes beside it, not yet in it"
    assert sizes["before"][beside] > 0
    assert sizes["after"][beside] == 0
    with open_warehouse(warehouse) as store:
        assert store.value("SELECT count(*) FROM editions WHERE edition = 'kept'") == 1

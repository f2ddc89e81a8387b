"""Exit codes say what the help says they do, also for commands that are interrupted or fail."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.warehouse.lock import own
from tests.flows.conftest import Evergreen
from tests.tasks.annotated import sample_warehouse

ROOT = Path(__file__).resolve().parents[2]
ON_DAMAGED = [
    ("agents", "jobs"),
    ("agreement", "--edition", "sample"),
    ("analyse", "--edition", "sample"),
    ("backup", "--to", "backups"),
    ("calls",),
    ("compact",),
    ("compare", "--edition", "sample"),
    ("doctor", "--offline"),
    ("edition", "list"),
    ("estimate", "--edition", "sample", "--judge", "local"),
    ("evaluate", "--edition", "sample"),
    ("explain", "--report", "a/b"),
    ("import", "wlc", str(ROOT / "data" / "sample")),
    ("leaderboard", "--edition", "sample"),
    ("pages", "references", "--edition", "sample"),
    ("restore", "{backup}"),
    ("sql", "SELECT 1"),
    ("status",),
]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


@pytest.mark.file_only
@pytest.mark.parametrize("command", ON_DAMAGED, ids=" ".join)
def test_a_damaged_warehouse_is_exit_code_1_in_words(
    evergreen: Evergreen, warehouse: Path, command: tuple[str, ...], tmp_path: Path
) -> None:
    backup = tmp_path / "b.tar"
    if "{backup}" in command:
        assert evergreen("backup", "--to", backup, "--warehouse", warehouse)[0] == 0
    warehouse.write_bytes(b"no database" * 1000)
    given = (str(tmp_path / each) if each == "backups" else each.format(backup=backup)
             for each in command)  # fmt: skip
    code, said, remarks = evergreen(*given, "--warehouse", warehouse)
    assert code == 1
    assert "not a readable warehouse" in " ".join((said + remarks).split())
    assert "Traceback" not in remarks
    assert warehouse.read_bytes() == b"no database" * 1000


@pytest.mark.parametrize(
    "command",
    [
        ("backup",),
        ("backup", "--to", "b", "--keep", "0"),
        ("backup", "verify"),
        ("restore",),
        ("compact", "--keep-days", "0"),
        ("doctor", "--format", "csv"),
        ("--warehouse", "ducklake:nothing", "status"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_2(evergreen: Evergreen, command: tuple[str, ...]) -> None:
    assert evergreen(*command)[0] == 2


@pytest.mark.long
@pytest.mark.file_only
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_a_command_that_is_interrupted_says_so_by_its_exit_code(
    warehouse: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    # A shell shows a process that a signal ended as 128 and the signal's number: 143.
    with own(warehouse):
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

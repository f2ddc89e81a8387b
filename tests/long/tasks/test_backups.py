"""A backup that is killed, at whatever moment, is whole or none."""

import signal
from pathlib import Path

import pytest

from tests.tasks.backed_up import in_a_process
from tests.tasks.test_backups import KILLED, MOMENTS, QUICK, checked, kill_and_go_on, original

__all__ = ["original"]
pytestmark = pytest.mark.file_only


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        (name, moment)
        for name in ("backups", "backup.tar")
        for moment in MOMENTS
        if (name, moment) not in QUICK
    ],
)
def test_a_backup_that_is_killed_is_never_taken_for_one(
    original: Path, tmp_path: Path, name: str, moment: str
) -> None:
    kill_and_go_on(original, tmp_path / name, moment)


def test_a_backup_that_is_killed_at_its_end_is_whole(original: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    killed = in_a_process(KILLED, original, place, MOMENTS["before it has its name"] + 1)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    checked(place)

"""A backup that is killed, at whatever moment, is whole or none."""

import signal
import textwrap
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError, open_backup
from tasks.warehouse.tables import TABLES
from tests.guarantees.tasks.backup.test_manifest import original
from tests.tasks.backed_up import checked, in_a_process

__all__ = ["original"]
pytestmark = pytest.mark.file_only

KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from tasks.backup import targets as backup_making
    from tasks.backup.creation import create_backup
    at = int(sys.argv[3])
    def die(*said):
        global at
        at -= 1
        if at < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    backup_making.os.sync = die  # the last moment before and after it has its name
    create_backup(Path(sys.argv[1]), Path(sys.argv[2]), on_progress=lambda what, done, total: die())
    print("whole")
""")


N_TABLES = len(TABLES) + 1
MOMENTS = {
    "in the first table": 0,
    "amid the tables": N_TABLES // 2,
    "at the pages": N_TABLES,
    "at the files": N_TABLES + 1,
    "before it has its name": N_TABLES + 2,
}


def kill_and_go_on(original: Path, place: Path, moment: str) -> None:
    """A backup is killed, which leaves none, and made again, which leaves nothing of the first."""
    killed = in_a_process(KILLED, original, place, MOMENTS[moment])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert list(place.parent.rglob(".*making")), "it was killed before it began"
    with pytest.raises(BackupError, match="is no backup"), open_backup(place):
        pass
    create_backup(original, place)
    checked(place)
    assert not list(place.parent.rglob(".*making")), "the next one leaves it"


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", ["backups", "backup.tar"])
def test_a_backup_that_is_killed_is_never_taken_for_one(
    original: Path, tmp_path: Path, name: str, moment: str
) -> None:
    kill_and_go_on(original, tmp_path / name, moment)


def test_a_backup_that_is_killed_at_its_end_is_whole(original: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    killed = in_a_process(KILLED, original, place, MOMENTS["before it has its name"] + 1)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    checked(place)

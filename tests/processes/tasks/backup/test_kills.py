"""A backup that is killed is whole or none; test_kill_points.py asks the same of every moment."""

import signal
import textwrap
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.warehouse.tables import TABLES
from tests.guarantees.tasks.backup.test_kill_points import check_that_none_is_left
from tests.guarantees.tasks.backup.test_manifest import original, warehouse
from tests.tasks.backed_up import checked, contents, in_a_process, restored

__all__ = ["original", "warehouse"]
pytestmark = pytest.mark.file_only

KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from tasks.backup import creation
    from tasks.backup.creation import create_backup
    at = int(sys.argv[3])
    def die(*said):
        global at
        at -= 1
        if at < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    creation.os.sync = die  # the last moment before and after it has its name
    create_backup(Path(sys.argv[1]), Path(sys.argv[2]), on_progress=lambda what, done, total: die())
    print("whole")
""")


N_TABLES = len(TABLES) + 1
AMID_THE_TABLES, BEFORE_ITS_NAME, AFTER_IT = N_TABLES // 2, N_TABLES + 2, N_TABLES + 3


@pytest.mark.parametrize(
    ("name", "moment"), [("backups", AMID_THE_TABLES), ("backup.tar", BEFORE_ITS_NAME)]
)
def test_a_backup_that_is_killed_is_never_taken_for_one(
    original: Path, tmp_path: Path, name: str, moment: int
) -> None:
    place = tmp_path / name
    killed = in_a_process(KILLED, original, place, moment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    check_that_none_is_left(original, place)


def test_a_backup_that_is_killed_at_its_end_is_whole(original: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    killed = in_a_process(KILLED, original, place, AFTER_IT)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    checked(place)


def test_a_restore_that_is_killed_leaves_the_warehouse_that_was_there(
    original: Path, warehouse: Path, tmp_path: Path
) -> None:
    create_backup(original, tmp_path / "b.tar")
    before = contents(warehouse)
    code = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from tasks.backup.manifest import open_backup
        from tasks.backup.restoration import restore_backup
        def die(what, done, total):
            if what == "tables" and done == total - 1:
                os.kill(os.getpid(), signal.SIGKILL)
        with open_backup(Path(sys.argv[1])) as backup:
            restore_backup(backup, sys.argv[2], replace=True, on_progress=die)
    """)
    killed = in_a_process(code, tmp_path / "b.tar", warehouse)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert contents(warehouse) == before
    restored(tmp_path / "b.tar", warehouse, replace=True)
    names = {path.name for path in warehouse.parent.iterdir()}
    assert not {name for name in names if "restoring" in name}

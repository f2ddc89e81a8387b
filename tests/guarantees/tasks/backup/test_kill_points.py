"""What a backup is at any moment, were its process killed then: whole or none.

Its folder is copied at each; tests/processes/tasks/backup/test_kills.py kills in earnest.
"""

import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError, open_backup
from tasks.warehouse.tables import TABLES
from tests.guarantees.tasks.backup.test_manifest import original
from tests.tasks.backed_up import checked

__all__ = ["original"]
pytestmark = pytest.mark.file_only
N_TABLES = len(TABLES) + 1
MOMENTS = {
    N_TABLES // 2: "amid the tables",
    N_TABLES + 1: "between the pages and the files",
    N_TABLES + 2: "before it has its name",
    N_TABLES + 3: "at its end",
}


def check_that_none_is_left(original: Path, place: Path) -> None:
    """What is left is taken for no backup, and the next one leaves nothing of it."""
    assert list(place.parent.rglob(".*making")), "it ended before it began"
    with pytest.raises(BackupError, match="is no backup"), open_backup(place):
        pass
    create_backup(original, place)
    checked(place)
    assert not list(place.parent.rglob(".*making")), "the next one leaves it"


@pytest.mark.parametrize("name", ["backups", "backup.tar"])
def test_a_backup_is_whole_or_none_at_every_moment(
    original: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, copies = count(), tmp_path / "copies"

    def copy(*_: object) -> None:
        if moment := MOMENTS.get(next(calls)):
            shutil.copytree(tmp_path / "made", copies / moment)

    (tmp_path / "made").mkdir()
    monkeypatch.setattr(os, "sync", copy)  # the last moment before and after it has its name
    create_backup(original, tmp_path / "made" / name, on_progress=copy)
    monkeypatch.undo()
    *kills, last = MOMENTS.values()
    checked(copies / last / name)
    for moment in kills:
        check_that_none_is_left(original, copies / moment / name)

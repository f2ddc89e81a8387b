"""A forger of results, against readers with `sha256sum` and no Evergreen."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.files.checksums import SUMS
from tasks.site.folder import SiteFolder
from tasks.warehouse.store import open_warehouse
from tests.tasks.backed_up import keep_file, keep_page

pytestmark = pytest.mark.file_only


def publish(to: Path) -> Path:
    with SiteFolder(to / "site") as folder:
        folder.add("index.html", "<p>63.1 %</p>")
        folder.finish({"edition": "e"})
    return to / "site"


def back_up(to: Path) -> Path:
    with open_warehouse(to / "w.duckdb") as store:
        keep_page(store, "https://example.org/", b"A page.")
        keep_file(store, "a", b"A file.")
    return create_backup(to / "w.duckdb", to / "backups").place


def check(folder: Path) -> int:
    command = ["sha256sum", "--quiet", "--strict", "--check", SUMS]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


@pytest.mark.parametrize("make", [publish, back_up])
def test_sha256sum_finds_every_change(make: Callable[[Path], Path], tmp_path: Path) -> None:
    """`sha256sum -c` finds each file of a site or a backup that was changed or removed."""
    folder = make(tmp_path)
    assert check(folder) == 0
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != SUMS]
    assert len(files) > 1
    for file in files:
        whole = file.read_bytes()
        for changed in (whole + b" ", whole[:-1]):
            file.write_bytes(changed)
            assert check(folder) == 1, file
        file.unlink()
        assert check(folder) == 1, file
        file.write_bytes(whole)
    assert check(folder) == 0

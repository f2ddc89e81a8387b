"""Another user of the same host."""

import os
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from flows.__main__ import main
from flows.display import console
from flows.runtime import server_start, server_users
from tasks.site.folder import SiteFolder
from tests.tasks.annotated import SAMPLE


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """That of most systems, before and after."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """What is in a folder, with what each user may do with it."""
    return {
        str(path.relative_to(folder)): oct(path.stat().st_mode & 0o777)
        for path in sorted(folder.rglob("*"))
        if not path.is_symlink()
    }


def expected(folder: Path, files: str, folders: str) -> dict[str, str]:
    return {
        name: folders if (folder / name).is_dir() else files for name in modes(folder)
    }  # fmt: skip


def evergreen(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(console.STDERR, "quiet", False)  # what --quiet sets is undone with it
    monkeypatch.setattr(sys, "argv", ["evergreen", "--quiet", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code


def test_a_warehouse_and_its_backups_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the user who runs Evergreen can read the warehouse, its snapshots and backups."""
    monkeypatch.setenv("EVERGREEN_QUIET", "0")
    warehouse = tmp_path / "data" / "warehouse.duckdb"
    evergreen(monkeypatch, "import", "wlc", SAMPLE, "--warehouse", warehouse)
    backups, new = tmp_path / "backups", tmp_path / "new" / "warehouse.duckdb"
    evergreen(monkeypatch, "backup", "--to", backups, "--warehouse", warehouse)
    evergreen(monkeypatch, "backup", "restore", backups, "--warehouse", new)
    assert len(modes(tmp_path)) > 20
    assert modes(tmp_path) == expected(tmp_path, "0o600", "0o700")


def test_prefects_home_and_logs_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the user who runs Evergreen can read Prefect's history, results and log."""
    started: list[int] = []

    class Started:
        stdin = BytesIO()

        def __init__(self, *_: object, **given: object) -> None:
            started.append(os.umask(0o077))
            assert "umask" not in given  # what it starts is as private as itself

    monkeypatch.setattr("flows.runtime.server_start.subprocess.Popen", Started)

    def serve(home: Path, port: int | None) -> None:
        home = tmp_path / "prefect"
        with server_users.hold_users_lock(home), server_users.hold_start_lock(home):
            server_start.start_server(home, port or 0)

    monkeypatch.setattr("flows.cli.serve.serve_ui", serve)
    monkeypatch.setenv("EVERGREEN_QUIET", "0")
    evergreen(monkeypatch, "ui")
    assert started == [0o077]
    assert "prefect/server.log" in modes(tmp_path)
    assert modes(tmp_path) == expected(tmp_path, "0o600", "0o700")


@pytest.mark.parametrize("kept", [False, True], ids=["new", "cannot be moved"])
def test_a_published_site_is_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """A web server of another user can read the published site, whatever the umask."""
    os.umask(0o077)
    site = tmp_path / "www" / "site"
    if kept:
        monkeypatch.setattr("tasks.site.folder.must_stay", lambda target: True)
        site.mkdir(parents=True)
        site.chmod(0o755)
        site.parent.chmod(0o755)
    for n in range(2):
        with SiteFolder(site) as folder:
            folder.add("index.html", f"a page {n}")
            folder.add(f"reports/{n}/a.html", "another")
            folder.finish({"edition": "sample"})
    assert len(modes(tmp_path)) > 5
    assert modes(tmp_path) == expected(tmp_path, "0o644", "0o755")

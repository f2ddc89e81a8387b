"""The server's database is copied from a template, where there can be one."""

import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

from flows.runtime import server_database
from flows.runtime.server_database import cache_folder, create_database


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "evergreen"


@pytest.fixture
def template(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A template of this Prefect version, and no way to make another one."""
    cache.mkdir(parents=True)
    path = cache / f"prefect-{version('prefect')}.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE of_the_template (n INTEGER)")
    monkeypatch.setattr(server_database, "migrate", lambda: pytest.fail("migrated again"))
    return path


def tables(database: Path) -> set[str]:
    with closing(sqlite3.connect(database)) as opened:
        return {name for (name,) in opened.execute("SELECT name FROM sqlite_master")}


def test_the_cache_is_where_the_user_says(cache: Path) -> None:
    assert cache_folder() == cache


def test_a_new_home_gets_a_copy_of_the_template(template: Path, tmp_path: Path) -> None:
    create_database(tmp_path / "prefect.db")
    assert tables(tmp_path / "prefect.db") == {"of_the_template"}
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["prefect.db"]


def test_a_home_with_a_history_keeps_it(template: Path, tmp_path: Path) -> None:
    (tmp_path / "prefect.db").write_bytes(b"history")
    create_database(tmp_path / "prefect.db")
    assert (tmp_path / "prefect.db").read_bytes() == b"history"


def test_a_damaged_template_is_thrown_away_and_the_home_migrated_by_prefect(
    template: Path, tmp_path: Path
) -> None:
    template.write_bytes(b"half of a database")
    create_database(tmp_path / "prefect.db")
    assert not template.exists()
    assert not (tmp_path / "prefect.db").exists()


def test_a_full_disk_costs_the_copy_and_not_the_template(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def copy(source: Path, target: Path) -> None:
        raise full

    monkeypatch.setattr(server_database, "_copy", copy)
    create_database(tmp_path / "prefect.db")
    assert template.exists()
    assert not (tmp_path / "prefect.db").exists()


def test_a_cache_that_cannot_be_written_leaves_the_migrations_to_prefect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    create_database(tmp_path / "prefect.db")
    assert not (tmp_path / "prefect.db").exists()

"""What signed once stops while a key to sign with is named: nothing is made unsigned in silence."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.publish import publish
from tasks.backup.creation import create_backup
from tasks.configuration.errors import ConfigurationError
from tasks.publishing.site import build_site
from tasks.warehouse.reader import open_for_reading
from tests.flows.conftest import Evergreen
from tests.flows.plain_prefect import plain_prefect

SAID = (
    "Unset EVERGREEN_SIGNING_KEY: Evergreen no longer signs sites and backups, so nothing was "
    "written. Then run this again, and sign the file SHA256SUMS of the result"
)


@pytest.fixture
def warehouse(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A judged one, in the working folder; at the end it is still alone there."""
    (tmp_path / "own").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("EVERGREEN_SIGNING_KEY", "keys/evergreen.key")
    yield Path(shutil.copy(whole, tmp_path / "own"))
    assert not list((tmp_path / "here").iterdir())


@pytest.mark.parametrize(
    "command",
    ["publish --edition sample --to site", "backup --to backups", "backup --to b.tar"],
)
def test_a_command_stops(command: str, warehouse: Path, evergreen: Evergreen) -> None:
    code, answer, remarks = evergreen(*command.split(), "--warehouse", warehouse)
    assert (code, answer) == (1, "")
    assert SAID in " ".join(remarks.split())


def test_a_served_run_stops_before_it_asks_for_approval(warehouse: Path) -> None:
    with plain_prefect() as artifacts, pytest.raises(ConfigurationError, match=SAID):
        asyncio.run(publish(edition="sample", to="site", approve=True, warehouse=str(warehouse)))
    assert artifacts == []


def test_the_library_stops(warehouse: Path) -> None:
    with pytest.raises(ConfigurationError, match=SAID):
        create_backup(warehouse, Path("backups"))
    with open_for_reading(warehouse) as source, pytest.raises(ConfigurationError, match=SAID):
        build_site(source, "sample", Path("site"))


def test_a_password_alone_stops_as_well(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGREEN_SIGNING_PASSWORD", "correct horse")
    with pytest.raises(ConfigurationError, match="SIGNING_KEY and EVERGREEN_SIGNING_PASSWORD:"):
        create_backup(warehouse, Path("backups"))
    monkeypatch.setenv("EVERGREEN_SIGNING_KEY", "")
    with pytest.raises(ConfigurationError, match=r"^Unset EVERGREEN_SIGNING_PASSWORD:") as stopped:
        create_backup(warehouse, Path("backups"))
    assert "correct horse" not in str(stopped.value)


def test_a_backup_is_restored_nevertheless(
    warehouse: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.delenv("EVERGREEN_SIGNING_KEY")
        create_backup(warehouse, tmp_path / "b.tar")
    new = ("--warehouse", tmp_path / "new.duckdb")
    assert evergreen("backup", "restore", tmp_path / "b.tar", *new)[0] == 0

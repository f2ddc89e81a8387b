"""The Prefect server's record and settings, and what is said of one that cannot be used."""

import errno
import fcntl
import json
import os
import socket
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from flows.runtime import server as local
from flows.runtime.server import local_server
from flows.runtime.server_record import ServerError, is_gone, is_served, read_record
from flows.runtime.server_users import hold_start_lock
from flows.runtime.settings import prefect_environment
from tasks.files.locks import NoFileLocks
from tasks.warehouse.errors import NoRoom

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_server() -> None:
    """Starting one is what these are about; none of them gets as far as Prefect."""


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_configured_server_that_does_not_answer_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://127.0.0.1:{free_port()}/api"
    monkeypatch.setenv("PREFECT_API_URL", url)
    with (
        pytest.raises(ServerError, match=f"PREFECT_API_URL is {url}.*unset PREFECT_API_URL"),
        local_server(tmp_path / "home"),
    ):
        pytest.fail("there is no server")
    assert not (tmp_path / "home").exists()


def test_the_record_of_a_dead_server_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text(json.dumps({"pid": os.getpid(), "port": free_port()}))
    assert not is_served(tmp_path)
    assert read_record(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "port": 2, "x": 3}'])
def test_a_damaged_record_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text)
    assert read_record(tmp_path) is None


def test_a_home_that_cannot_be_written_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    blocked = tmp_path / "a file"
    blocked.write_text("")
    with pytest.raises(ServerError, match="a file"), local_server(blocked):
        pytest.fail("there is no server")


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_home_without_file_locks_is_an_error_that_says_what_to_do(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(fcntl, "flock", refuse)
    said = rf"{tmp_path} is on a file system without file locks.*EVERGREEN_PREFECT_HOME"
    for use in (local_server, hold_start_lock):
        with pytest.raises(NoFileLocks, match=said), use(tmp_path):
            pytest.fail("there is no server")
    with pytest.raises(NoFileLocks, match=said):
        is_served(tmp_path)


def test_a_server_that_cannot_start_is_an_error_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        pytest.raises(ServerError, match=r"ended with code 1.*server\.log"),
        local_server(tmp_path),
    ):
        pytest.fail("there is no server")
    assert "PREFECT_API_URL" not in os.environ


def test_settings_of_taste_give_way_and_settings_of_privacy_do_not(tmp_path: Path) -> None:
    mine = {"PREFECT_LOGGING_LEVEL": "DEBUG", "DO_NOT_TRACK": "0", "NO_PROXY": "example.org"}
    made = prefect_environment(tmp_path, mine)
    assert made["PREFECT_LOGGING_LEVEL"] == "DEBUG"
    assert made["DO_NOT_TRACK"] == "1"
    assert made["NO_PROXY"] == "example.org,127.0.0.1,localhost"
    assert made["PREFECT_HOME"] == str(tmp_path)


def test_a_server_is_gone_when_nobody_or_another_serves_its_home(tmp_path: Path) -> None:
    url = "http://127.0.0.1:4321/api"
    record = json.dumps({"pid": 1, "port": 4321})
    assert is_gone(tmp_path, url)
    with FileLock(tmp_path / "serving.lock"):
        (tmp_path / "server.json").write_text(record)
        assert not is_gone(tmp_path, url)
        (tmp_path / "server.json").write_text(record.replace("4321", "4322"))
        assert is_gone(tmp_path, url)


def test_no_server_starts_and_no_error_is_a_riddle_where_its_history_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "HISTORY_BYTES", 1 << 60)
    with pytest.raises(NoRoom, match="Prefect's folder"), local_server(tmp_path):
        pass
    assert not (tmp_path / "server.log").exists()
    monkeypatch.setitem(local._joined, "http://127.0.0.1:1/api", tmp_path)
    monkeypatch.setattr(local, "is_lost", lambda: False)
    with pytest.raises(NoRoom, match="no room left"), local.send_history():
        raise RuntimeError("HTTP 500: Internal Server Error")

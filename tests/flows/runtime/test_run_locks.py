"""A run's lock file tells whether its process lives."""

import os
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from flows.runtime import run_locks
from flows.runtime.run_locks import RunTaken, forget_run, hold_run, is_held, kill_run, list_runs
from tasks.errors import ExpectedError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setattr(run_locks, "PROBE_SECONDS", 0)
    return tmp_path


def killed_run(home: Path) -> UUID:
    """A run whose lock file is left by a process that is gone."""
    run = uuid4()
    with hold_run(uuid4()):
        (home / "runs" / f"{run}.lock").write_text("1 elsewhere", "utf-8")
    return run


def test_a_run_is_held_while_its_process_is_at_it_and_leaves_nothing(home: Path) -> None:
    run = uuid4()
    with hold_run(run):
        assert is_held(run)
        assert (list_runs(held=True), list_runs(held=False)) == ([run], [])
    assert not is_held(run)
    assert list((home / "runs").iterdir()) == []


def test_a_run_is_taken_once() -> None:
    run = uuid4()
    with hold_run(run), pytest.raises(RunTaken, match="is at this run already"), hold_run(run):
        pass


def test_a_killed_run_is_known_until_it_is_forgotten_and_can_be_taken_again(home: Path) -> None:
    run = killed_run(home)
    assert list_runs(held=False) == [run]
    with hold_run(run):
        forget_run(run)  # nothing: somebody is at it
        assert is_held(run)
    run = killed_run(home)
    forget_run(run)
    assert list_runs(held=False) == []


def test_a_process_of_another_host_or_one_that_is_gone_is_not_killed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, killed = uuid4(), []
    monkeypatch.setattr("os.kill", lambda pid, signal: killed.append(pid))
    assert not kill_run(killed_run(home))
    with hold_run(run):
        assert kill_run(run)
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        assert not kill_run(run)
    assert killed == [os.getpid()]


def test_a_home_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "file"))
    with (
        pytest.raises(ExpectedError, match=r"file .*Set EVERGREEN_PREFECT_HOME"),
        hold_run(uuid4()),
    ):
        pass

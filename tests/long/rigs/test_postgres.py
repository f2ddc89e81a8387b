"""The rig that the tests of production stand on: a PostgreSQL of one's own."""

import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.rigs.postgres import RunningPostgres, missing, running
from tests.waiting import until

pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]


def test_one_with_a_password_wants_it(tmp_path: Path) -> None:
    with running(tmp_path, password="for-this-test-only") as postgres:
        assert postgres.ask("SELECT 1") == [["1"]]
        assert "for-this-test-only" not in postgres.keywords("postgres")
        assert "postgres:for-this-test-only@" in postgres.url("postgres")
        postgres.password = "another"
        with pytest.raises(RuntimeError, match="password authentication failed"):
            postgres.ask("SELECT 1")


def test_a_block_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), running(tmp_path) as postgres:
        _ = 1 / 0
    assert not is_open(postgres)
    assert not postgres.home.exists()


def is_open(postgres: RunningPostgres) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((postgres.host, postgres.port)) == 0


def test_two_servers_run_at_once_and_hold_their_own_data(tmp_path: Path) -> None:
    with running(tmp_path / "one") as one, running(tmp_path / "two") as two:
        for postgres in (one, two):
            postgres.create("things")
            postgres.ask("CREATE TABLE thing (port int)", "things")
            postgres.ask(f"INSERT INTO thing VALUES ({postgres.port})", "things")
        assert one.port != two.port
        for postgres in (one, two):
            assert postgres.ask("SELECT port, NULL FROM thing", "things") == [
                [str(postgres.port), ""]
            ]
        assert one.keywords("things") == (
            f"host=127.0.0.1 port={one.port} user=postgres dbname=things"
        )


def test_what_was_committed_survives_a_kill_and_a_stop(tmp_path: Path) -> None:
    with running(tmp_path) as postgres:
        postgres.ask("CREATE TABLE thing (n int); INSERT INTO thing VALUES (1)")
        for end in (postgres.kill, postgres.stop):
            end()
            assert not is_open(postgres)
            postgres.start()
            assert postgres.ask("SELECT n FROM thing") == [["1"]]


def test_a_test_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tests.rigs.postgres import running\n"
        "with running(Path(sys.argv[1])) as postgres:\n"
        "    print(postgres.home, postgres.port, flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3],
    ) as process:  # fmt: skip
        assert process.stdout
        home, port = process.stdout.readline().split()
        assert Path(home).exists()
        process.kill()
    until("end of the server's folder", lambda: not Path(home).exists(), pause=0.1)
    assert not [each for each in psutil.process_iter(["cmdline"])
                if home in " ".join(each.info["cmdline"] or ())]  # fmt: skip
    assert not is_open(RunningPostgres(Path(home), tmp_path / "log", int(port)))

"""The rig that the tests of production stand on: a PostgreSQL of one's own."""

import socket
from pathlib import Path

import pytest

from tests.rigs.postgres import RunningPostgres, missing, running

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

"""Someone who has taken over a service, at the database it shares with others."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.imports.wlc import import_edition
from tasks.warehouse.store import open_warehouse
from tests.compose_file import ROOT, environment
from tests.lakes import NEEDS_POSTGRES
from tests.rigs.postgres import RunningPostgres, run_databases_script, running

pytestmark = NEEDS_POSTGRES

PASSWORDS = {
    "POSTGRES_PASSWORD": "super'; DROP ROLE prefect; --",
    "SERVER_DATABASE_PASSWORD": "server \\' \"$(id)` :x %s é",
    "WORKER_DATABASE_PASSWORD": "worker'); CREATE ROLE more SUPERUSER; --",
}
"""All that would have to be quoted in SQL or a shell."""
SERVER, WORKER = "prefect", "evergreen"
LOGIN = {"PREFECT_SERVER_API_AUTH_STRING": "operator:for-these-tests"}
OWN = {SERVER: "SERVER_DATABASE_PASSWORD", WORKER: "WORKER_DATABASE_PASSWORD"}


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPostgres]:
    """What docker-compose.yml starts: a new volume, prepared by our script."""
    folder = tmp_path_factory.mktemp("postgres")
    with running(folder, password=PASSWORDS["POSTGRES_PASSWORD"]) as server:
        hba = server.home / "data" / "pg_hba.conf"
        hba.write_text(hba.read_text("utf-8") + "host all all all scram-sha-256\n", "utf-8")
        done = run_databases_script(server, PASSWORDS)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        again = run_databases_script(server, PASSWORDS)
        assert "already exists" in again.stderr
        # Before it reads its rules anew, as the image starts it anew.
        server.ask("SELECT pg_reload_conf()")
        yield server


def of(postgres: RunningPostgres, user: str) -> RunningPostgres:
    """The server as a user asks it."""
    return replace(postgres, user=user, password=PASSWORDS[OWN[user]])


def test_no_user_is_more_than_the_owner_of_its_database(postgres: RunningPostgres) -> None:
    """No service's database user is a superuser or may make databases, users or replicas."""
    rights = (
        "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls "
        "FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> 'postgres' ORDER BY 1"
    )
    for user in (SERVER, WORKER):
        found = of(postgres, user).ask(rights, user)
        assert found == [[WORKER, *"fffff"], [SERVER, *"fffff"]]
        members = "SELECT count(*) FROM pg_auth_members WHERE member = current_user::regrole"
        assert of(postgres, user).ask(members, user) == [["0"]]


@pytest.mark.parametrize(("user", "others"), [(SERVER, WORKER), (WORKER, SERVER)])
def test_no_service_reaches_the_others_database(
    postgres: RunningPostgres, user: str, others: str
) -> None:
    """A service reaches neither the other's database nor the superuser's."""
    for database in (others, "postgres", "template1"):
        with pytest.raises(RuntimeError, match=r"no pg_hba.conf entry|permission denied"):
            of(postgres, user).ask("SELECT 1", database)
    allowed = f"SELECT has_database_privilege('{others}', 'CONNECT, CREATE, TEMP')"
    assert of(postgres, user).ask(allowed, user) == [["f"]]
    with pytest.raises(RuntimeError, match="password authentication failed"):
        replace(postgres, user=others, password=PASSWORDS[OWN[user]]).ask("SELECT 1", others)


def test_the_superuser_is_refused_over_the_network(postgres: RunningPostgres) -> None:
    """The superuser's password opens no database from another container."""
    for database in ("postgres", SERVER, WORKER):
        with pytest.raises(RuntimeError, match=r"no pg_hba.conf entry"):
            postgres.ask("SELECT 1", database)


@pytest.mark.parametrize("user", [SERVER, WORKER])
@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "COPY (SELECT 1) TO '/tmp/x'",
        "SELECT pg_read_file('pg_hba.conf')",
        "SELECT rolpassword FROM pg_authid",
        "ALTER SYSTEM SET log_statement = 'all'",
        "CREATE DATABASE mine",
        "CREATE ROLE mine SUPERUSER",
        "ALTER ROLE current_user SUPERUSER",
        "SET ROLE postgres",
        "CREATE EXTENSION dblink",
        "CREATE EXTENSION postgres_fdw",
        "CREATE LANGUAGE plpython3u",
    ],
)
def test_a_user_can_do_no_more(postgres: RunningPostgres, user: str, sql: str) -> None:
    """A service's database user runs no program, reads no file, and makes itself no superuser."""
    with pytest.raises(RuntimeError, match=r"denied|[Mm]ust be|permission|not available"):
        of(postgres, user).ask(sql, user)


def test_the_worker_can_do_its_work(
    postgres: RunningPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker's user makes and fills the lake."""
    monkeypatch.setenv("PGPASSWORD", environment("worker", PASSWORDS | LOGIN)["PGPASSWORD"])
    keywords = of(postgres, WORKER).keywords(WORKER)
    lake = f"ducklake:postgres:{keywords}?files={tmp_path}"
    with open_warehouse(lake) as warehouse:
        import_edition(warehouse, ROOT / "data" / "sample", "sample", ["sample_sketch"])
        assert warehouse.value("SELECT count(*) FROM reports") > 0


def test_the_server_can_do_its_work(postgres: RunningPostgres, tmp_path: Path) -> None:
    """The server's user makes Prefect's tables."""
    named = environment("server", PASSWORDS | LOGIN) | {
        "PREFECT_SERVER_DATABASE_HOST": postgres.host,
        "PREFECT_SERVER_DATABASE_PORT": str(postgres.port),
        "PREFECT_HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [str(Path(sys.executable).with_name("prefect")), "server", "database", "upgrade", "-y"],
        env=named, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    tables = "SELECT count(*) > 20 FROM pg_tables WHERE schemaname = 'public'"
    assert of(postgres, SERVER).ask(tables, SERVER) == [["t"]]


@pytest.mark.parametrize("name", OWN.values())
def test_nothing_is_made_without_a_password(
    postgres: RunningPostgres, name: str, tmp_path: Path
) -> None:
    """A database user without a password is never made."""
    for given in ({**PASSWORDS, name: ""}, {k: v for k, v in PASSWORDS.items() if k != name}):
        done = run_databases_script(replace(postgres, home=tmp_path), given)
        assert done.returncode != 0
        assert f"{name}: write it into .env" in done.stderr
    assert not list(tmp_path.iterdir())


def test_no_password_is_written_to_the_log(postgres: RunningPostgres) -> None:
    """The database's log holds no password, also where the statement that sets it fails."""
    hba = (postgres.home / "data" / "pg_hba.conf").read_text("utf-8")
    log = postgres.log.read_text("utf-8")
    for password in PASSWORDS.values():
        piece = max(re.split(r"['\\]", password), key=len)  # SQL writes these two otherwise
        assert piece not in log
        assert piece not in hba

"""A PostgreSQL of a test's own: on a free loopback port, gone when its block ends.

with running(tmp_path) as postgres:
    keywords = postgres.create("catalog")       # for libpq and DuckDB
    url = postgres.url("catalog")               # for SQLAlchemy, and so for Prefect
    postgres.kill()                             # as if the machine had lost power
    postgres.start()
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN_SECONDS = 60
PORTS_TRIED = 5
OWNER = "postgres"
"""Whom the server runs as where we are root: it refuses to be root."""
SUPERUSER = "postgres"
HOST = "127.0.0.1"
GUARD = 'cat >/dev/null; "$0" stop -s -m immediate -D "$1/data" 2>/dev/null; rm -rf "$1"'
"""Waits until nobody holds its input, then ends the server and removes its folder."""


def missing() -> str | None:
    """Why no PostgreSQL can run here; None if one can."""
    if _programs() is None:
        return "PostgreSQL is not installed: `make rigs` as root on Debian"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(OWNER)
        except KeyError:
            return f"PostgreSQL refuses to run as root, and there is no user {OWNER}"
    return None


@dataclass
class RunningPostgres:
    """A cluster with one superuser, who needs no password unless one was set."""

    home: Path
    """Holds the cluster, in `data`; belongs to whom the server runs as."""
    log: Path
    port: int
    password: str | None = None
    host: str = HOST
    user: str = SUPERUSER
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def keywords(self, database: str) -> str:
        """How libpq names a database. Without the password: that comes from PGPASSWORD."""
        return f"host={self.host} port={self.port} user={self.user} dbname={database}"

    def url(self, database: str, driver: str = "postgresql+asyncpg") -> str:
        """How SQLAlchemy names a database, with the password where there is one."""
        user = f"{self.user}:{self.password}" if self.password else self.user
        return f"{driver}://{user}@{self.host}:{self.port}/{database}"

    def create(self, database: str) -> str:
        """Make an empty database; gives its `keywords`."""
        self.ask(f'CREATE DATABASE "{database}"')
        return self.keywords(database)

    def ask(self, sql: str, database: str = "postgres") -> list[list[str]]:
        """Rows of a query, all as text."""
        done = subprocess.run(
            [_program("psql"), "-X", "-A", "-t", "-q", "-F", "\x1f", "-v", "ON_ERROR_STOP=1",
             "-c", sql, self.keywords(database)],
            env=self._environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{sql}: {done.stderr.strip()}")
        return [line.split("\x1f") for line in done.stdout.splitlines()]

    def start(self) -> None:
        """Start the server and wait until it answers; it must not be running."""
        assert self._process is None, "it runs"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                # No fsync: only a machine's failure loses what the kernel holds, a kill does not.
                # No socket in a folder: its path may be too long for one.
                [_program("postgres"), "-D", str(self.home / "data"), "-p", str(self.port), "-F",
                 "-c", f"listen_addresses={self.host}", "-c", "unix_socket_directories="],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home,
                env=self._environment(), start_new_session=True, **_as_owner(),
            )  # fmt: skip
        try:
            self._wait(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """End the server as an operator does (SIGINT): its clients are cut off, nothing is lost."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STARTS_WITHIN_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """End all of the server's processes with SIGKILL."""
        if self._process is None:
            return
        try:
            main = psutil.Process(self._process.pid)
            # Held still first, so that it starts no process that we do not know of.
            main.suspend()
            processes = [*main.children(recursive=True), main]
            for process in processes:
                process.kill()
            psutil.wait_procs(processes, STARTS_WITHIN_SECONDS)
        except psutil.NoSuchProcess:
            pass  # it has ended by itself
        self._process.wait()
        self._process = None

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + STARTS_WITHIN_SECONDS
        asked = [_program("pg_isready"), "-q", "-h", self.host, "-p", str(self.port)]
        while time.monotonic() < deadline and process.poll() is None:
            if subprocess.run(asked, env=self._environment(), check=False).returncode == 0:
                return
            time.sleep(0.1)
        said = self.log.read_text("utf-8", errors="replace")[-1000:]
        raise RuntimeError(f"PostgreSQL did not start; {self.log} ends:\n{said}")

    def _environment(self) -> dict[str, str]:
        """Ours without what we have set for other servers."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return ours | ({"PGPASSWORD": self.password} if self.password else {})


@contextmanager
def running(
    folder: Path, password: str | None = None, port: int | None = None
) -> Iterator[RunningPostgres]:
    """A server for as long as the block lasts, and no longer than this process. It must be asked
    with a password if one is given. Its log lies in `folder`; what it stores in a temporary
    folder, because the user it runs as where we are root may not enter pytest's folders.

    port: a free one if not given.
    """
    if reason := missing():
        raise RuntimeError(reason)
    folder.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="evergreen-postgres-"))
    if owner := _as_owner():
        shutil.chown(home, owner["user"], owner["group"])
    with _guarded(home):
        log = folder / "postgres.log"
        _make_cluster(home, password)
        if port is None:
            postgres = _on_afree_port(home, log, password)
        else:
            postgres = RunningPostgres(home, log, port, password)
            postgres.start()
        try:
            yield postgres
        finally:
            postgres.stop()


@contextmanager
def _guarded(home: Path) -> Iterator[None]:
    """What runs in `home` ends and `home` goes with this block, also where this process is
    killed: then the kernel closes the guard's input."""
    guard = subprocess.Popen(
        ["sh", "-c", GUARD, _program("pg_ctl"), str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd="/", start_new_session=True,
        **_as_owner(),
    )  # fmt: skip
    assert guard.stdin
    try:
        yield
    finally:
        _end(guard, guard.stdin)


def _end(guard: subprocess.Popen[bytes], held: IO[bytes]) -> None:
    held.close()
    guard.wait()


def run_databases_script(
    postgres: RunningPostgres, given: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run deploy/databases.sh as Postgres's image does."""
    asked = {
        "PATH": os.pathsep.join([str(Path(_program("psql")).parent), os.environ["PATH"]]),
        "PGHOST": postgres.host,
        "PGPORT": str(postgres.port),
        "PGUSER": postgres.user,
        "PGPASSWORD": postgres.password or "",
        "PGDATA": str(postgres.home / "data"),
    }
    return subprocess.run(
        [ROOT / "deploy" / "databases.sh"], env={**asked, **given}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def _make_cluster(home: Path, password: str | None) -> None:
    # C: texts compare as bytes, on every machine alike.
    command = [_program("initdb"), "-D", str(home / "data"), "-U", SUPERUSER, "--no-sync",
               "--encoding=UTF8", "--locale=C"]  # fmt: skip
    if password is None:
        command.append("--auth=trust")
    else:
        # Not on standard input: another user may not open our pipe by its name.
        written = home / "password"
        written.write_text(password, "utf-8")
        command += ["--auth=scram-sha-256", f"--pwfile={written}"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=home, check=False, **_as_owner()
    )
    if done.returncode:
        raise RuntimeError(f"initdb: {done.stderr.strip()}")


def _on_afree_port(home: Path, log: Path, password: str | None) -> RunningPostgres:
    """Another process may take a port between our looking and the server's: then the next."""
    for left in reversed(range(PORTS_TRIED)):
        postgres = RunningPostgres(home, log, free_port(), password)
        try:
            postgres.start()
        except RuntimeError:
            if not left or "could not bind" not in log.read_text("utf-8", errors="replace"):
                raise
        else:
            return postgres
    raise AssertionError("unreachable")


def _as_owner() -> dict[str, Any]:
    """Arguments of Popen that make the process somebody else's where we are root."""
    if os.geteuid() != 0:
        return {}
    return {"user": OWNER, "group": OWNER, "extra_groups": ()}


def _program(name: str) -> str:
    folder = _programs()
    assert folder is not None
    return str(folder / name)


def _programs() -> Path | None:
    """Where the server's programs lie: Debian keeps them out of PATH, by version."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: int(path.parts[-3]) if path.parts[-3].isdigit() else 0,
    )
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port

"""Production without Docker: what docker-compose.yml starts, as processes of a test's own.

Environment and commands are the compose file's; only hosts, ports and folders are the test's.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests import patient
from tests.compose_file import ROOT, environment, services
from tests.rigs.postgres import RunningPostgres, free_port
from tests.waiting import until

PASSWORD = "p@ss/w:rd %25+#é"
"""Everything in it would have to be escaped in an address."""
AUTH = ("operator", "only:for-these-tests")
PASSWORDS = ("POSTGRES_PASSWORD", "SERVER_DATABASE_PASSWORD", "WORKER_DATABASE_PASSWORD")
GIVEN = {"PREFECT_SERVER_API_AUTH_STRING": ":".join(AUTH)} | dict.fromkeys(PASSWORDS, PASSWORD)
"""What a person has written into `.env`."""
WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
"""In front of a command: the process ends when this one is killed."""
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


@dataclass
class Running:
    """A process with all it starts, whose output is kept."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    health: str
    """The address that its health check in the compose file asks."""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def pid(self) -> int:
        assert self._process, "it does not run"
        return self._process.pid

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", errors="replace") if self.log.exists() else ""

    def start(self) -> None:
        """Start it and wait until it is healthy; it must not be running."""
        assert self._process is None, "it runs"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*WITH_US, *self.command], env=self.environment, cwd=self.log.parent,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        until(f"health of {self.command[0]}", self.is_healthy)

    def is_healthy(self) -> bool:
        """Whether it answers; fails once it has ended by itself."""
        assert self._process is not None
        if self._process.poll() is not None:
            pytest.fail(f"It ended with {self._process.returncode}:\n{self.said[-2000:]}")
        try:
            return httpx.get(self.health, timeout=10, trust_env=False).is_success
        except httpx.TransportError:
            return False

    def stop(self, seconds: float = 60) -> int | None:
        """End it as `docker stop` does: SIGTERM, after a while SIGKILL, and with it goes all that
        it has started. Its exit code; None where it had to be killed, or did not run."""
        if self._process is None:
            return None
        started = tree(self._process.pid)
        self._process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        code = self._process.returncode
        self._end(started)
        return code

    def kill(self) -> None:
        """End it and all it has started with SIGKILL, as when the machine fails."""
        if self._process is not None:
            self._end(tree(self._process.pid))

    def _end(self, processes: list[psutil.Process]) -> None:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, 30)
        assert self._process is not None
        self._process.wait()
        self._process = None


def tree(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    try:
        main = psutil.Process(pid)
        return [main, *main.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


@dataclass
class Production:
    """A Prefect server on Postgres, and the address of a warehouse that nothing has opened yet."""

    folder: Path
    postgres: RunningPostgres
    server: Running
    port: int
    warehouse: str

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def environment(self, **more: str) -> dict[str, str]:
        """What the compose file's worker has, and `more`."""
        named = environment("worker", GIVEN)
        ours = {
            "PREFECT_API_URL": self.api,
            "PREFECT_UI_URL": self.api.removesuffix("/api"),
            "EVERGREEN_WAREHOUSE": self.warehouse,
            "EVERGREEN_PREFECT_HOME": str(self.folder / "prefect"),
        }
        return clean_environment() | named | ours | more

    def evergreen(self, *arguments: str, **more: str) -> str:
        """Run the command to its end; what it said."""
        done = subprocess.run(
            [sys.executable, "-m", "flows", *arguments], env=self.environment(**more), cwd=ROOT,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def worker(self, name: str = "worker", *options: str, **more: str) -> Running:
        """What runs the flows, by the compose file's command; not started yet."""
        program, *arguments = services(GIVEN)["worker"]["command"]
        port = str(free_port())
        health = {
            "PREFECT_RUNNER_SERVER_ENABLE": "true",  # as the Dockerfile says
            "PREFECT_RUNNER_SERVER_PORT": port,
        }
        return Running(
            [str(Path(sys.executable).with_name(program)), *arguments, *options],
            self.environment(**health, **more),
            self.folder / name / "log",
            health=f"http://localhost:{port}/health",
        )

    def post(self, path: str, **body: Any) -> Any:
        """Ask the API; a server that is busy is asked again."""

        def said() -> list[Any] | None:
            answer = patient.post(f"{self.api}{path}", json=body, auth=AUTH, trust_env=False)
            assert answer.is_success or answer.status_code >= 500, answer.text
            return [answer.json()] if answer.is_success else None

        return until(f"answer from {path}", said)[0]

    def deployment(self, flow: str) -> dict[str, Any]:
        """The deployment of a flow, once it is registered."""
        asked: dict[str, Any] = {"flows": {"name": {"any_": [flow]}}}
        found: list[dict[str, Any]] = until(
            f"deployment of {flow}", lambda: self.post("/deployments/filter", **asked)
        )
        return found[0]

    def run(self, flow: str, **parameters: Any) -> str:
        """Start a run of a deployment; its id."""
        deployment = self.deployment(flow)["id"]
        made = self.post(f"/deployments/{deployment}/create_flow_run", parameters=parameters)
        return str(made["id"])

    def flow_run(self, run: str) -> dict[str, Any]:
        """What the server knows of a run."""
        [found] = self.post("/flow_runs/filter", flow_runs={"id": {"any_": [run]}})
        known: dict[str, Any] = found
        return known

    def ended(self, run: str, *, resumed: bool = False) -> tuple[str, str]:
        """Name and message of a run's last state, once it has ended. resumed: it may crash before,
        since it is begun again then."""
        final = [name for name in ENDED if not (resumed and name == "CRASHED")]

        def state() -> tuple[str, str] | None:
            found = self.flow_run(run)["state"]
            return (found["name"], found["message"]) if found["type"] in final else None

        return until("end of the run", state)

    def states(self, run: str) -> list[str]:
        """The names of a run's states, in order."""
        answer = patient.get(
            f"{self.api}/flow_run_states/", params={"flow_run_id": run}, auth=AUTH,
            trust_env=False,
        )  # fmt: skip
        answer.raise_for_status()
        found = sorted(answer.json(), key=lambda state: str(state["timestamp"]))
        return [str(state["name"]) for state in found]

    def artifacts(self, run: str) -> dict[str, Any]:
        """What a run and its subflows have left, by key."""
        ids = [run]
        level = ids
        while level:
            children = self.post(
                "/flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": level}}
            )
            level = [str(child["id"]) for child in children]
            ids = ids + level
        found = self.post("/artifacts/filter", artifacts={"flow_run_id": {"any_": ids}})
        return {str(each["key"]): each for each in found}


@contextmanager
def production(folder: Path, postgres: RunningPostgres, **settings: str) -> Iterator[Production]:
    """A Prefect server that answers, on a database of its own. settings: more of its environment.

    The warehouse is a lake, as in the compose file.
    """
    suffix = folder.name.replace("-", "_").lower()
    prefect, lake = f"prefect_{suffix}", f"evergreen_{suffix}"
    postgres.create(prefect)
    files = folder / "files"
    files.mkdir(parents=True)
    warehouse = f"ducklake:postgres:{postgres.create(lake)}?files={files}"
    port = free_port()
    server = Running(
        _server_command(port),
        clean_environment() | _server_environment(folder, postgres, prefect, port) | settings,
        folder / "server" / "log",
        health=f"http://127.0.0.1:{port}/api/ready",
    )
    made = Production(folder, postgres, server, port, warehouse)
    try:
        server.start()
        yield made
    finally:
        server.kill()


@contextmanager
def started(process: Running) -> Iterator[Running]:
    """The process for as long as the block lasts."""
    try:
        process.start()
        yield process
    finally:
        process.stop()


def clean_environment() -> dict[str, str]:
    """Ours without what the tests have set for themselves."""
    theirs = ("PREFECT_", "EVERGREEN_", "PG")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    return ours | {"PYTHONUNBUFFERED": "1", "NO_PROXY": "127.0.0.1,localhost"}


def _server_command(port: int) -> list[str]:
    program, *arguments = services(GIVEN)["server"]["command"]
    changed = {"--listen": "127.0.0.1", "--port": str(port)}
    for place, argument in enumerate(arguments[:-1]):
        if argument in changed:
            arguments[place + 1] = changed.pop(argument)
    assert not changed, "the server's command names address and port"
    return [str(Path(sys.executable).with_name(program)), *arguments]


def _server_environment(
    folder: Path, postgres: RunningPostgres, database: str, port: int
) -> dict[str, str]:
    address = f"http://127.0.0.1:{port}"
    home = folder / "server" / "home"
    return environment("server", GIVEN | {"PREFECT_UI_URL": address}) | {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "ui"),
        "PREFECT_SERVER_DATABASE_HOST": postgres.host,
        "PREFECT_SERVER_DATABASE_PORT": str(postgres.port),
        "PREFECT_SERVER_DATABASE_USER": postgres.user,
        "PREFECT_SERVER_DATABASE_NAME": database,
    }

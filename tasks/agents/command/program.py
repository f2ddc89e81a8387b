"""How a program is started: what its supervisor reads in `job.json`, and what it does about it."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tasks.agents.isolation.bubblewrap import wrap
from tasks.agents.isolation.plan import IsolationPlan
from tasks.agents.isolation.relay import ConnectAnswerer, SandboxRelay

ROOT = Path(__file__).resolve().parents[3]
"""The folder of `tasks`, where supervisor and launcher start."""
SANDBOX_TOKEN = "JOB_TOKEN"
"""The variable by which the supervisor gets the job's token for the sandbox server."""
ANSWER_SECONDS = 10.0
"""How long the reaper may take to start, or to end all others."""
REMOVAL_SECONDS = 30.0
"""How long an engine may take to remove a container."""
MAX_FILE_BYTES = 4 * 1024**3
"""The largest file that a program may write."""


@dataclass(frozen=True)
class ProgramSpec:
    """The contents of `job.json`: how to run the program. Secrets come with our environment."""

    command: tuple[str, ...]
    """The program's absolute path and its arguments."""
    environment: dict[str, str]
    """Variables that are not secret."""
    inherited: tuple[str, ...]
    """Names of variables to pass on; their values are secret."""
    output: str | None
    """The file in its folder that holds the report; None for standard output."""
    memory_mb: int
    seconds: float
    """Time limit."""
    grace_seconds: float
    """Time between SIGTERM and SIGKILL."""
    isolation: str
    """The rendered IsolationPlan; empty: none."""
    sandbox: str | None
    """The URL of our sandbox server, if the program may reach it."""
    container: str | None
    """The name of its container, which the command's engine runs; None: it runs on this machine."""

    def describe_isolation(self) -> str | None:
        """Name what holds the program, for people; None if nothing does."""
        if self.container:
            return "a container"
        return IsolationPlan.parse(self.isolation).describe() if self.isolation else None


def write_spec(folder: Path, spec: ProgramSpec) -> None:
    (folder / "job.json").write_text(json.dumps(asdict(spec)), "utf-8")


def read_spec(folder: Path) -> ProgramSpec:
    given = json.loads((folder / "job.json").read_text("utf-8"))
    return ProgramSpec(**given | {name: tuple(given[name]) for name in ("command", "inherited")})


class Reaper:
    """The process that ends all others of an isolated program; the launcher starts it."""

    def __init__(self, life: socket.socket) -> None:
        """life: closed at the other end where the launcher started none."""
        self._life = life
        life.settimeout(ANSWER_SECONDS)
        self.pid = int(life.recv(20) or b"0")
        """0: there is none."""

    def end_all(self) -> None:
        """End every process of the program; return when it is done."""
        with self._life, suppress(OSError):
            self._life.shutdown(socket.SHUT_WR)
            while self._life.recv(1):
                pass


def start_program(
    folder: Path, spec: ProgramSpec, token: str | None
) -> tuple[subprocess.Popen[bytes], Reaper]:
    """Start the program of a job; it runs once this returns.

    token: the job's, for the sandbox server.

    Raises:
        OSError: it cannot be isolated or executed.
    """
    inherited = {name: os.environ[name] for name in spec.inherited}
    relay = SandboxRelay(spec.sandbox, token) if spec.sandbox else None
    address = {"EVERGREEN_SANDBOX": relay.address} if relay else {}
    ours, theirs = socket.socketpair()
    life, its_life = socket.socketpair()
    reading, writing = os.pipe()
    with (folder / "prompt.md").open("rb") as prompt, ours, theirs:
        given = (writing, theirs.fileno() if relay else -1, its_life.fileno())
        process = subprocess.Popen(
            _build_command(spec, *given),
            stdin=prompt,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=spec.environment | inherited | address,
            process_group=0,
            pass_fds=[descriptor for descriptor in given if descriptor >= 0],
        )
        os.close(writing)
        theirs.close()
        its_life.close()
        if relay:  # wait until the program is isolated, then let its connections reach the relay
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
            if descriptors:  # none: the launcher failed
                relay.start()
                ConnectAnswerer(descriptors[0], relay).start()
        with os.fdopen(reading, "rb") as status:
            problem = status.read().decode()
    reaper = Reaper(life)
    if problem:
        reaper.end_all()
        process.communicate()
        raise OSError(problem)
    return process, reaper


def remove_container(engine: str, container: str) -> None:
    """Stop and remove a container, if it is still there and the engine answers."""
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [engine, "rm", "--force", container],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=REMOVAL_SECONDS, check=False,
        )  # fmt: skip


def _build_command(spec: ProgramSpec, status: int, channel: int, life: int) -> list[str]:
    """Return the launcher's command line. status, channel, life: its file descriptors."""
    limits = {"CORE": 0, "FSIZE": MAX_FILE_BYTES}
    if spec.container is None:  # the engine keeps the container's memory
        limits["AS"] = spec.memory_mb * 2**20
    launcher = [
        sys.executable, "-m", "tasks.agents.isolation.launcher", spec.isolation,
        json.dumps(limits), str(status), str(channel), str(life), "--", *spec.command,
    ]  # fmt: skip
    plan = IsolationPlan.parse(spec.isolation) if spec.isolation else None
    return wrap(launcher, plan, str(ROOT)) if plan and plan.bubblewrap else launcher

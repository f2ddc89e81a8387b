"""A client of a program on this machine: the prompt on standard input, the report on its output.

The program of one report is a job that outlives this process: its own supervisor (`supervisor`)
starts it, ends it at the limit, and records the result. Its folder is named after the job, so
**starting the same job twice starts it once**: a caller that was killed between starting a program
and recording that may simply start it again.

The program runs in its own folder, isolated (`isolation.py`), with a clean environment: PATH, HOME,
TMPDIR, LANG, EVERGREEN_ASSIGNMENT (a JSON file with the assignment), EVERGREEN_CACHE (a folder for
what it wants to keep; `shared_cache` has all its jobs share one), EVERGREEN_ARCHIVE if its entry
sets `archive` (a read-only folder that its programs share, with a `pages.parquet` of the edition's
pages without those that any assignment bans), EVERGREEN_SANDBOX if it sets `network: sandbox` (our
search server, through a relay), and the variables that its entry names.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from filelock import Timeout

from tasks.agents.agent import Gone, JobRequest, JobStatus
from tasks.agents.command.answer import MAX_STDERR_CHARS, ProgramExit, ProgramResult, read
from tasks.agents.command.capture import write_atomically
from tasks.agents.command.isolation import (
    JobPlace,
    build_run,
    describe_isolation,
    find_engine,
    plan_isolation,
)
from tasks.agents.command.program import ROOT, SANDBOX_TOKEN, ProgramSpec, write_spec
from tasks.agents.command.settings import CommandAsk
from tasks.agents.command.supervisor import kill_leftovers
from tasks.agents.isolation.plan import IsolationPlan
from tasks.agents.kind import AgentFolders, AgentKind
from tasks.agents.wire.http import CONFIGURED_IN
from tasks.agents.wire.report_form import assignment_payload
from tasks.configuration.folders import CONFIGS, CONFIGS_VARIABLE
from tasks.files.locks import hold_lock
from tasks.models.errors import Misconfigured, TransientError

START_SECONDS = 60
"""Time limit for a supervisor to start; it takes a fraction of a second."""
GRACE_SECONDS = 5.0
MAX_NAME_CHARS = 120
"""Characters; file systems take 255 bytes."""


class CommandClient:
    """A client of one program, which is run once for each assignment."""

    def __init__(
        self,
        agent: str,
        ask: CommandAsk,
        folders: AgentFolders,
        *,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        """grace_seconds: between terminating a program and killing it."""
        self._agent = agent
        self._ask = ask
        self._folders = folders
        self._jobs = folders.work / safe_file_name(agent)
        self._grace_seconds = grace_seconds
        self._folder_lock = threading.Lock()
        """Two threads may start the same job; one at a time writes its files."""

    async def start(self, request: JobRequest) -> JobStatus:
        """Start the job's program, unless it was started before.

        Raises:
            Misconfigured: the program cannot be run; nothing was started.
            TransientError: the supervisor did not start.
        """
        return await asyncio.to_thread(self._start, request)

    async def poll(self, remote_id: str) -> JobStatus:
        return await asyncio.to_thread(self._poll, remote_id)

    async def check(self) -> str:
        """Describe what would be run, without running it: its cost is unknown."""
        command, names = self._resolve_command(), self._ask.environment
        self._read_secrets()
        findings = [f"{command[0]} exists and can be run"]
        if names:
            findings.append(f"it will see {', '.join(names)}")
        if self._ask.archive:
            self._find_archive()
            findings.append("it will read the archived pages that no assignment bans")
        plan = self._plan_isolation(self._jobs, command)
        findings.append(describe_isolation(plan, self._ask.image))
        limits = f"{self._ask.limits.deadline_minutes:g} minutes and {self._ask.memory_mb} MB"
        return "; ".join([*findings, f"it gets {limits}. It was not run."])

    async def close(self) -> None:
        """Do nothing: no connection is open, and programs keep running."""

    def _start(self, request: JobRequest) -> JobStatus:
        folder = self._folder(request.job)
        if not (folder / "begun").exists():
            command, secrets = self._resolve_command(), self._read_secrets()
            try:
                with self._folder_lock:
                    self._write_folder(folder, request, command)
                if request.sandbox:
                    secrets[SANDBOX_TOKEN] = request.sandbox.token
                self._start_supervisor(folder, secrets)
            except OSError as error:
                raise Misconfigured(
                    f"{self._agent}: its program could not be started in {folder} ({error}). "
                    "Nothing was run; free some space or fix the permissions, then run again."
                ) from None
        return JobStatus(remote_id=request.job, remote_state="running", ended=False)

    def _poll(self, job: str) -> JobStatus:
        folder = self._folder(job)
        if not (folder / "begun").exists():
            raise Gone(f"{folder} does not exist, or its program was never started")
        raw = _read_text(folder / "ended.json")
        if raw is None and _is_locked(folder / "lock"):
            return JobStatus(remote_id=job, remote_state="running", ended=False)
        raw = raw or _read_text(folder / "ended.json")  # it may have ended in the meantime
        if raw is None:
            kill_leftovers(folder)
            raw = _describe_killed(folder)
        return JobStatus(remote_id=job, remote_state="ended", ended=True, raw=raw)

    def _folder(self, job: str) -> Path:
        return (self._jobs / safe_file_name(job)).absolute()

    def _resolve_command(self) -> tuple[str, ...]:
        """Return the path of the program, or of the engine that runs its image, and its arguments;
        relative paths start here."""
        if self._ask.image:
            return find_engine(self._agent), *self._ask.command
        program, *arguments = (
            part.replace("{python}", sys.executable) for part in self._ask.command
        )
        # Links are not resolved: an interpreter finds its environment by the link's path.
        found = shutil.which(str(Path(program).absolute()) if "/" in program else program)
        if found is None:
            raise Misconfigured(
                f"{self._agent}: {program} is not found, or is not executable. Install it, or "
                f"correct `command` in {CONFIGURED_IN} (its first word is a program on your PATH, "
                "or a path)."
            )
        for part in arguments:
            if part.endswith(".py") and not Path(part).is_absolute() and Path(part).is_file():
                raise Misconfigured(
                    f"{self._agent}: {part} in `command` is a relative path, but the program runs "
                    f"in a folder of its own. Write {Path(part).absolute()} in {CONFIGURED_IN}."
                )
        output = self._ask.output
        if output is not None and (Path(output).is_absolute() or ".." in Path(output).parts):
            raise Misconfigured(
                f"{self._agent}: `output` in {CONFIGURED_IN} must be a file in the program's own "
                f"folder, such as `report.md`; it is {output!r}."
            )
        return str(Path(found).absolute()), *arguments

    def _read_secrets(self) -> dict[str, str]:
        missing = [name for name in self._ask.environment if not os.environ.get(name)]
        if missing:
            raise Misconfigured(
                f"{self._agent}: its program needs {', '.join(missing)}, which is not set. Export "
                f"it, or remove it from `environment` in {CONFIGURED_IN}."
            )
        return {name: os.environ[name] for name in self._ask.environment}

    def _find_archive(self) -> Path:
        archive = self._folders.archive
        if archive is None or not (archive / "pages.parquet").is_file():
            raise Misconfigured(
                f"{self._agent}: its entry in {CONFIGURED_IN} sets `archive`, but no pages have "
                "been exported yet. Import or evaluate an edition first."
            )
        return archive.absolute()

    def _find_cache(self, folder: Path) -> Path:
        """The folder that is EVERGREEN_CACHE. folder: the job's."""
        if not self._ask.shared_cache:
            return folder / "cache"
        return (self._folders.work / ".cache" / self._jobs.name).absolute()

    def _plan_isolation(self, folder: Path, command: tuple[str, ...]) -> IsolationPlan | None:
        """Plan a job's isolation; None if its entry wants none, or an image. folder: the job's."""
        if self._ask.isolation == "none" or self._ask.image:
            return None
        return plan_isolation(self._agent, self._ask, command[0], self._find_place(folder))

    def _find_place(self, folder: Path) -> JobPlace:
        return JobPlace(
            folder=folder,
            cache=self._find_cache(folder),
            archive=self._find_archive() if self._ask.archive else None,
            private=self._folders.private,
        )

    def _write_folder(self, folder: Path, request: JobRequest, command: tuple[str, ...]) -> None:
        """Write the job's folder, readable only by this user. Writing it again changes nothing."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        assert self._ask.network != "sandbox" or request.sandbox, "no access was granted"
        plan, cache = self._plan_isolation(folder, command), self._find_cache(folder)
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "program" / "tmp").mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "prompt.md", _render_prompt(request))
        payload = json.dumps(assignment_payload(request), ensure_ascii=False)
        write_atomically(folder / "assignment.json", payload)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder / "program"),
            "TMPDIR": str(folder / "program" / "tmp"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "EVERGREEN_ASSIGNMENT": str(folder / "assignment.json"),
            "EVERGREEN_CACHE": str(cache),
        }
        if self._ask.archive:
            environment["EVERGREEN_ARCHIVE"] = str(self._find_archive())
        if own := CONFIGS.render():
            environment[CONFIGS_VARIABLE] = own
        container = f"evergreen-{sha256(str(folder).encode()).hexdigest()[:24]}"
        if self._ask.image:
            place = self._find_place(folder)
            command = build_run(command[0], self._ask, place, container, environment)
        spec = ProgramSpec(
            command=command,
            environment=environment,
            inherited=self._ask.environment,
            output=self._ask.output,
            memory_mb=self._ask.memory_mb,
            seconds=self._ask.limits.deadline_minutes * 60,
            grace_seconds=self._grace_seconds,
            isolation=plan.render() if plan else "",
            sandbox=request.sandbox.url if request.sandbox else None,
            container=container if self._ask.image else None,
        )
        write_spec(folder, spec)

    def _start_supervisor(self, folder: Path, secrets: dict[str, str]) -> None:
        """Start the supervisor, which keeps running however this process ends."""
        kept = {
            name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ
        }
        log = folder / "supervisor.log"
        with log.open("ab") as errors, suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, "-m", "tasks.agents.command.supervisor", str(folder)],
                cwd=ROOT,
                env=kept | {"LANG": "C.UTF-8"} | secrets,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                timeout=START_SECONDS,
                check=False,
            )
        if not (folder / "begun").exists():
            last = log.read_text("utf-8", "replace").strip()[-MAX_STDERR_CHARS:]
            raise TransientError(f"the program's supervisor did not start: {last}", "server")


def safe_file_name(name: str) -> str:
    """Turn a name into one part of a path, different for different names."""
    safe = quote(name, safe=" ").replace(".", "%2E", name.startswith("."))
    if len(safe) <= MAX_NAME_CHARS:
        return safe
    return f"{safe[: MAX_NAME_CHARS - 33]}-{sha256(name.encode()).hexdigest()[:32]}"


def _render_prompt(request: JobRequest) -> str:
    """Return the text that the program reads: the conversation so far and the prompt."""
    history = [
        message.text if message.role == "user" else "You asked:\n\n" + message.text
        for message in request.history
    ]
    return "\n\n".join([*history, request.prompt])


def _is_locked(lock: Path) -> bool:
    """Whether the supervisor is alive: the system releases the lock of one that was killed."""
    try:
        with hold_lock(lock, timeout=0):
            return False
    except Timeout:
        return True


def _describe_killed(folder: Path) -> str:
    """Return the raw answer of a job whose supervisor was killed, with its output so far."""
    result = ProgramResult(
        exit=ProgramExit(reason="died"),
        report=_read_text(folder / "stdout"),
        stderr_tail=(_read_text(folder / "stderr") or "")[-MAX_STDERR_CHARS:],
    )
    return result.model_dump_json()


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


KIND = AgentKind(CommandAsk, CommandClient, read, runs_here=True, starts_once=True)

"""A program on this machine: the prompt on its standard input, the report on its output.

The program of one report is a job that survives us: a supervisor of its own (`supervise`) starts
it, ends it at the limit, and writes down what it brought. Its folder is found again by the job's
name, so **starting the same job twice starts it once**: whoever was killed between starting a
program and writing that down may simply start it again.

The program runs in a folder of its own with a clean environment: PATH, HOME, TMPDIR, LANG,
EVERGREEN_ASSIGNMENT (a JSON file: what is asked), EVERGREEN_CACHE (a folder that the agent's
programs share), EVERGREEN_ARCHIVE where its entry says `archive` (a folder with the edition's
`pages.parquet`, and nothing else of it), and the variables its entry names.
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

from filelock import FileLock, Timeout

from tasks.agents.agent import Gone, Question, Seen
from tasks.agents.command.answer import SAID, Ended, Exit, read
from tasks.agents.command.supervise import Work, end_what_is_left, write_work
from tasks.agents.given import told
from tasks.agents.http import CONFIGURED_IN
from tasks.agents.kinds import Place
from tasks.configuration.agents import CommandAsk
from tasks.models.errors import Misconfigured, Transient

__all__ = ["open_client", "read"]

ROOT = Path(__file__).resolve().parents[3]
"""Where `tasks` lies, so that the supervisor finds it wherever it is started."""
START_SECONDS = 60
"""For a supervisor to take its job in hand; it takes a fraction of a second."""
GRACE_SECONDS = 5.0
MAX_NAME = 120
"""Characters; file systems take 255 bytes."""


def open_client(agent: str, ask: CommandAsk, key: str | None, place: Place) -> "CommandClient":
    return CommandClient(agent, ask, place)


class CommandClient:
    """One program, an assignment at a time each."""

    def __init__(
        self, agent: str, ask: CommandAsk, place: Place, *, grace_seconds: float = GRACE_SECONDS
    ) -> None:
        """grace_seconds: between asking a program to end and ending it."""
        self._agent = agent
        self._ask = ask
        self._archive = place.archive
        self._jobs = place.work / file_name(agent)
        self._cache = place.work / ".cache" / file_name(agent)
        self._grace_seconds = grace_seconds
        self._laying_out = threading.Lock()
        """The same job may be started from two threads; its files are written by one at a time."""

    async def start(self, question: Question) -> Seen:
        """Start the job's program, or find the one that was started for the same job.

        Raises:
            Misconfigured: it cannot be run; nothing was started.
            Transient: it did not come to be started.
        """
        return await asyncio.to_thread(self._start, question)

    async def look(self, remote_id: str) -> Seen:
        return await asyncio.to_thread(self._look, remote_id)

    async def check(self) -> str:
        """What would be run, without running it: nobody knows what it would cost."""
        command, names = self._command(), self._ask.environment
        self._secrets()
        said = [f"{command[0]} is there and can be run"]
        if names:
            said.append(f"it will see {', '.join(names)}")
        if self._ask.archive:
            pages = self._pages()
            said.append(f"it will read {pages} ({pages.stat().st_size / 2**20:.0f} MB)")
        limits = f"{self._ask.limits.deadline_minutes:g} minutes and {self._ask.memory_mb} MB"
        return "; ".join([*said, f"it gets {limits}. It was not run."])

    async def close(self) -> None:
        """Nothing is open; its programs go on."""

    def _start(self, question: Question) -> Seen:
        folder = self._folder(question.job)
        if not (folder / "begun").exists():
            command, secrets = self._command(), self._secrets()
            try:
                with self._laying_out:
                    self._lay_out(folder, question, command)
                self._supervise(folder, secrets)
            except OSError as error:
                raise Misconfigured(
                    f"{self._agent}: its program could not be started in {folder} ({error}). "
                    "Nothing was run; free some space or fix the permissions, then run again."
                ) from None
        return Seen(remote_id=question.job, word="running", ended=False)

    def _look(self, job: str) -> Seen:
        folder = self._folder(job)
        if not (folder / "begun").exists():
            raise Gone(f"{folder} is not there, or its program was never started")
        raw = _text(folder / "ended.json")
        if raw is None and _held(folder / "lock"):
            return Seen(remote_id=job, word="running", ended=False)
        raw = raw or _text(folder / "ended.json")  # it may have ended between the two looks
        if raw is None:
            end_what_is_left(folder)
            raw = _died(folder)
        return Seen(remote_id=job, word="ended", ended=True, raw=raw)

    def _folder(self, job: str) -> Path:
        return (self._jobs / file_name(job)).absolute()

    def _command(self) -> tuple[str, ...]:
        """The program's path and its arguments; a relative path is taken from here."""
        program, *arguments = (part.replace("{python}", sys.executable)
                               for part in self._ask.command)  # fmt: skip
        # Not resolved: an interpreter knows its environment by the link it is started as.
        found = shutil.which(str(Path(program).absolute()) if "/" in program else program)
        if found is None:
            raise Misconfigured(
                f"{self._agent}: {program} is not found, or is not executable. Install it, or "
                f"correct `command` in {CONFIGURED_IN} (its first word is a program on your PATH, "
                "or a path)."
            )
        output = self._ask.output
        if output is not None and (Path(output).is_absolute() or ".." in Path(output).parts):
            raise Misconfigured(
                f"{self._agent}: `output` in {CONFIGURED_IN} must be a file in the program's own "
                f"folder, as `report.md`; it is {output!r}."
            )
        return str(Path(found).absolute()), *arguments

    def _secrets(self) -> dict[str, str]:
        missing = [name for name in self._ask.environment if not os.environ.get(name)]
        if missing:
            raise Misconfigured(
                f"{self._agent}: its program wants {', '.join(missing)}, which is not set. Export "
                f"it, or take it out of `environment` in {CONFIGURED_IN}."
            )
        return {name: os.environ[name] for name in self._ask.environment}

    def _pages(self) -> Path:
        pages = self._archive and self._archive / "pages.parquet"
        if pages is None or not pages.is_file():
            raise Misconfigured(
                f"{self._agent}: its entry in {CONFIGURED_IN} says `archive`, but no pages have "
                "been exported yet. Import or evaluate an edition first."
            )
        return pages

    def _lay_out(self, folder: Path, question: Question, command: tuple[str, ...]) -> None:
        """The job's folder, readable for us alone; writing it again changes nothing."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "program" / "tmp").mkdir(parents=True, exist_ok=True)
        _put(folder / "prompt.md", _said(question))
        _put(folder / "assignment.json", json.dumps(told(question), ensure_ascii=False))
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder / "program"),
            "TMPDIR": str(folder / "program" / "tmp"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "EVERGREEN_ASSIGNMENT": str(folder / "assignment.json"),
            "EVERGREEN_CACHE": str(self._cache.absolute()),
        }
        if self._ask.archive:
            environment["EVERGREEN_ARCHIVE"] = str(folder / "archive")
            (folder / "archive").mkdir(exist_ok=True)
            _same_file(self._pages(), folder / "archive" / "pages.parquet")
        work = Work(
            command=command,
            environment=environment,
            inherited=self._ask.environment,
            output=self._ask.output,
            memory_mb=self._ask.memory_mb,
            seconds=self._ask.limits.deadline_minutes * 60,
            grace_seconds=self._grace_seconds,
        )
        write_work(folder, work)

    def _supervise(self, folder: Path, secrets: dict[str, str]) -> None:
        """Start what watches the program; it goes on when we end, however we end."""
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH")
                if name in os.environ}  # fmt: skip
        log = folder / "supervisor.log"
        with log.open("ab") as said, suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, "-m", "tasks.agents.command.supervise", str(folder)],
                cwd=ROOT,
                env=kept | {"LANG": "C.UTF-8"} | secrets,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                timeout=START_SECONDS,
                check=False,
            )
        if not (folder / "begun").exists():
            last = log.read_text("utf-8", "replace").strip()[-SAID:]
            raise Transient(f"the program's supervisor did not start: {last}", "server")


def file_name(name: str) -> str:
    """A name as one part of a path, different for different names."""
    safe = quote(name, safe=" ").replace(".", "%2E", name.startswith("."))
    if len(safe) <= MAX_NAME:
        return safe
    return f"{safe[: MAX_NAME - 33]}-{sha256(name.encode()).hexdigest()[:32]}"


def _said(question: Question) -> str:
    """What the program reads: the prompt; before a reply to its question also what led to it."""
    turns = [
        turn.text if turn.role == "user" else "You asked:\n\n" + turn.text
        for turn in question.earlier
    ]
    return "\n\n".join([*turns, question.prompt])


def _held(lock: Path) -> bool:
    """Whether a supervisor lives: the system frees the lock of one that was killed."""
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True


def _died(folder: Path) -> str:
    """The raw answer of a job whose supervisor was killed, with what there is of its output."""
    ended = Ended(
        exit=Exit(reason="died"),
        report=_text(folder / "stdout"),
        stderr_tail=(_text(folder / "stderr") or "")[-SAID:],
    )
    return ended.model_dump_json()


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def _put(path: Path, text: str) -> None:
    """Write a file whole or not at all: a supervisor may be reading it."""
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    fresh.write_text(text, "utf-8", "replace")
    fresh.replace(path)


def _same_file(original: Path, name: Path) -> None:
    """The same file under another name, which outlives the snapshot it is of."""
    name.unlink(missing_ok=True)
    try:
        name.hardlink_to(original)
    except OSError:  # on another disk
        shutil.copyfile(original, name)

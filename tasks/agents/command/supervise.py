"""Watches one program that writes one report: `python -m tasks.agents.command.supervise FOLDER`.

A process of its own, so that a report goes on being written when whoever asked for it is killed.
While it lives it holds the lock in the job's folder; what the program brought stands in
`ended.json` when it is over. It imports nothing of the project but its neighbour: many of them
must be cheap.

The folder: `job.json` (how to run it), `prompt.md`, `assignment.json`, `lock`, `begun` (made
before the program is started, so that none is ever started twice), `stdout`, `stderr`,
`program/` (the program's own folder) and `ended.json`.
"""

import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

import psutil
from filelock import FileLock, Timeout

from tasks.agents.command.captured import (
    MAX_REPORT_BYTES,
    Captured,
    Unusable,
    as_text,
    file_in,
    given_secrets,
    without_secrets,
)

ANSWER_FILE = "answer.json"
"""What a program may leave in its folder: its sources, trace, usage (see `given.py`)."""
MAX_FILE_BYTES = 4 * 1024**3
"""Of any file that a program writes."""
CHECK_SECONDS = 0.1
LAST_SECONDS = 10.0
"""For killed processes to be gone; one that the kernel does not let go is left to it."""
_SAYS_MEMORY = (b"MemoryError", b"bad_alloc", b"annot allocate memory", b"ut of memory")
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Work:
    """`job.json`: how the program is run. No secrets: those come with our own environment."""

    command: tuple[str, ...]
    """The program's absolute path, and its arguments."""
    environment: dict[str, str]
    """What it is given of variables that anybody may read."""
    inherited: tuple[str, ...]
    """Names of variables whose values it gets from us; they are never shown."""
    output: str | None
    """The file in its folder that holds the report; None: its standard output."""
    memory_mb: int
    seconds: float
    """Then it is ended."""
    grace_seconds: float
    """Between asking it to end and ending it."""


def write_work(folder: Path, work: Work) -> None:
    (folder / "job.json").write_text(json.dumps(asdict(work)), "utf-8")


def read_work(folder: Path) -> Work:
    given = json.loads((folder / "job.json").read_text("utf-8"))
    return Work(**given | {name: tuple(given[name]) for name in ("command", "inherited")})


def main(folder: Path) -> int:
    """Leave a process behind that watches the program; 0 when somebody has the job in hand."""
    work = read_work(folder)
    reading, writing = os.pipe()
    if os.fork():  # what was started ends, so that nobody has to wait for what watches
        os.close(writing)
        return 0 if os.read(reading, 1) else 1
    os.close(reading)
    try:
        with FileLock(folder / "lock", timeout=0):
            # There already: it has ended, or its supervisor was killed. Never a second time.
            (folder / "begun").touch(exist_ok=False)
            _tell(writing)
            _Watch(folder, work).run()
    except (Timeout, FileExistsError):
        _tell(writing)
    return 0


def end_what_is_left(folder: Path) -> None:
    """Kill the processes of a job whose supervisor was killed.

    They are known by their environment: their numbers may belong to others by now.
    """
    ours = str(folder / "assignment.json")
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("EVERGREEN_ASSIGNMENT") == ours:
                process.kill()


class _Watch:
    """One program, from its start to `ended.json`."""

    def __init__(self, folder: Path, work: Work) -> None:
        self._folder = folder
        self._home = folder / "program"
        self._work = work
        self._secrets = given_secrets({name: os.environ[name] for name in work.inherited})
        self._stopped = False
        self._libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if self._libc:  # what the program leaves behind becomes ours, wherever it went
            self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        began = time.monotonic()
        with (
            Captured.to(self._folder / "stdout", self._secrets) as stdout,
            Captured.to(self._folder / "stderr", self._secrets) as stderr,
        ):
            try:
                process = self._start()
            except OSError as error:
                reason, code = f"could not be started: {error.strerror or error}", None
            else:
                reason = self._watch(process, (stdout, stderr), began + self._work.seconds)
                code = process.returncode
            stdout.finish()
            stderr.finish()
        ended = _exit(reason, code, stderr.tail, time.monotonic() - began, self._work)
        _keep(self._folder / "ended.json", {"exit": ended, **self._brought(stdout, stderr)})

    def _start(self) -> subprocess.Popen[bytes]:
        inherited = {name: os.environ[name] for name in self._work.inherited}
        with (self._folder / "prompt.md").open("rb") as prompt:
            return subprocess.Popen(
                self._work.command,
                stdin=prompt,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._home,
                env=self._work.environment | inherited,
                process_group=0,
                preexec_fn=self._limit,  # noqa: PLW1509 (this process has no threads)
            )

    def _limit(self) -> None:
        memory = self._work.memory_mb * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
        if self._libc:  # when the supervisor is killed the program ends with it
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def _watch(
        self, process: subprocess.Popen[bytes], captured: Sequence[Captured], until: float
    ) -> str:
        """Take in what it writes until it has ended or has to; why it ended."""
        reason = "exit"
        with selectors.DefaultSelector() as selector:
            for pipe, into in zip((process.stdout, process.stderr), captured, strict=True):
                assert pipe is not None
                selector.register(pipe.fileno(), selectors.EVENT_READ, into)
            while process.poll() is None:
                if self._stopped or time.monotonic() >= until:
                    reason = "stopped" if self._stopped else "timeout"
                    break
                _take_in(selector, CHECK_SECONDS)
            self._end_all(selector)
            process.wait()
            while _take_in(selector, 0):
                pass
        with suppress(ChildProcessError):  # those adopted: their memory is counted with the rest
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        return reason

    def _end_all(self, selector: selectors.BaseSelector) -> None:
        """End the program and whatever it left behind: ask first, then do."""
        for each in _below():
            with suppress(psutil.Error):
                each.terminate()
        asked = time.monotonic()
        while _below() and time.monotonic() < asked + self._work.grace_seconds:
            _take_in(selector, CHECK_SECONDS)
        began = time.monotonic()
        while (left := _below()) and time.monotonic() < began + LAST_SECONDS:
            for each in left:
                with suppress(psutil.Error):
                    each.kill()
            _take_in(selector, CHECK_SECONDS)

    def _brought(self, stdout: Captured, stderr: Captured) -> dict[str, str | None]:
        """The report and what the program says of it, as text; what is wrong with them."""
        problems = []
        given = report = None
        try:
            given = self._text(file_in(self._home, ANSWER_FILE), ANSWER_FILE)
        except Unusable as error:
            problems.append(str(error))
        try:
            report = self._report(stdout)
        except Unusable as error:
            problems.append(str(error))
        tail = stderr.tail.decode("utf-8", "replace")
        problem = "; ".join(problems) or None
        return {"report": report, "given": given, "problem": problem, "stderr_tail": tail}

    def _report(self, stdout: Captured) -> str | None:
        if self._work.output is not None:
            return self._text(file_in(self._home, self._work.output), self._work.output)
        if stdout.overfull:
            limit = MAX_REPORT_BYTES // 2**20
            raise Unusable(f"it wrote more than {limit} MB to its standard output")
        return self._text((self._folder / "stdout").read_bytes(), "standard output")

    def _text(self, content: bytes | None, name: str) -> str | None:
        return None if content is None else as_text(without_secrets(content, self._secrets), name)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True


def _below() -> list[psutil.Process]:
    """Every process that descends from this one and has not ended."""
    living = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living


def _take_in(selector: selectors.BaseSelector, seconds: float) -> bool:
    """Read what there is, waiting at most so long for it; whether there was anything."""
    ready = selector.select(seconds)
    for key, _ in ready:
        data = os.read(key.fd, 65_536)
        if data:
            key.data.add(data)
        else:
            selector.unregister(key.fd)
    return bool(ready)


def _exit(
    reason: str, code: int | None, stderr: bytes, seconds: float, work: Work
) -> dict[str, str | float | None]:
    """How it ended. `memory` is what the program says itself: the limit only refuses it more."""
    if reason == "exit" and code and any(word in stderr for word in _SAYS_MEMORY):
        reason = "memory"
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "reason": reason,
        "code": code if code is not None and code >= 0 else None,
        "signal": signal.Signals(-code).name if code is not None and code < 0 else None,
        "seconds": round(seconds, 2),
        "seconds_allowed": work.seconds,
        "peak_memory_mb": round(peak_kb / 1024, 1),
        "memory_mb_allowed": work.memory_mb,
    }


def _keep(path: Path, content: object) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_name(f".{path.name}")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _tell(pipe: int) -> None:
    with suppress(OSError):  # whoever waits may have been killed
        os.write(pipe, b"1")
    os.close(pipe)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

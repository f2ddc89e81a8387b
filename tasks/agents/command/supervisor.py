"""The supervisor of one program run: `python -m tasks.agents.command.supervisor FOLDER`.

It is a separate process, so that the program keeps running when its caller is killed. It holds the
lock in the job's folder while it is alive, and finally writes the result to `ended.json`. It
imports little of the project, since many supervisors must be cheap.

The folder: `job.json` (how to run the program), `prompt.md`, `assignment.json`, `lock`, `begun`
(created before the program is started, so that none is started twice), `stdout`, `stderr`,
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
from pathlib import Path
from types import FrameType

import psutil
from filelock import Timeout

from tasks.agents.command.capture import (
    MAX_REPORT_BYTES,
    CapturedStream,
    UnusableOutput,
    decode_text,
    mask_variables,
    read_program_file,
    write_atomically,
)
from tasks.agents.command.program import (
    SANDBOX_TOKEN,
    ProgramSpec,
    Reaper,
    read_spec,
    remove_container,
    start_program,
)
from tasks.files.locks import hold_lock
from tasks.processes.dumpable import forbid_dumps

ANSWER_FILE = "answer.json"
"""An optional file of the program with its sources, trace and usage (see `report_form.py`)."""
CHECK_SECONDS = 0.1
KILL_SECONDS = 10.0
"""How long to wait for killed processes to disappear."""
_MEMORY_ERRORS = (b"MemoryError", b"bad_alloc", b"annot allocate memory", b"ut of memory")
_PR_SET_CHILD_SUBREAPER = 36


def main(folder: Path) -> int:
    """Start a process that supervises the program; return 0 once the job is supervised."""
    forbid_dumps()  # it has the program's keys and the job's token
    spec = read_spec(folder)
    reading, writing = os.pipe()
    if os.fork():  # the parent exits, so that the caller need not wait for the supervisor
        os.close(writing)
        return 0 if os.read(reading, 1) else 1
    os.close(reading)
    try:
        with hold_lock(folder / "lock", timeout=0):
            # If it exists, the program has ended or its supervisor was killed: never run it twice.
            (folder / "begun").touch(exist_ok=False)
            _signal_parent(writing)
            _Supervision(folder, spec).run()
    except (Timeout, FileExistsError):
        _signal_parent(writing)
    return 0


def kill_leftovers(folder: Path) -> None:
    """Kill the processes, or remove the container, of a job whose supervisor was killed.

    They are recognised by their environment, since their process ids may have been reused.
    """
    ours = str(folder / "assignment.json")
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("EVERGREEN_ASSIGNMENT") == ours:
                process.kill()
    spec = json.loads((folder / "job.json").read_text("utf-8"))
    if container := spec.get("container"):  # version 0.1 wrote none
        remove_container(spec["command"][0], container)


class _Supervision:
    """The supervision of one program, from its start to `ended.json`."""

    def __init__(self, folder: Path, spec: ProgramSpec) -> None:
        self._folder = folder
        self._home = folder / "program"
        self._spec = spec
        self._token = os.environ.pop(SANDBOX_TOKEN, None)
        secrets = {name: os.environ[name] for name in spec.inherited}
        self._secrets = mask_variables(secrets | ({"": self._token} if self._token else {}))
        self._stopped = False
        self._libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if self._libc:  # adopt the processes that the program leaves behind
            self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        began = time.monotonic()
        with (
            CapturedStream.open(self._folder / "stdout", self._secrets) as stdout,
            CapturedStream.open(self._folder / "stderr", self._secrets) as stderr,
        ):
            try:
                process, reaper = start_program(self._folder, self._spec, self._token)
            except OSError as error:
                reason, code = f"could not be started: {error.strerror or error}", None
            else:
                streams, until = (stdout, stderr), began + self._spec.seconds
                reason = self._watch(process, reaper, streams, until)
                code = process.returncode
            if self._spec.container:
                remove_container(self._spec.command[0], self._spec.container)
            stdout.finish()
            stderr.finish()
        program_exit = _describe_exit(
            reason, code, stderr.tail, time.monotonic() - began, self._spec
        )
        ended = {"exit": program_exit, **self._collect_output(stdout, stderr)}
        write_atomically(self._folder / "ended.json", json.dumps(ended))

    def _watch(
        self,
        process: subprocess.Popen[bytes],
        reaper: Reaper,
        captured: Sequence[CapturedStream],
        until: float,
    ) -> str:
        """Capture the program's output until it ends or must end; return why it ended."""
        reason = "exit"
        with selectors.DefaultSelector() as selector:
            for pipe, stream in zip((process.stdout, process.stderr), captured, strict=True):
                assert pipe is not None
                selector.register(pipe.fileno(), selectors.EVENT_READ, stream)
            while process.poll() is None:
                if self._stopped or time.monotonic() >= until:
                    reason = "stopped" if self._stopped else "timeout"
                    break
                _read_available(selector, CHECK_SECONDS)
                _reap_adopted(process.pid)
            self._end_processes(selector, reaper)
            process.wait()
            while _read_available(selector, 0):
                pass
        _reap_adopted(process.pid)
        return reason

    def _end_processes(self, selector: selectors.BaseSelector, reaper: Reaper) -> None:
        """Terminate the program and all its descendants, then kill those that remain."""
        for process in _find_living_descendants(reaper.pid):
            with suppress(psutil.Error):
                process.terminate()
        until = time.monotonic() + self._spec.grace_seconds
        while _find_living_descendants(reaper.pid) and time.monotonic() < until:
            _read_available(selector, CHECK_SECONDS)
        reaper.end_all()
        began = time.monotonic()
        while (left := _find_living_descendants()) and time.monotonic() < began + KILL_SECONDS:
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            _read_available(selector, CHECK_SECONDS)

    def _collect_output(
        self, stdout: CapturedStream, stderr: CapturedStream
    ) -> dict[str, str | None]:
        """Return the report, `answer.json` and the problems with them, as text."""
        problems = []
        given = report = None
        try:
            given = self._decode(read_program_file(self._home, ANSWER_FILE), ANSWER_FILE)
        except UnusableOutput as error:
            problems.append(str(error))
        try:
            report = self._read_report(stdout)
        except UnusableOutput as error:
            problems.append(str(error))
        tail = stderr.tail.decode("utf-8", "replace")
        problem = "; ".join(problems) or None
        return {"report": report, "given": given, "problem": problem, "stderr_tail": tail}

    def _read_report(self, stdout: CapturedStream) -> str | None:
        if self._spec.output is not None:
            return self._decode(read_program_file(self._home, self._spec.output), self._spec.output)
        if stdout.truncated:
            limit = MAX_REPORT_BYTES // 2**20
            raise UnusableOutput(f"it wrote more than {limit} MB to its standard output")
        return self._decode((self._folder / "stdout").read_bytes(), "standard output")

    def _decode(self, content: bytes | None, name: str) -> str | None:
        hidden = None if content is None else self._secrets.hide_in_bytes(content)
        return None if hidden is None else decode_text(hidden, name)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True


def _reap_adopted(program: int) -> None:
    """Reap adopted processes that ended, so that they take up no numbers and their memory is
    counted; the program itself is left to its `Popen`. Only Linux lets a process adopt others."""
    if sys.platform != "linux":
        return
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == program:
                return
            os.waitpid(ended.si_pid, 0)


def _find_living_descendants(but: int = 0) -> list[psutil.Process]:
    """Return all descendants of this process that have not ended. but: the reaper's id."""
    living = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.pid != but and process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living


def _read_available(selector: selectors.BaseSelector, seconds: float) -> bool:
    """Read the available output, waiting at most `seconds` for it; return whether there was any."""
    ready = selector.select(seconds)
    for key, _ in ready:
        data = os.read(key.fd, 65_536)
        if data:
            key.data.add(data)
        else:
            selector.unregister(key.fd)
    return bool(ready)


def _describe_exit(
    reason: str, code: int | None, stderr: bytes, seconds: float, spec: ProgramSpec
) -> dict[str, str | float | None]:
    """Describe how the program ended. `memory` is inferred from its messages: the limit itself
    only makes allocations fail."""
    if code and code > 128 and spec.isolation:  # so bubblewrap and shells say it
        with suppress(ValueError):
            code = -signal.Signals(code - 128)
    if reason == "exit" and code and any(word in stderr for word in _MEMORY_ERRORS):
        reason = "memory"
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "reason": reason,
        "code": code if code is not None and code >= 0 else None,
        "signal": signal.Signals(-code).name if code is not None and code < 0 else None,
        "seconds": round(seconds, 2),
        "seconds_allowed": spec.seconds,
        "peak_memory_mb": round(peak_kb / 1024, 1),
        "memory_mb_allowed": spec.memory_mb,
        "isolation": spec.describe_isolation(),
    }


def _signal_parent(pipe: int) -> None:
    with suppress(OSError):  # the parent may have been killed
        os.write(pipe, b"1")
    os.close(pipe)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

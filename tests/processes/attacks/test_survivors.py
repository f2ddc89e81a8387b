"""A program that wants to outlive its job"""

import asyncio
import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from tasks.agents.agent import JobRequest
from tasks.agents.command import isolation
from tasks.agents.command.client import CommandClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders
from tests.attacks.programs import run
from tests.waiting import until

SECONDS = 60
"""How long the programs last by themselves: what ends them is waited for half as long."""
soon = partial(until, seconds=SECONDS / 2, pause=0.05)
COMET = f"""
import os, time
os.kill(-1, 9)  # whatever watches it
end = time.monotonic() + {SECONDS}
if os.fork():
    while not os.path.exists("alive"):
        time.sleep(0.01)
    print("a report", flush=True)
    os._exit(0)
os.environ.clear()
while time.monotonic() < end:  # a moving target: each process lives for a moment
    if os.fork():
        os._exit(0)
    os.setsid()
    open("alive", "w").write(str(time.time()))
"""
LEFT_BEHIND = f"""
import os, time
os.execve("/bin/sh", ["sh", "-c", "setsid sleep {SECONDS}.25 & sleep {SECONDS}.5"], {{}})
"""
MANY_DEAD = """
import os, time
for _ in range(400):
    if not os.fork():
        os.fork()
        os._exit(0)
    os.wait()
print("all ended", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bubblewrap the kernel ends all processes of a program with its first one."""
    monkeypatch.setattr(isolation, "find_bubblewrap", lambda: None)


def client(tmp_path: Path, code: str) -> CommandClient:
    ask = CommandAsk.model_validate({"kind": "command", "command": ["{python}", "-c", code]})
    return CommandClient("a", ask, AgentFolders(tmp_path, None), grace_seconds=0.2)


def start(program: CommandClient, tmp_path: Path) -> int:
    """Start a job; return its supervisor's process id."""
    asked = JobRequest(
        job="j", edition="e", assignment="a", title="T", kind="write_article", prompt="Write it."
    )
    asyncio.run(program.start(asked))
    return next(
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if "tasks.agents.command.supervisor" in (line := process.info["cmdline"] or [])
        and line[-1].startswith(str(tmp_path))
    )


def sleepers(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that sleep on."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.name() == "sleep" and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def test_no_process_of_a_program_outlives_its_job(tmp_path: Path) -> None:
    """When its job ends every process of a program ends, however quickly it starts new ones."""
    answer = run(client(tmp_path, COMET), "j")
    assert answer.text == "a report\n"
    sign = tmp_path / "a" / "j" / "program" / "alive"
    last = sign.read_text()
    time.sleep(0.3)
    assert sign.read_text() == last


def test_no_process_of_a_program_outlives_its_supervisor(tmp_path: Path) -> None:
    """When its supervisor is killed every process of a program ends, whatever it calls itself."""
    supervisor = start(client(tmp_path, LEFT_BEHIND), tmp_path)
    processes = soon(
        "sleeper", lambda: sleepers(psutil.Process(supervisor).children(recursive=True))
    )
    os.kill(supervisor, signal.SIGKILL)
    soon("end of them", lambda: not sleepers(processes))


def test_ended_processes_are_not_kept(tmp_path: Path) -> None:
    """Processes that a program leaves ended take up no numbers of the machine."""
    supervisor = psutil.Process(start(client(tmp_path, MANY_DEAD), tmp_path))
    output = tmp_path / "a" / "j" / "stdout"
    soon("output", output.read_bytes)
    soon("few processes", lambda: len(supervisor.children(recursive=True)) < 10)
    supervisor.terminate()
    supervisor.wait(SECONDS / 2)

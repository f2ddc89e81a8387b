"""Programs as agents: many at once, killed, or taking and leaving behind too much."""

import asyncio
import signal
import subprocess
import sys

import psutil
import pytest

from tasks.agents.kind import AgentFolders
from tasks.agents.registry import read_answer
from tests.processes.tasks.agents.command.test_programs import (
    answer_to,
    client,
    ended,
    home,
    place,
    question,
    shell,
)

__all__ = ["place"]


def test_what_it_leaves_behind_is_ended_with_it_wherever_it_went(place: AgentFolders) -> None:
    script = "(trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 987.25' &) ; sleep 987.25"
    answer = answer_to(shell(place, script, seconds=0.5))
    assert answer.outcome == "failed"
    assert "its limit" in (answer.error or "")
    running = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
    assert not [line for line in running if "sleep 987.25" in line]


def test_children_that_outlive_a_good_end_are_ended_too(place: AgentFolders) -> None:
    answer = answer_to(shell(place, "(setsid sleep 986.25 >/dev/null 2>&1 &); echo done"))
    assert (answer.outcome, answer.text) == ("report", "done\n")
    running = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert ["sleep", "986.25"] not in running


def test_more_memory_than_allowed_is_refused_and_said(place: AgentFolders) -> None:
    answer = answer_to(client(place, "{python}", "-c", "x = b'1' * 10**9", memory_mb=400))
    assert answer.outcome == "failed"
    assert "400 MB" in (answer.error or "")
    assert "MemoryError" in (answer.error or "")


def test_a_huge_output_is_cut_and_no_report(place: AgentFolders) -> None:
    answer = answer_to(shell(place, "head -c 60000000 /dev/zero | tr '\\0' x; echo over >&2"))
    assert answer.outcome == "failed"
    assert "more than 16 MB" in (answer.error or "")
    assert (home(place).parent / "stdout").stat().st_size == 16 * 2**20


def test_a_huge_log_does_no_harm(place: AgentFolders) -> None:
    script = "head -c 30000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; echo fine"
    assert answer_to(shell(place, script)).text == "fine\n"
    assert (home(place).parent / "stderr").stat().st_size == 16 * 2**20


STARTER = """
import asyncio, os, signal, sys
from pathlib import Path
from tasks.agents.command import client as command
from tasks.agents.command import supervisor
from tasks.agents.agent import JobRequest
from tasks.agents.kind import AgentFolders
from tasks.agents.command.settings import CommandAsk

def killed_in(module, name, *, after):
    def instead(*arguments, **named):
        done = original(*arguments, **named) if after else None
        os.kill(os.getpid(), signal.SIGKILL)
        return done
    original = getattr(module, name)
    setattr(module, name, instead)

step, after, work = sys.argv[1:4]
if step != "nothing":
    killed_in({"CommandClient": command.CommandClient}.get(step.split(".")[0], command),
              step.split(".")[-1], after=after == "after")
script = 'echo run >> "$EVERGREEN_CACHE/runs"; sleep 0.4; echo done'
ask = CommandAsk(kind="command", command=("sh", "-c", script), shared_cache=True)
agent = command.CommandClient("an/agent", ask, AgentFolders(Path(work), None))
asyncio.run(agent.start(JobRequest(job="job-1", edition="e", assignment="a", title="T",
                                 kind="write_article", prompt="Write it.")))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("CommandClient._write_folder", "before"),
        ("write_atomically", "after"),
        ("write_spec", "before"),
        ("write_spec", "after"),
        ("CommandClient._start_supervisor", "before"),
        ("CommandClient._start_supervisor", "after"),
        ("nothing", "after"),
    ],
)
def test_a_starter_that_is_killed_anywhere_neither_loses_nor_doubles_a_job(
    place: AgentFolders, step: str, when: str
) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", STARTER, step, when, str(place.work)], check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    second = shell(
        place, 'echo run >> "$EVERGREEN_CACHE/runs"; sleep 0.4; echo done', shared_cache=True
    )
    assert answer_to(second).text == "done\n"
    assert (place.work / ".cache" / "an%2Fagent" / "runs").read_text() == "run\n"


def test_twenty_at_once_all_end_well(place: AgentFolders) -> None:
    agent = shell(place, "sleep 0.2; cat")

    async def all_of_them() -> list[str]:
        jobs = [f"job-{n}" for n in range(20)]
        await asyncio.gather(*(agent.start(question(job, job)) for job in jobs))
        seen = await asyncio.gather(*(ended(agent, job) for job in jobs))
        return [read_answer("command", each.raw or "").text for each in seen]

    assert asyncio.run(all_of_them()) == [f"job-{n}" for n in range(20)]

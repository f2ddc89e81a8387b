"""Runs the hostile program as an agent's, for `test_programs.py`; also in a process of its own.

python -m tests.attacks.programs WORK GIVEN NETWORK [SANDBOX_URL]
"""

import json
import sys
from pathlib import Path

from tasks.agents.agent import JobAnswer, JobRequest, SandboxAccess
from tasks.agents.command import isolation
from tasks.agents.command.client import CommandClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.kind import AgentFolders
from tests.tasks.agents.programs import run_program

HOSTILE = Path(__file__).with_name("hostile_program.py")


def attack(work: Path, given: Path, network: str, sandbox: str | None = None) -> dict[str, str]:
    """What came of each attempt. given: the file that tells the program what to attack."""
    known = json.loads(given.read_text("utf-8"))
    ask = CommandAsk.model_validate(
        {"kind": "command", "command": ["{python}", str(HOSTILE), str(given)], "network": network,
         "reads": [str(HOSTILE), str(given)], "archive": True}
    )  # fmt: skip
    folders = AgentFolders(work, Path(known["archive"]).parent, (Path(known["warehouse"]),))
    access = SandboxAccess(url=sandbox, token="token of a") if sandbox else None
    granted = access if network == "sandbox" else None
    answer = run(CommandClient("hostile", ask, folders), f"job-{network}", granted)
    assert answer.outcome == "report", answer.error
    found: dict[str, str] = json.loads(answer.text)
    return found


def client_of(work: Path, command: list[str], *private: Path, **entry: object) -> CommandClient:
    """A client of an agent that is this program."""
    ask = CommandAsk.model_validate({"kind": "command", "command": command} | entry)
    return CommandClient("a", ask, AgentFolders(work, None, private))


def run(
    client: CommandClient, job: str = "job-1", sandbox: SandboxAccess | None = None
) -> JobAnswer:
    asked = JobRequest(
        job=job, edition="e", assignment="a", title="T", kind="write_article", prompt="Write it.",
        sandbox=sandbox,
    )  # fmt: skip
    return run_program(client, asked)


if __name__ == "__main__":
    setattr(isolation, "find_bubblewrap", lambda: None)  # noqa: B010 (a test's own)
    _, work, given, network, *sandbox = sys.argv
    print(json.dumps(attack(Path(work), Path(given), network, *sandbox)))
    sys.exit(0)

"""Jobs whose supervisor was killed, of this version or an earlier one."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tasks.agents.command.supervisor import kill_leftovers

SPEC: dict[str, object] = {
    "command": ["/nowhere/docker", "run"], "environment": {}, "inherited": [], "output": None,
    "memory_mb": 100, "seconds": 60, "grace_seconds": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    "further", [{}, {"isolation": "", "sandbox": None, "container": "a-container"}],
    ids=["of an earlier version", "in a container whose engine is gone"],
)  # fmt: skip
def test_what_a_killed_supervisor_left_is_ended(tmp_path: Path, further: dict[str, object]) -> None:
    (tmp_path / "job.json").write_text(json.dumps(SPEC | further))
    theirs = {"EVERGREEN_ASSIGNMENT": str(tmp_path / "assignment.json")}
    with subprocess.Popen(["/bin/sleep", "60"], env=theirs) as left:
        kill_leftovers(tmp_path)
        assert left.wait(10) == -signal.SIGKILL

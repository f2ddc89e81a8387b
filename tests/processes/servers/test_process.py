"""What the load tests rely on: a process of its own, and a plan."""

import json
import subprocess
import sys

import httpx
import pytest

from tests.servers.faults import FaultPlan


@pytest.mark.parametrize("kind", ["gemini", "openai"])
def test_a_process_says_its_port_keeps_a_log_and_ends_when_told(kind: str) -> None:
    command = [sys.executable, "-m", "tests.servers", kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = json.loads(process.stdout.readline())
        root = f"http://127.0.0.1:{said['port']}"
        assert httpx.get(f"{root}/_log").json()["requests"] == 0
        process.terminate()
        assert process.wait(5) == 0


def test_faults_strike_the_planned_share_the_same_ones_every_time() -> None:
    plan = FaultPlan(("server_500", "safety"), share=0.2)
    struck = [plan.fault_of(f"{n:016x}") for n in range(2000)]
    assert struck == [FaultPlan(plan.faults, share=0.2).fault_of(f"{n:016x}") for n in range(2000)]
    assert 340 < sum(fault is not None for fault in struck) < 460
    assert 140 < struck.count("safety") < 260

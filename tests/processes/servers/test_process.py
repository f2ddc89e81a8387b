"""What the load tests rely on: many calls at once, a process of its own, a restart, a plan."""

import asyncio
import json
import subprocess
import sys
import time
from typing import Any

import httpx
import pytest

from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.serving import serving


@pytest.mark.parametrize("kind", [GeminiServer, OpenAiServer])
def test_two_hundred_calls_at_once_take_as_long_as_one(kind: type[ModelServer]) -> None:
    server = kind(delay_seconds=0.5)

    async def all_at_once(address: str) -> float:
        body: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
        path, headers = "/v1/models/m:generateContent", {"x-goog-api-key": "test-key"}
        if kind is OpenAiServer:
            body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
            path, headers = "/v1/chat/completions", {"Authorization": "Bearer test-key"}
        wire = json.dumps(body).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        sent = f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(wire)}\r\n\r\n".encode() + wire
        port = httpx.URL(address).port
        started = time.monotonic()
        pairs = await asyncio.gather(
            *(asyncio.open_connection("127.0.0.1", port) for _ in range(200))
        )
        for _, writer in pairs:
            writer.write(sent)
        lines = await asyncio.gather(*(reader.readline() for reader, _ in pairs))
        assert set(lines) == {b"HTTP/1.1 200 OK\r\n"}
        for _, writer in pairs:
            writer.close()
        return time.monotonic() - started

    with serving(server) as address:
        assert asyncio.run(all_at_once(address)) < 2
        totals = httpx.get(f"{address}/_log").json()
    assert totals["peak_in_flight"] == 200
    assert totals["answered"] == 200


@pytest.mark.parametrize("kind", ["gemini", "openai"])
def test_a_process_says_its_port_keeps_a_log_and_ends_when_told(kind: str) -> None:
    command = [sys.executable, "-m", "tests.servers", kind, "--faults", "server_500"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = json.loads(process.stdout.readline())
        root = f"http://127.0.0.1:{said['port']}"
        assert httpx.get(f"{root}/_log").json()["requests"] == 0
        process.terminate()
        assert process.wait(5) == 0


def test_a_server_keeps_its_state_when_it_is_started_again() -> None:
    server = OpenAiServer(key=None)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
    for _ in range(2):
        with serving(server) as address:
            httpx.post(f"{address}/v1/chat/completions", json=body).raise_for_status()
    assert server.log.n_bought_again == 1


def test_faults_strike_the_planned_share_the_same_ones_every_time() -> None:
    plan = FaultPlan(("server_500", "safety"), share=0.2)
    struck = [plan.fault_of(f"{n:016x}") for n in range(2000)]
    assert struck == [FaultPlan(plan.faults, share=0.2).fault_of(f"{n:016x}") for n in range(2000)]
    assert 340 < sum(fault is not None for fault in struck) < 460
    assert 140 < struck.count("safety") < 260

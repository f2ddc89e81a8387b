"""Someone who opens connections to a server of ours and sends nothing, or hardly anything"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests import waiting

DESCRIPTORS = 160
"""What the server's process may have; more connections than that are opened."""
PAGE = '{"url": "https://a.example/b", "text": "A lighthouse stands on the rock.", "title": "a"}\n'
SANDBOX = ("-m", "flows", "sandbox", "--corpus", "c.jsonl", "--open", "--index", "i", "--port")
PREFECT = ("-m", "flows.runtime.shared_server", "--port")


@pytest.fixture(params=[(SANDBOX, "/search?query=rock"), (PREFECT, "/api/health")])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """What an honest user asks a server, whose process may have few descriptors."""
    command, path = request.param
    (tmp_path / "c.jsonl").write_text(PAGE, "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_API_AUTH_STRING": "user:a password of a test",
    }
    limited = ["sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "-"]
    server = subprocess.Popen(
        [*limited, sys.executable, *command, str(port)], cwd=tmp_path, env=os.environ | environment
    )
    try:
        address = f"http://127.0.0.1:{port}{path}"
        waiting.until("answer of the server", lambda: answers(address))
        yield address
        assert server.poll() is None
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=10, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_silent_connections_keep_nobody_out(address: str) -> None:
    """More connections than a server has descriptors neither end it nor keep others out."""
    there = httpx.URL(address)
    with ExitStack() as silent:
        for n in range(3 * DESCRIPTORS):
            made = socket.create_connection((there.host, there.port or 0), timeout=30)
            silent.enter_context(made)
            made.sendall(b"GET / HTTP/1.1\r\nHost: loc" if n % 2 else b"")
        for _ in range(3):
            assert answers(address)
    assert answers(address)

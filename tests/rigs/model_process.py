"""A server that answers as a provider's models do, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.changed_configs import ROOT


@contextmanager
def model_process(kind: str = "openai", delay: float = 0.0) -> Iterator[str]:
    """Its base address. delay: seconds that each answer takes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers", kind, "--delay", str(delay)],
        stdout=subprocess.PIPE, cwd=ROOT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["base_url"])
    finally:
        process.terminate()
        process.wait()


def totals_of(address: str) -> dict[str, Any]:
    """The server's own account of what it was asked."""
    log = f"{address.removesuffix('/v1')}/_log"
    totals: dict[str, Any] = httpx.get(log, trust_env=False).raise_for_status().json()
    return totals

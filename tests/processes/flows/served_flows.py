"""`evergreen serve` as a process, and the deployments that it registers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from tasks.warehouse.location import parse_location
from tests import patient, waiting
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import ROOT
from tests.waiting import until

ALERTS = FileLock(PREFECT_HOME / "alerts.lock", is_singleton=True)
"""Held by who changes the server's alerts or limits, as `serve` does at its start; reentrant."""
READY = "Press Ctrl-C to stop"
EVERGREEN = (sys.executable, "-m", "flows")


@contextmanager
def served(
    warehouse: Path,
    flows: Sequence[str],
    log: Path,
    *options: str,
    program: Sequence[str | Path] = EVERGREEN,
    cwd: Path = ROOT,
    environment: Mapping[str, str] = os.environ,
) -> Iterator[subprocess.Popen[bytes]]:
    """These flows are served for as long as the block lasts; what is said goes to `log`."""
    variables = {**environment, "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME)}
    variables.pop("PREFECT_API_URL", None)
    only = [word for flow in flows for word in ("--only", flow)]
    with ALERTS, log.open("ab") as output:
        before = log.read_text("utf-8").count(READY)
        process = subprocess.Popen(
            [*program, "serve", *only, "--warehouse", warehouse, *options],
            stdout=output, stderr=output, cwd=cwd, env=variables,
        )  # fmt: skip
        until(
            "start",
            lambda: process.poll() or log.read_text("utf-8").count(READY) > before,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(waiting.SECONDS)


def deployments_of(api: str, warehouse: Path, *flows: str) -> list[dict[str, Any]]:
    """Those of these flows on a warehouse, in order, once all are registered."""
    asked = {"deployments": {"tags": {"all_": ["evergreen"]}}}
    address = parse_location(warehouse).url

    def found() -> list[dict[str, Any]] | None:
        made = patient.post(f"{api}/deployments/filter", json=asked).json()
        by_flow = {
            each["entrypoint"].split(".")[-1]: each
            for each in made
            if each["parameters"]["warehouse"] == address
        }
        return [by_flow[flow] for flow in flows] if {*flows} <= by_flow.keys() else None

    return until(f"deployments of {', '.join(flows)}", found)

"""An agent that searches our sandbox."""

import os
import subprocess
import sys
from pathlib import Path

from tasks.warehouse.reader import run_query
from tests.processes.flows.cli.test_sandbox import running, sample
from tests.processes.flows.runtime.test_server import environment

__all__ = ["sample"]
ROOT = Path(__file__).parents[3]
TRACES = """
SELECT source, step ->> 'query' AS query, step -> 'opened' AS opened
FROM (SELECT source, unnest(json_extract(trace, '$[*]')) AS step FROM search_traces
      WHERE agent = 'sandbox_baseline')
"""


def evergreen(*arguments: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "flows", *arguments], cwd=ROOT, env=environment() | more,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_what_an_agent_asked_the_sandbox_for_is_in_the_warehouse(
    sample: Path, tmp_path: Path
) -> None:
    """What an agent searched and opened in the sandbox is kept as we saw it, in `search_traces`."""
    place = ("--edition", "sample", "--warehouse", str(sample))
    home = {"EVERGREEN_PREFECT_HOME": str(tmp_path / "prefect")}
    evergreen("assign", *place, **home)
    with running(sample, "--edition", "sample", tokens=True, PATH=os.environ["PATH"]) as (url, _):
        evergreen(
            "ask", "--agent", "sandbox_baseline", *place, "--assignment", "Eddystone_Lighthouse",
            **home, EVERGREEN_SANDBOX=url,
        )  # fmt: skip
    rows, _ = run_query(sample, TRACES)
    assert set(rows["source"]) == {"sandbox"}
    assert rows.filter(rows["query"] != "").height > 0
    assert rows.filter(rows["opened"] != "[]").height > 0

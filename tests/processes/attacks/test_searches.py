"""An agent that searches our sandbox."""

from pathlib import Path

import pytest

from tasks.warehouse.reader import run_query
from tests.flows.conftest import Evergreen
from tests.processes.flows.cli.test_sandbox import running, sample

__all__ = ["sample"]
TRACES = """
SELECT source, step ->> 'query' AS query, step -> 'opened' AS opened
FROM (SELECT source, unnest(json_extract(trace, '$[*]')) AS step FROM search_traces
      WHERE agent = 'sandbox_baseline')
"""


def test_what_an_agent_asked_the_sandbox_for_is_in_the_warehouse(
    sample: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an agent searched and opened in the sandbox is kept as we saw it, in `search_traces`."""
    place = ("--edition", "sample", "--warehouse", str(sample))
    code, _, remarks = evergreen("assign", *place)
    assert code == 0, remarks
    with running(sample, "--edition", "sample", tokens=True) as (url, _):
        monkeypatch.setenv("EVERGREEN_SANDBOX", url)
        asked = ("--agent", "sandbox_baseline", "--assignment", "Eddystone_Lighthouse")
        code, _, remarks = evergreen("ask", *asked, *place)
        assert code == 0, remarks
    rows, _ = run_query(sample, TRACES)
    assert set(rows["source"]) == {"sandbox"}
    assert rows.filter(rows["query"] != "").height > 0
    assert rows.filter(rows["opened"] != "[]").height > 0

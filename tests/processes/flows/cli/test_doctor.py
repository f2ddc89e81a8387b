"""What `evergreen doctor` makes of a real Prefect server."""

from datetime import timedelta

import httpx
import pytest

from tasks.doctor.server import LONG, PrefectServer, check_server
from tests import patient


def test_a_real_server_is_understood(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LONG, "RUNNING", timedelta(days=-1))
    server = PrefectServer(api)
    found = {each.check: each for each in check_server(server)}
    assert found[""].status == "ok", found[""].finding
    flow = patient.post(f"{api}/flows/", json={"name": "of the doctor's test"}).json()
    made = patient.post(
        f"{api}/flow_runs/", json={"flow_id": flow["id"], "name": "left-by-a-kill", "state": None}
    ).json()
    state = {"type": "RUNNING", "name": "Running"}
    path = f"{api}/flow_runs/{made['id']}"
    try:
        answer = patient.post(f"{path}/set_state", json={"state": state, "force": True})
        assert answer.status_code in (200, 201), answer.text
        warned = [f for f in check_server(server) if f.finding.startswith("left-by-a-kill")]
        assert [each.status for each in warned] == ["warn"]
        assert "is Running since" in warned[0].finding
    finally:
        httpx.delete(path)
    assert server.has_block("never-made") is False

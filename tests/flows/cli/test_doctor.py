"""`evergreen doctor`: what it prints, its exit code, and what it makes of a Prefect server."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest

from tasks.doctor import machine
from tasks.doctor.finding import Found
from tasks.doctor.server import PrefectServer, check_server
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.lake import load_extensions
from tests.flows.conftest import Evergreen
from tests.tasks.annotated import sample_warehouse

SECRET = "a-key-that-nobody-may-see"
KEYS = ("GEMINI", "OPENAI", "ANTHROPIC", "PERPLEXITY", "XAI", "DASHSCOPE")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return sample_warehouse(tmp_path)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGREEN_OPERATOR", "somebody@example.org")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    for name in KEYS:
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)


@pytest.fixture(scope="module")
def extensions() -> dict[str, str]:
    return load_extensions()


@pytest.fixture(autouse=True)
def loaded_once(extensions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading DuckDB's extensions takes longer than all other checks together."""
    monkeypatch.setattr(machine, "load_extensions", lambda: extensions)


def unwrapped(said: str) -> str:
    """A table's words in one line: the folder's name decides where its lines break."""
    return " ".join(said.split())


@pytest.fixture
def doctor(evergreen: Evergreen, warehouse: Path) -> Evergreen:
    return partial(evergreen, "doctor", "--offline", "--warehouse", warehouse)


class TestCommand:
    @pytest.mark.file_only
    def test_a_sound_installation_is_exit_code_0(self, doctor: Evergreen) -> None:
        code, said, remarks = doctor()
        assert code == 0, said
        assert remarks == ""
        said = unwrapped(said)
        for group in ("software", "configuration", "keys", "clock", "prefect", "warehouse",
                      "work", "disk"):  # fmt: skip
            assert f" {group} " in said
        assert "no duplicates in any" in said
        assert "endpoints" not in said
        assert "0 failed" not in said

    @pytest.mark.file_only
    def test_a_check_that_fails_is_exit_code_1_and_says_what_to_do(
        self, doctor: Evergreen, warehouse: Path
    ) -> None:
        warehouse.write_bytes(b"no database" * 1000)
        code, said, _ = doctor()
        assert code == 1
        said = unwrapped(said)
        assert "not a readable warehouse" in said
        assert "→ Restore it from a backup" in said
        assert "1 failed" in said

    def test_without_a_warehouse_it_says_so_and_goes_on(
        self, doctor: Evergreen, tmp_path: Path
    ) -> None:
        where = tmp_path / "none.duckdb"
        code, said, _ = doctor("--warehouse", where, "--format", "json")
        found = json.loads(said)
        assert code == 0
        assert found["counts"]["fail"] == 0
        there = [each for each in found["findings"] if each["check"] == "there"]
        assert "there is no warehouse" in there[0]["finding"]
        assert {each["group"] for each in found["findings"]} >= {"software", "keys", "disk"}
        assert not where.exists()

    def test_as_json_every_finding_has_its_five_parts(self, doctor: Evergreen) -> None:
        found = json.loads(doctor("--format", "json")[1])
        assert sum(found["counts"].values()) == len(found["findings"])
        for each in found["findings"]:
            assert set(each) == {"group", "check", "status", "finding", "advice"}

    @pytest.mark.parametrize("form", ["table", "json"])
    def test_no_key_is_ever_printed(
        self, doctor: Evergreen, monkeypatch: pytest.MonkeyPatch, form: str
    ) -> None:
        for name in KEYS:
            monkeypatch.setenv(f"{name}_API_KEY", SECRET)
        monkeypatch.setenv("PREFECT_API_AUTH_STRING", f"admin:{SECRET}")
        monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
        code, said, remarks = doctor("--format", form)
        said = unwrapped(said)
        assert "OPENAI_API_KEY" in said
        assert "does not answer" in said
        assert code == 1
        for text in (said, remarks):
            assert SECRET not in text

    def test_an_edition_that_is_not_there_is_named(self, doctor: Evergreen) -> None:
        code, _, remarks = doctor("--edition", "never")
        assert code == 1
        assert "There is no edition 'never'. Known: sample." in remarks
        code, said, _ = doctor("--edition", "sample")
        assert (code, "sample" in said) == (0, True)

    @pytest.mark.file_only
    def test_it_holds_nobody_up_and_waits_for_nobody(
        self, doctor: Evergreen, warehouse: Path
    ) -> None:
        with lock_warehouse(warehouse):
            code, said, _ = doctor()
        assert code == 0
        assert "is in use by pid" in unwrapped(said)
        with lock_warehouse(warehouse, wait_seconds=0):
            pass


def run_of(name: str, state: str, hours: float, kind: str = "") -> dict[str, Any]:
    since = datetime.now(UTC) - timedelta(hours=hours)
    return {
        "id": f"id-{name}",
        "name": name,
        "state_name": state,
        "state_type": kind or state.upper(),
        "state": {"timestamp": since.isoformat().replace("+00:00", "Z")},
    }


class Fake:
    """What a server answers, by path."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            "/api/ready": {"message": "OK"},
            "/api/admin/version": version("prefect"),
            "/api/flow_runs/filter": lambda asked: [],
            "/api/deployments/filter": lambda asked: [],
            **{path.replace("__", "/"): answer for path, answer in answers.items()},
        }
        self.auth: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.auth.append(request.headers.get("authorization"))
        answer = self.answers.get(request.url.path)
        if isinstance(answer, int):
            return httpx.Response(answer, json={})
        if callable(answer):
            answer = answer(json.loads(request.content))
        return httpx.Response(200, json=answer) if answer is not None else httpx.Response(404)


def found_by(fake: Callable[[httpx.Request], httpx.Response]) -> list[Found]:
    server = PrefectServer("http://prefect.example.org/api/", transport=httpx.MockTransport(fake))
    return list(check_server(server))


class TestPrefect:
    def test_a_quiet_server_is_fine(self) -> None:
        found = found_by(Fake())
        assert [(each.check, each.status) for each in found] == [("", "ok"), ("runs", "ok")]

    def test_a_server_of_another_version_is_told(self) -> None:
        found = found_by(Fake(__api__admin__version="3.8.8"))[0]
        assert found.status == "warn"
        assert f"Prefect 3.8.8, here {version('prefect')}" in found.finding

    @pytest.mark.parametrize(
        ("code", "said"), [(401, "PREFECT_API_AUTH_STRING"), (503, "Its database"), (500, "log")]
    )
    def test_a_server_that_refuses_is_told(self, code: int, said: str) -> None:
        (found,) = found_by(Fake(__api__ready=code))
        assert (found.status, f"HTTP {code}" in found.finding) == ("fail", True)
        assert said in (found.advice or "")

    def test_a_server_that_is_away_is_told(self) -> None:
        def gone(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("Connection refused")

        (found,) = found_by(gone)
        assert found.status == "fail"
        assert "does not answer (Connection refused)" in found.finding

    def test_the_server_is_asked_with_its_own_password(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # a test before this one may keep a server for the session
        monkeypatch.delenv("PREFECT_API_AUTH_STRING", raising=False)
        fake = Fake()
        found_by(fake)
        assert set(fake.auth) == {None}
        monkeypatch.setenv("PREFECT_API_AUTH_STRING", "admin:pass:word")
        fake = Fake()
        found_by(fake)
        assert fake.auth[0] == "Basic YWRtaW46cGFzczp3b3Jk"

    @pytest.mark.parametrize(
        ("run", "told"),
        [
            (run_of("a", "Running", 23), None),
            (run_of("a", "Running", 25), "If its process is gone"),
            (run_of("a", "Waiting", 25, "RUNNING"), "If its process is gone"),
            (run_of("a", "Pending", 0.1), None),
            (run_of("a", "Pending", 0.2), "worker's log"),
            (run_of("a", "Cancelling", 0.2), "prefect flow-run delete"),
            (run_of("a", "Paused", 0), "press Resume"),
            (run_of("a", "Suspended", 0, "PAUSED"), "press Resume"),
            (run_of("a", "Late", 0, "SCHEDULED"), "evergreen serve"),
        ],
        ids=lambda value: value["state_name"] if isinstance(value, dict) else "",
    )
    def test_a_run_that_does_not_get_on_is_told_with_its_page(
        self, run: dict[str, Any], told: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PREFECT_UI_URL", "https://ui.example.org/")

        def runs(asked: dict[str, Any]) -> list[dict[str, Any]]:
            late = "name" in asked["flow_runs"]["state"]
            return [run] if late == (run["state_name"] == "Late") else []

        found = [f for f in found_by(Fake(__api__flow_runs__filter=runs)) if f.check == "runs"]
        if told is None:
            assert found[0].status == "ok"
            return
        (warned,) = found
        assert warned.status == "warn"
        assert told in (warned.advice or "")
        assert "https://ui.example.org/runs/flow-run/id-a" in warned.finding

    def deployment(self, **changed: Any) -> dict[str, Any]:
        cron = {"active": True, "schedule": {"cron": "0 6 1 * *", "timezone": "Europe/Vienna"}}
        return {"id": "d", "name": "warehouse", "status": "READY", "paused": False,
                "schedules": [cron], **changed}  # fmt: skip

    @pytest.mark.parametrize(
        ("changed", "planned", "check", "status", "said"),
        [
            ({}, True, "schedule", "ok", "next 2026-12-01 05:00 UTC"),
            ({}, False, "schedule", "warn", "no run is planned"),
            ({"paused": True}, True, "schedule", "warn", "is paused"),
            ({"status": "NOT_READY"}, True, "worker", "warn", "no worker serves"),
            ({}, True, "worker", "ok", "1 of 1"),
        ],
    )
    def test_a_schedule_that_will_not_fire_is_told(
        self, changed: dict[str, Any], planned: bool, check: str, status: str, said: str
    ) -> None:
        def runs(asked: dict[str, Any]) -> list[dict[str, Any]]:
            of_deployment = "deployment_id" in asked["flow_runs"]
            return [{"expected_start_time": "2026-12-01T06:00:00+01:00"}] if (
                of_deployment and planned) else []  # fmt: skip

        fake = Fake(
            __api__deployments__filter=lambda asked: [self.deployment(**changed)],
            __api__flow_runs__filter=runs,
        )
        found = {each.check: each for each in found_by(fake)}[check]
        assert (found.status, said in found.finding) == (status, True)

    def test_blocks_are_looked_for_by_name(self) -> None:
        path = "/api/block_types/slug/secret/block_documents/name/"
        fake = Fake(**{f"{path}there": {"data": {}}, f"{path}forbidden": 403})
        transport = httpx.MockTransport(fake)
        server = PrefectServer("http://prefect.example.org/api", transport=transport)
        assert server.has_block("there") is True
        assert server.has_block("missing") is False
        assert server.has_block("forbidden") is None

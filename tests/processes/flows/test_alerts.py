"""Alerts of a real Prefect server, as somebody receives them."""

import asyncio
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Crashed, Failed, Running

from flows.alerts import set_up_alerts, stay_heard
from flows.deployments import build_deployments
from flows.runtime.announcing import announce
from tasks.configuration.errors import ConfigurationError
from tasks.editions.refresh import Alerts, RefreshSettings, Sendgrid
from tasks.warehouse.location import parse_location
from tests import patient
from tests.changed_configs import copy_configs
from tests.conftest import PREFECT_HOME
from tests.processes.deployed_runs import run_of, state_of
from tests.processes.flows.served_flows import ALERTS, deployments_of, served
from tests.servers.http import Request, Response
from tests.servers.serving import serving
from tests.waiting import until

HOOK, CHAT, PING = "EVERGREEN_TEST_HOOK", "EVERGREEN_TEST_CHAT", "EVERGREEN_TEST_PING"
TO_ALL = Alerts(webhook=HOOK, chat=CHAT)


class Receiver:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def handle(self, request: Request) -> Response:
        self.asked.append(request)
        return Response()

    def got(self, path: str) -> list[Any]:
        return [each.json() for each in self.asked if each.path == path]

    def runs(self, ours: Collection[str]) -> list[str]:
        """Which of our runs the webhook was told of: tests beside this one fail runs as well."""
        return [each["run"] for each in self.got("/hook-secret") if each["run"] in ours]


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Somebody who is told, until the test has ended."""
    made = Receiver()
    with ALERTS, serving(made.handle) as address:
        for name, path in ((HOOK, "hook-secret"), (CHAT, "chat-secret"), (PING, "ping-secret")):
            monkeypatch.setenv(name, f"{address}/{path}")
        yield made
        asyncio.run(set_up_alerts(None))


def moved(run: str, *states: State[Any]) -> None:
    async def move() -> None:
        async with get_client() as client:
            for state in states:
                await client.set_flow_run_state(run, state, force=True)

    asyncio.run(move())


@flow
def part() -> None: ...


async def failed_part(run: str) -> None:
    """A subflow of a run that fails."""
    from tests.processes.flows.runtime.test_closed_runs import work

    async with get_client() as client:
        task = await client.create_task_run(work, run, "a", state=Running())  # type: ignore[arg-type]
        below = await client.create_flow_run(part, parent_task_run_id=task.id, state=Running())
        await client.set_flow_run_state(below.id, Failed(), force=True)


@pytest.fixture
def deployment(api: str, tmp_path: Path) -> str:
    warehouse = parse_location(tmp_path / f"{tmp_path.name}.duckdb")
    [made] = build_deployments(warehouse, ["evaluate"])
    return str(made.apply())


def automations(api: str) -> list[str]:
    found = patient.post(f"{api}/automations/filter", json={}).json()
    return sorted(str(each["name"]) for each in found if "evergreen" in each["tags"])


def test_a_run_that_is_partial_or_crashed_is_told_once_and_others_never(
    api: str, receiver: Receiver, deployment: str
) -> None:
    asyncio.run(set_up_alerts(TO_ALL))
    good, partial, crashed, cancelled = (run_of(api, deployment, edition="e") for _ in range(4))
    moved(good, Running(), Completed())
    moved(cancelled, Running(), Cancelled())
    asyncio.run(failed_part(partial))
    moved(partial, Running(), Failed(name="Partial", message="<b>what an agent says</b>"))
    moved(partial, Running(), Failed(name="Partial"))
    moved(crashed, Running(), Crashed())
    ours = (good, partial, crashed, cancelled)

    def messages() -> list[str]:
        said = [each["text"] for each in receiver.got("/chat-secret")]
        return [text for text in said if any(run in text for run in ours)]

    until("alert", lambda: len(receiver.runs(ours)) > 1)
    until("message", lambda: len(messages()) > 1)
    assert sorted(receiver.runs(ours)) == sorted([partial, crashed])
    assert len(messages()) == 2
    told = {each["run"]: each for each in receiver.got("/hook-secret")}
    assert told[partial]["alert"] == "failed"
    assert told[partial]["url"] == f"{api.removesuffix('/api')}/runs/flow-run/{partial}"
    name = told[partial]["name"]
    assert any(name in text and partial in text for text in messages())
    assert not any(b"agent says" in each.body for each in receiver.asked)


def test_what_we_announce_is_told(api: str, receiver: Receiver) -> None:
    def told() -> set[tuple[str, str]]:
        """Without editions that tests beside this one publish at the same server."""
        got = {(each["alert"], each["name"]) for each in receiver.got("/hook-secret")}
        return {(alert, name) for alert, name in got if name != "sample"}

    asyncio.run(set_up_alerts(TO_ALL.model_copy(update={"about": ("published", "over_budget")})))
    announce("judge_retiring", "nobody asked for this")
    announce("published", "2126-12")
    announce("over_budget", '2127-01 "quoted"')
    until("alerts", lambda: len(told()) > 1)
    assert told() == {("published", "2126-12"), ("over_budget", '2127-01 "quoted"')}


def test_automations_are_made_once_and_go_with_their_settings(
    api: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = Sendgrid(key="MAIL_KEY", sender="MAIL_FROM", recipients="MAIL_TO")
    for name, value in (("KEY", "SG.key-secret"), ("FROM", "a@b.org"), ("TO", "c@d.org, e@f.org")):
        monkeypatch.setenv(f"MAIL_{name}", value)
    for _ in range(2):
        asyncio.run(set_up_alerts(TO_ALL.model_copy(update={"sendgrid": mail})))
    assert automations(api) == [
        f"evergreen: {alert}"
        for alert in ("failed", "judge_retiring", "late", "over_budget", "published")
    ]
    blocks = patient.post(f"{api}/block_documents/filter", json={}).json()
    assert {"evergreen-webhook", "evergreen-chat", "evergreen-sendgrid"} <= {
        each["name"] for each in blocks
    }
    assert "key-secret" not in json.dumps(blocks)
    asyncio.run(set_up_alerts(Alerts(about=("late",), chat=CHAT)))
    assert automations(api) == ["evergreen: late"]
    blocks = patient.post(f"{api}/block_documents/filter", json={}).json()
    assert not {"evergreen-webhook", "evergreen-sendgrid"} & {each["name"] for each in blocks}
    assert "chat-secret" not in json.dumps(blocks)
    asyncio.run(set_up_alerts(None))
    assert automations(api) == []


@pytest.mark.parametrize("channel", ["webhook", "chat", "ping"])
def test_a_variable_that_is_not_set_is_named(channel: str) -> None:
    with pytest.raises(ConfigurationError, match="names the environment variable UNSET_HOOK"):
        asyncio.run(set_up_alerts(Alerts.model_validate({channel: "UNSET_HOOK"})))


def test_somebody_hears_of_us_while_all_is_well(receiver: Receiver) -> None:
    said: list[str] = []

    async def heard() -> None:
        settings = RefreshSettings(agents=("lexical_baseline",), alerts=Alerts(ping=PING))
        staying = asyncio.create_task(stay_heard(settings, said.append))
        await asyncio.to_thread(until, "ping", lambda: receiver.asked)
        staying.cancel()

    asyncio.run(heard())
    assert [each.path for each in receiver.asked] == ["/ping-secret"]
    assert said == []


def test_a_served_run_that_fails_is_told_and_no_log_has_the_address(
    api: str, receiver: Receiver, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configs = copy_configs(tmp_path, refresh=lambda s: s.update(alerts={"webhook": HOOK}))
    monkeypatch.setenv("EVERGREEN_CONFIGS", str(configs))
    warehouse, log = tmp_path / f"{tmp_path.name}.duckdb", tmp_path / "log"
    warehouse.write_bytes(sample.read_bytes())
    with served(warehouse, ["evaluate"], log):
        [deployment] = deployments_of(api, warehouse, "evaluate")
        runs = {
            edition: run_of(api, deployment["id"], edition=edition, protocols=["wiki_fact"])
            for edition in ("sample", "nowhere")
        }
        until("end", lambda: state_of(api, runs["sample"])["type"] == "COMPLETED")
        until("alert", lambda: receiver.runs(runs.values()))
    assert receiver.runs(runs.values()) == [runs["nowhere"]]
    assert "hook-secret" not in log.read_text("utf-8") + (PREFECT_HOME / "server.log").read_text(
        "utf-8"
    )

"""A run that nobody begins is told about."""

import asyncio

from flows.alerts import set_up_alerts
from tasks.editions.refresh import Alerts
from tests.processes.deployed_runs import run_of
from tests.processes.flows.test_alerts import HOOK, Receiver, deployment, receiver
from tests.waiting import until

__all__ = ["deployment", "receiver"]


def test_a_run_that_is_late_is_told_once(receiver: Receiver, deployment: str, api: str) -> None:
    asyncio.run(set_up_alerts(Alerts(webhook=HOOK, late_minutes=1)))
    run = run_of(api, deployment, edition="e")
    until("alert", lambda: receiver.got("/hook-secret"))
    assert [(each["alert"], each["run"]) for each in receiver.got("/hook-secret")] == [
        ("late", run)
    ]

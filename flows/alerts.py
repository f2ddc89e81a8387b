"""Alerts: `evergreen serve` makes Prefect's automations of the `alerts` in configs/refresh.yaml.

There is one automation for each alert, with an action for each channel. They belong to the Prefect
server: of several `evergreen serve` at one server, the last one's settings hold. Payloads quote
names and addresses of runs, and nothing that an agent, a page or an error says.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
from prefect.blocks.notifications import SendgridEmail
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import PrefectClient, get_client
from prefect.events.actions import ActionTypes, CallWebhook, SendNotification
from prefect.events.schemas.automations import Automation, AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from prefect.types import SecretDict
from pydantic import SecretStr

from flows.runtime.announcing import announce
from flows.runtime.approval import find_ui_url
from flows.runtime.served import TAG
from tasks.agents.endings import list_coming_ends
from tasks.configuration.models import load_judges
from tasks.editions.refresh import Alert, Alerts, RefreshSettings
from tasks.warehouse.rows import utc_now

TITLES: dict[Alert, str] = {
    "failed": "A run has failed or is not complete",
    "late": "A run is late",
    "over_budget": "A budget is spent",
    "judge_retiring": "A judge or an agent ends soon",
    "published": "An edition is published",
}
PING_SECONDS = 3600
ONCE = timedelta(days=1)
"""How long nobody is told again of the same run, edition or judge."""
OURS = [
    {"prefect.resource.role": "deployment"},  # no subflow and no command
    {"prefect.resource.role": "tag", "prefect.resource.id": f"prefect.tag.{TAG}"},
]
BEGUN = {f"prefect.flow-run.{name}" for name in ("Pending", "Running", "Cancelled", "Crashed")}
"""What ends a run's being late."""
CHANNELS: dict[str, type[Webhook | SendgridEmail]] = {
    "webhook": Webhook,
    "chat": Webhook,
    "sendgrid": SendgridEmail,
}
NAME = "event.resource['prefect.resource.name']"
JSON = {"Content-Type": "application/json"}


async def set_up_alerts(alerts: Alerts | None) -> None:
    """Make, change and remove our automations, and the blocks with their addresses.

    Raises:
        ConfigurationError: a variable is not set.
    """
    alerts = alerts or Alerts(about=())
    if alerts.ping:
        alerts.read(alerts.ping)
    async with get_client() as client:
        blocks = await _save_blocks(client, alerts)
        about = alerts.about if blocks else ()
        wanted = {each.name: each for each in (_build(alert, alerts, blocks) for alert in about)}
        made = {each.name: each.id for each in await _list_ours(client)}
        for name, automation in wanted.items():
            if name in made:
                # The client (3.9.1) sends what is set, and the server needs all but the owner.
                dumped = automation.model_dump(exclude={"owner_resource"})
                whole = AutomationCore.model_validate(dumped)
                await client.update_automation(made[name], whole)
            else:
                await client.create_automation(automation)
        kept: set[str] = set()
        for each in await _list_ours(client):
            # Another `serve` may have made the same at the same time.
            if each.name not in wanted or each.name in kept:
                await client.delete_automation(each.id)
            kept.add(each.name)


async def stay_heard(settings: RefreshSettings, on_message: Callable[[str], None]) -> None:
    """Until cancelled, call the address of `alerts.ping` each hour while the Prefect server
    answers, and announce the judges and agents of a month that end soon.

    on_message: called with a line about an address that does not answer.
    """
    alerts = settings.alerts or Alerts()
    judges = (settings.judge or load_judges().default, settings.extractor)
    names = [name for name in (*judges, *settings.agents) if name]
    while True:
        for ending in list_coming_ends(names, utc_now().date()):
            announce("judge_retiring", ending)
        async with get_client() as client, httpx.AsyncClient() as http:
            if alerts.ping and await client.api_healthcheck() is None:
                try:
                    (await http.get(alerts.read(alerts.ping))).raise_for_status()
                except (httpx.HTTPError, httpx.InvalidURL) as error:  # whose text is the address
                    on_message(f"alerts.ping: {alerts.ping} fails: {type(error).__name__}.")
        await asyncio.sleep(PING_SECONDS)


async def _save_blocks(client: PrefectClient, alerts: Alerts) -> dict[str, UUID]:
    """Save the addresses in blocks, which Prefect encrypts, and delete those that are not named any
    more; return the blocks' ids by channel."""
    blocks: dict[str, Webhook | SendgridEmail] = {
        channel: Webhook(url=SecretStr(alerts.read(name)), headers=SecretDict(JSON))
        for channel, name in (("webhook", alerts.webhook), ("chat", alerts.chat))
        if name
    }
    if mail := alerts.sendgrid:
        blocks["sendgrid"] = SendgridEmail(
            api_key=SecretStr(alerts.read(mail.key)),
            sender_email=alerts.read(mail.sender),
            to_emails=alerts.read(mail.recipients).replace(" ", "").split(","),
        )
    for channel, kind in CHANNELS.items():
        if channel not in blocks:
            with suppress(ObjectNotFound):
                slug, name = kind.get_block_type_slug(), f"evergreen-{channel}"
                former = await client.read_block_document_by_name(name, slug)
                await client.delete_block_document(former.id)
    return {
        channel: await block.asave(f"evergreen-{channel}", overwrite=True, client=client)
        for channel, block in blocks.items()
    }


def _build(alert: Alert, alerts: Alerts, blocks: Mapping[str, UUID]) -> AutomationCore:
    """Build the automation of an alert, with an action for each block."""
    title, ui = TITLES[alert], find_ui_url()
    url = f"('{ui}/runs/flow-run/' ~ flow_run.id if flow_run else '{ui}')"
    text = f"('{title}: ' ~ {NAME} ~ '. ' ~ {url})"
    body = f"{{{{ {text} }}}}"
    payloads = {
        "webhook": f'{{"alert": "{alert}", "name": {{{{ {NAME}|tojson }}}}, '
        f'"run": {{{{ flow_run.id|string|tojson }}}}, "url": {{{{ {url}|tojson }}}}}}',
        "chat": f'{{"text": {{{{ {text}|tojson }}}}}}',
    }
    actions: list[ActionTypes] = [
        CallWebhook(block_document_id=block, payload=payloads[channel])
        if channel in payloads
        else SendNotification(block_document_id=block, subject=title, body=body)
        for channel, block in blocks.items()
    ]
    return AutomationCore(
        name=f"evergreen: {alert}",
        description="Made by `evergreen serve` from `alerts` in configs/refresh.yaml.",
        tags=[TAG],
        trigger=_build_trigger(alert, alerts.late_minutes),
        actions=actions,
    )


def _build_trigger(alert: Alert, late_minutes: int) -> EventTrigger:
    each: dict[str, Any] = {"for_each": {"prefect.resource.id"}, "within": ONCE}
    if alert == "failed":
        # By the type of the state: its name may be another one, such as `Partial`.
        types = {"prefect.state-type": ["FAILED", "CRASHED"]}
        return EventTrigger(
            expect={"prefect.flow-run.*"}, match=types, match_related=[*OURS], **each
        )
    if alert == "late":
        late = each | {"within": timedelta(minutes=late_minutes), "posture": Posture.Proactive}
        return EventTrigger(
            after={"prefect.flow-run.Late"}, expect=BEGUN, match_related=[*OURS], **late
        )
    return EventTrigger(expect={f"evergreen.{alert}"}, **each)


async def _list_ours(client: PrefectClient) -> list[Automation]:
    found = [each for each in await client.read_automations() if TAG in each.tags]
    return sorted(found, key=lambda each: each.id)

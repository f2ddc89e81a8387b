"""Agents that can be asked now: with their keys, their places and the run's budget."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tasks.agents.agent import AgentClient
from tasks.agents.kinds import Place, open_agent
from tasks.configuration.agents import (
    ApiAsk,
    AskEntry,
    FileDropAsk,
    HttpAsk,
    agent_entry,
    load_agents,
)
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.secrets import how_to_give, secret
from tasks.costs.budget import budget_of
from tasks.jobs.run import Asker
from tasks.models.errors import Misconfigured, NoPrice
from tasks.warehouse.location import Where, location
from tasks.warehouse.snapshot import export_edition, latest_snapshot
from tasks.warehouse.store import Warehouse

_askers: dict[tuple[Warehouse, str, str], Asker] = {}


def ask_of(agent: str) -> AskEntry:
    """How an agent is asked.

    Raises:
        ConfigurationError: nothing is known of it, or its reports are only imported.
    """
    ask = agent_entry(agent).ask
    if ask is None:
        raise ConfigurationError(
            f"configs/agents.yaml: {agent} has no `ask`: its reports are imported. Bring them in "
            f"with `evergreen import reports PATH --agent {agent} --edition EDITION`, or say "
            "there how it is asked."
        )
    return ask


def check_agents(agents: Sequence[str], budget_usd: float | None) -> None:
    """Refuse what cannot end well, before anything is asked.

    Raises:
        ConfigurationError: an agent that cannot be asked.
        Misconfigured: it has no key.
        NoPrice: there is a budget, but nobody knows what its reports cost.
    """
    for agent in agents:
        ask = ask_of(agent)
        if isinstance(ask, ApiAsk | HttpAsk):
            needed = ask.key_env if ask.key_required and not ask.key_block else None
            if needed and not os.environ.get(needed, "").strip():
                raise Misconfigured(f"The agent {agent} has no key: set the variable {needed}.")
        free = ask.repeatable or isinstance(ask, FileDropAsk)
        if budget_usd is not None and ask.price is None and not free:
            raise NoPrice(
                f"configs/agents.yaml: {agent} has no `price`, so a budget cannot be kept. Say "
                "what a report costs (`most_usd`), or run without --budget."
            )


@asynccontextmanager
async def asking(
    warehouse: Warehouse,
    edition: str,
    agent: str,
    on_message: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Asker]:
    """While open, `asker` gives this agent; closing waits for what is being paid for.

    on_message: called after each try that surely started nothing.

    Raises:
        ConfigurationError, Misconfigured: see `check_agents`.
    """
    ask = ask_of(agent)
    key = (warehouse, edition, agent)
    if key in _askers:
        raise Misconfigured(
            f"{agent} is being asked about {edition} in this process already: two would buy each "
            "report twice. Wait for that run to end."
        )
    opened = Asker(
        agent=agent,
        kind=ask.kind,
        ask=ask,
        client=await open_asked(agent, ask, place_of(warehouse, edition, ask)),
        warehouse=warehouse,
        budget=budget_of(warehouse),
        reply=load_agents().clarification_reply,
        on_message=on_message,
    )
    _askers[key] = opened
    try:
        async with opened.closing():
            yield opened
    finally:
        del _askers[key]


def asker(warehouse: Warehouse, edition: str, agent: str) -> Asker:
    """The agent as it is open for an edition: how a task reaches it by key."""
    return _askers[warehouse, edition, agent]


async def open_asked(agent: str, ask: Any, place: Place) -> AgentClient:
    """The agent's client, with its key.

    Raises:
        Misconfigured: it has none.
    """
    key: str | None = None
    if isinstance(ask, ApiAsk | HttpAsk):
        key = await secret(ask.key_env, ask.key_block)
        wanted = ask.key_required and (ask.key_env or ask.key_block)
        if key is None and wanted:
            how = how_to_give(ask.key_env, ask.key_block)
            raise Misconfigured(f"The agent {agent} has no key: {how}.")
    return open_agent(agent, ask, key, place)


def place_of(warehouse: Warehouse, edition: str, ask: Any) -> Place:
    """Where an agent may work; one that reads the archive gets the edition's snapshot."""
    archive: Path | None = None
    if getattr(ask, "archive", False):
        archive = latest_snapshot(warehouse.location, edition)
        if not (archive / "pages.parquet").exists():
            export_edition(warehouse, edition)
    return Place(work=work_folder(warehouse.location), archive=archive)


def work_folder(warehouse: Where) -> Path:
    """Where programs work: `agents/<the warehouse's name>` beside it."""
    return location(warehouse).beside("agents")

"""Open job runners: agents with their keys, working folders and the run's budget."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tasks.agents.agent import AgentClient
from tasks.agents.command.settings import CommandAsk
from tasks.agents.endings import find_agent_ending
from tasks.agents.kind import AgentFolders, Ask
from tasks.agents.kinds.file_drop import FileDropAsk
from tasks.agents.registry import AgentEntry, EndedAsk, get_agent_entry, load_agents, open_agent
from tasks.configuration.budgets import to_limit
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.inversion import load_inversion
from tasks.configuration.secrets import KeySettings
from tasks.jobs.run import JobRunner
from tasks.models.errors import Misconfigured, UnknownPrice
from tasks.run import RunContext
from tasks.sandbox.program_archive import make_program_archive
from tasks.scoring.agent_models import load_models
from tasks.warehouse.location import DuckDBFile, LocationLike, parse_location
from tasks.warehouse.pages import Page, SeedPage
from tasks.warehouse.rows import Article, Assignment, Citation, utc_now
from tasks.warehouse.rubrics import ClickedDocument
from tasks.warehouse.snapshot import export_edition, is_snapshot_current, latest_snapshot
from tasks.warehouse.store import Warehouse
from tasks.warehouse.truths import GroundTruth

ARCHIVE_TABLES = (Article, Assignment, Citation, ClickedDocument, GroundTruth, Page, SeedPage)
"""The tables that determine what programs may read."""


def load_ask_entry(agent: str) -> Ask:
    """Load the `ask` entry of an agent.

    Raises:
        ConfigurationError: the agent is unknown, its reports are only imported, or its kind has
            ended.
    """
    entry = get_agent_entry(agent)
    ask = entry.ask
    if isinstance(ask, EndedAsk):
        raise _ended_error(agent, entry)
    if ask is None:
        raise ConfigurationError(
            f"configs/agents.yaml: {agent} has no `ask`: its reports are imported. Import them "
            f"with `evergreen import reports PATH --agent {agent} --edition EDITION`, or add "
            "an `ask` entry there."
        )
    return ask


def _ended_error(agent: str, entry: AgentEntry) -> ConfigurationError:
    ending = find_agent_ending(entry)
    said = ending.describe(agent, utc_now().date()) if ending else f"{agent} has ended"
    advice = "If it still answers, set a later `retires`."
    if isinstance(entry.ask, EndedAsk):
        advice = f"Evergreen no longer asks agents of its kind, `{entry.ask.kind}`."
    return ConfigurationError(
        f"configs/agents.yaml: {said}. Ask another agent; its reports and jobs stay. {advice}"
    )


def check_agents(agents: Sequence[str], budget_usd: float | None) -> None:
    """Check that agents can be asked.

    Raises:
        ConfigurationError: an agent has no `ask` entry, or has ended.
        Misconfigured: it has no key.
        UnknownPrice: there is a budget, but the price of its reports is unknown.
    """
    for agent in agents:
        ask: Any = load_ask_entry(agent)
        entry = get_agent_entry(agent)
        if (ending := find_agent_ending(entry)) and ending.ends <= utc_now().date():
            raise _ended_error(agent, entry)
        if isinstance(ask, KeySettings) and (unset := ask.unset_variable):
            raise Misconfigured(f"The agent {agent} has no key: set the variable {unset}.")
        free = ask.repeatable or isinstance(ask, FileDropAsk)
        if to_limit(budget_usd) is not None and ask.price is None and not free:
            raise UnknownPrice(
                f"configs/agents.yaml: {agent} has no `price`, so a budget cannot be kept. Set "
                "what a report costs (`most_usd`), or run without --budget."
            )


@asynccontextmanager
async def open_job_runner(
    run: RunContext, edition: str, agent: str, *, only_looks: bool = False
) -> AsyncIterator[JobRunner]:
    """Open an agent; closing waits for requests that are being paid for.

    only_looks: start nothing, and look at each job without waiting for its end.

    Raises:
        ConfigurationError, Misconfigured: see `check_agents`.
    """
    ask, store = load_ask_entry(agent), run.store
    if (edition, agent) in store.asked_agents:
        raise Misconfigured(
            f"{agent} is being asked about {edition} in this process already: two would buy each "
            "report twice. Wait for that run to end."
        )
    if isinstance(ask, CommandAsk) and (exposure := ask.describe_exposure()):
        run.warn(f"{agent}: {exposure}.")
    runner = JobRunner(
        run=run,
        agent=agent,
        ask=ask,
        client=await open_agent_client(agent, ask, await prepare_workplace(store, edition, ask)),
        reply=load_agents().clarification_reply,
        only_looks=only_looks,
        models=load_models(store, edition).get(agent, []),
    )
    store.asked_agents.add((edition, agent))
    try:
        async with runner.closing():
            yield runner
    finally:
        store.asked_agents.remove((edition, agent))


async def open_agent_client(agent: str, ask: Any, place: AgentFolders) -> AgentClient:
    """Open the agent's client with its key.

    Raises:
        Misconfigured: the key is missing.
    """
    key: str | None = None
    if isinstance(ask, KeySettings):
        key = await ask.load_key()
        if key is None and (how := ask.describe_setup()):
            raise Misconfigured(f"The agent {agent} has no key: {how}.")
    return open_agent(agent, ask, key, place)


async def prepare_workplace(warehouse: Warehouse, edition: str, ask: Any) -> AgentFolders:
    """Prepare an agent's folders; if it reads the archive, a copy without what is banned.

    Raises:
        Misconfigured: it is to be given the articles' sources, and none was fetched yet.
        SandboxError: what is banned cannot be read.
    """
    work = parse_location(warehouse.location).subfolder("agents")
    archive: Path | None = None
    if getattr(ask, "archive", False):
        given_sources = ask.archive == "references"
        if given_sources and not warehouse.rows(SeedPage, "edition = $1", [edition]):
            raise Misconfigured(
                "No page of the articles' references was fetched for an agent with `archive: "
                f"references`. `evergreen refresh --edition {edition}` fetches them, then asks it."
            )
        if not is_snapshot_current(warehouse, edition, ARCHIVE_TABLES):
            export_edition(warehouse, edition)
        snapshot = latest_snapshot(warehouse.location, edition)
        archive = await asyncio.to_thread(
            make_program_archive,
            snapshot.resolve(),
            work / ".archives" / snapshot.parent.name,
            load_inversion(),
            given_sources=given_sources,
        )
    return AgentFolders(work=work, archive=archive, private=list_private(warehouse.location))


def list_private(warehouse: LocationLike) -> tuple[Path, ...]:
    """List what no agent's program may read: the warehouse and all that belongs to it."""
    where = parse_location(warehouse)
    kinds = ("agents", "exports", "files", "pages", "sandbox", "audit")  # of earlier versions
    prefect = os.environ.get("PREFECT_HOME")
    return (
        where.path if isinstance(where, DuckDBFile) else where.root,
        *(where.subfolder(kind) for kind in kinds),
        *([Path(prefect)] if prefect else []),
    )

"""Months in this process: the flow and the command, in a world of their own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tasks.agents.registry import get_agent_entry, load_agents
from tasks.configuration.models import load_judges
from tasks.configuration.web import load_web
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.refresh import load_refresh
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.models.prices import load_prices
from tests.changed_configs import reading
from tests.flows.plain_prefect import Artifacts
from tests.rigs.month_places import SINCE, UNTIL, month_pages
from tests.rigs.month_world import World, world
from tests.rigs.paper_wiki import paper_wiki

EDITION = "2025-12"
ARTICLES = 2
READ_HERE = (get_agent_entry, load_judge, load_judge_entry, load_agents, load_judges, load_prices,
             load_refresh, load_web, load_wikipedia)  # fmt: skip


@contextmanager
def lived_in(outside: World) -> Iterator[World]:
    """This process reads that world's configuration, and finds everybody in it."""
    with reading(outside.configs, *READ_HERE), pytest.MonkeyPatch.context() as patch:
        for name, value in outside.environment.items():
            patch.setenv(name, value)
        yield outside


@contextmanager
def small_world(folder: Path) -> Iterator[World]:
    """Articles for two months on a wiki on paper, judged without a model; this process lives in
    it."""
    with (
        paper_wiki(month_pages(2 * ARTICLES)) as wiki,
        world(folder, wiki, judge="offline", articles=ARTICLES) as found,
        lived_in(found),
    ):
        yield found


def renew(outside: World) -> None:
    """As it was in the beginning, for the next test."""
    outside.scripts.clear()
    outside.configure(publish={"to": str(site_of(outside))})
    outside.renewed()


def site_of(outside: World) -> Path:
    return outside.configs.parent / "site"


def collect(path: Path) -> None:
    """The edition's articles, frozen."""
    from flows.collect import collect as flow

    running: Any = flow(
        edition=EDITION, created_from=SINCE, created_to=UNTIL, articles=ARTICLES,
        warehouse=str(path), return_state=True,
    )  # fmt: skip
    state: Any = asyncio.run(running)
    assert state.name == "Completed", state.message


def steps_of(artifacts: Artifacts) -> dict[str, str]:
    """How each step of the last run ended, by the table that it has left."""
    rows = [each["table"] for each in artifacts if each["key"] == "steps"][-1]
    return {row["step"]: row["ended"] for row in rows}


def refresh(path: Path, **parameters: Any) -> Any:
    """The flow; its final state."""
    from flows.refresh import refresh as flow

    async def run() -> Any:
        asked: dict[str, Any] = {
            "edition": EDITION, "created_from": SINCE, "created_to": UNTIL, "warehouse": str(path),
        }  # fmt: skip
        return await flow(**asked | parameters, return_state=True)

    return asyncio.run(run())

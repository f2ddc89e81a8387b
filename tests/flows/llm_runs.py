"""Evaluations of the sample edition by LLM judges whose models are the servers of tests/servers."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.configuration.models import load_judges
from tasks.imports.wlc import import_edition
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.models.prices import load_prices
from tasks.warehouse.store import open_warehouse
from tests.changed_configs import copy_configs, reading
from tests.flows.plain_evaluation import evaluate_plainly
from tests.sample_edition import PART
from tests.servers.base import ModelServer
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.serving import serving

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = PART
URL, KEY = "EVERGREEN_TEST_URL", "EVERGREEN_TEST_KEY"
KINDS: dict[str, tuple[str, type[ModelServer], str]] = {
    "gemini": ("gemini", GeminiServer, ""),
    "openai": ("openai_chat", OpenAiServer, "/v1"),
}
"""Judge and provider by name: kind in `judges.yaml`, server, what its address ends in."""
MODEL = "test-model"
QUICK = {"tries": 8, "first_wait_seconds": 0.05, "longest_wait_seconds": 0.3}


def write_configs(folder: Path, *, default: str = "offline", **changes: Any) -> Path:
    """A copy of the project's configuration with these judges more, and one without a price.

    default: the default judge. changes: keys of the judges' entries.
    """
    entry = {
        "title": "a test's judge", "model": MODEL, "base_url_env": URL, "key_env": KEY,
        "context_tokens": 1_000_000, "temperature": 0, "timeout_seconds": 2, "retries": QUICK,
        "limits": {"concurrency": 16}, "source": "made for tests", "checked": "2026-11-21",
    } | changes  # fmt: skip
    pinned = entry | {"kind": "gemini", "provider": "gemini", "answers_as": MODEL}
    judges = {
        **{name: entry | {"kind": kind, "provider": name} for name, (kind, _, _) in KINDS.items()},
        "pinned": pinned,
        "hasty": pinned | {"retries": QUICK | {"tries": 2}},
        "messages": entry | {"kind": "anthropic", "provider": "anthropic", "temperature": None},
        "priceless": entry | {"kind": "gemini", "provider": "nobody"},
    }
    prices = [
        {
            "provider": name, "model": MODEL, "since": "2026-01-01",
            "live": {"input": 1.0, "output": 10.0}, "source": "invented", "checked": "2026-11-21",
        }
        for name in KINDS
    ]  # fmt: skip
    return copy_configs(
        folder,
        judges=lambda s: s.update(judges=s["judges"] | judges, default=default),
        prices=lambda s: s["prices"].extend(prices),
    )


def configured(configs: Path) -> AbstractContextManager[None]:
    """This process and those it starts read `configs`."""
    return reading(configs, load_judges, load_prices, load_judge_entry, load_judge)


def prepared_sample(folder: Path, source: Path = SAMPLE) -> Path:
    """The sample edition with all that comes before an LLM judge: claims, style figures."""
    path = folder / "prepared_sample.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, source, "sample")
    evaluate_plainly(path, ("wiki_fact",))
    return path


@contextmanager
def at_hand(server: ModelServer, kind: str) -> Iterator[str]:
    """Serve; the judges' address and key are set meanwhile. Gives the server's bare address."""
    with serving(server) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv(URL, address + KINDS[kind][2])
        patch.setenv(KEY, server.key or "")
        yield address


def evaluate(path: Path, judge_name: str, **parameters: Any) -> Any:
    """The flow in this process; its final state."""
    from flows.evaluate import evaluate as flow

    async def run() -> Any:
        chosen = {"edition": "sample", "warehouse": str(path), "judge": judge_name} | parameters
        return await flow(**chosen, return_state=True)

    return asyncio.run(run())


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def value(path: Path, sql: str) -> Any:
    return rows(path, sql)[0][0]


def verdicts(path: Path) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """By protocol, agent, assignment, step and item: label, status and reason."""
    found = rows(
        path,
        "SELECT protocol, agent, assignment, step, item, label, status, reason FROM verdicts "
        "WHERE judge <> 'offline'",
    )
    return {tuple(row[:5]): tuple(row[5:]) for row in found}


def environment(configs: Path, home: Path, **more: str) -> dict[str, str]:
    """For a process of its own that judges by `configs`."""
    return {
        **os.environ,
        "EVERGREEN_CONFIGS": str(configs),
        "EVERGREEN_PREFECT_HOME": str(home),
        **more,
    }

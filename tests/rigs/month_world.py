"""All that a month needs outside, on loopback: a wiki, pages to cite, two agents behind interfaces
of different kinds, and a judge's model with faults. Each counts what it is asked.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from tests.changed_configs import change, copy_configs
from tests.rigs.month_places import Sources
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.http import Handler, Request, Response
from tests.servers.job_openai import OpenAiJobs
from tests.servers.job_perplexity import PerplexityJobs
from tests.servers.jobs import JobScript, JobServer
from tests.servers.openai import OpenAiServer
from tests.servers.serving import serving

ROOT = Path(__file__).resolve().parents[2]
ARTICLES = 3
JUDGE, BASELINE = "month_judge", "lexical_baseline"
AGENTS = ("month_openai", "month_perplexity")
KEY = "EVERGREEN_MONTH_KEY"
ADDRESSES = {name: f"EVERGREEN_{name.upper()}_URL" for name in (*AGENTS, JUDGE)}


class Standing:
    """A server that can be replaced by a new one under its address: the month after."""

    def __init__(self) -> None:
        self.server: Handler | None = None

    def __call__(self, request: Request) -> Response:
        assert self.server is not None
        return self.server(request)


class Wiki(Protocol):
    """The real one or one on paper."""

    @property
    def api(self) -> str: ...
    def requests(self) -> list[dict[str, Any]]: ...
    def calm(self) -> None: ...


@dataclass
class World:
    """What is outside: `renewed` for each month."""

    wiki: Wiki
    sources: Sources
    configs: Path
    environment: dict[str, str]
    scripts: dict[str, JobScript]
    faults: tuple[str, ...]
    delay_seconds: float
    n_articles: int
    agents: dict[str, JobServer] = field(default_factory=dict)
    model: ModelServer = field(default_factory=OpenAiServer)
    _standing: dict[str, Standing] = field(default_factory=dict)

    def renewed(self) -> "World":
        """Nobody has been asked anything; the same faults are in store again."""
        self.wiki.calm()
        self.sources.asked.clear()
        for name, kind, chosen, dead in (
            (AGENTS[0], OpenAiJobs, range(8), False),
            (AGENTS[1], PerplexityJobs, range(4, 14), True),
        ):

            def report(prompt: str, chosen: range = chosen, dead: bool = dead) -> str:
                return self.sources.report(prompt, chosen, dead)

            self.agents[name] = kind(self.scripts.get(name), report=report)
            self._standing[name].server = self.agents[name]
        self.model = OpenAiServer(
            delay_seconds=self.delay_seconds,
            faults=FaultPlan(faults=self.faults, share=0.2, hint_seconds=0.1),
        )
        self._standing[JUDGE].server = self.model
        return self

    def configure(self, **refresh: Any) -> None:
        """Change these keys of `configs/refresh.yaml`."""
        change(self.configs / "refresh.yaml", lambda settings: settings.update(refresh))

    def counts(self) -> dict[str, int]:
        """What was asked of everybody so far, in all and without what was asked again."""
        model = self.model.log.summary()
        wiki = [str(sorted(asked["post"].items())) for asked in self.wiki.requests()]
        return {
            "wiki": len(wiki),
            "different wiki": len({*wiki}),
            **{f"jobs {name}": server.n_made for name, server in self.agents.items()},
            "pages": self.sources.asked.total(),
            "different pages": len(self.sources.asked),
            "answers": model["answered"] + model["lost"] + model["under_way"],
            "different questions": model["questions"],
        }


@contextmanager
def world(
    folder: Path,
    wiki: Wiki,
    *,
    slow: float = 0.0,
    delay_seconds: float = 0.0,
    scripts: dict[str, JobScript] | None = None,
    faults: tuple[str, ...] = (),
    **refresh: Any,
) -> Iterator[World]:
    """Everybody serves for as long as the block lasts.

    Args:
        slow: seconds that a page takes.
        delay_seconds: that an answer of the judge's model takes.
        scripts: how agents' jobs go.
        faults: of the judge's model, for every fifth question.
        refresh: of `configs/refresh.yaml`, over what is set here.
    """
    sources = Sources(slow)
    standing = {name: Standing() for name in (*AGENTS, JUDGE)}
    with ExitStack() as stack:
        sources.address = stack.enter_context(serving(sources))
        addresses = {name: stack.enter_context(serving(each)) for name, each in standing.items()}
        environment = {ADDRESSES[name]: address for name, address in addresses.items()}
        environment[ADDRESSES[JUDGE]] += "/v1"
        environment[ADDRESSES[AGENTS[0]]] += "/v1"
        configs = write_configs(folder, wiki.api, sources.address, refresh)
        environment |= {KEY: "test-key", "EVERGREEN_CONFIGS": str(configs)}
        yield World(
            wiki=wiki, sources=sources, configs=configs, environment=environment,
            scripts=scripts or {}, faults=faults, delay_seconds=delay_seconds,
            n_articles=int(refresh.get("articles", ARTICLES)), _standing=standing,
        ).renewed()  # fmt: skip


def write_configs(folder: Path, wiki_api: str, pages: str, refresh: dict[str, Any]) -> Path:
    """The project's configuration with this world in it."""
    quick = {"first_wait_seconds": 0.05, "longest_wait_seconds": 1.0}
    usual = {
        "agents": [*AGENTS, BASELINE], "judge": JUDGE, "articles": ARTICLES, "schedule": None,
        "extractor": "offline",
        "publish": {"to": str(folder / "site")},
    }  # fmt: skip
    price = {
        "provider": JUDGE, "model": JUDGE, "since": "2026-01-01",
        "live": {"input": 1.0, "output": 10.0}, "source": "invented", "checked": "2026-11-21",
    }  # fmt: skip
    return copy_configs(
        folder,
        wikipedia=lambda s: s.update(
            operator="rig@example.org", api_url=wiki_api, pageviews_url=None,
            requests=s["requests"] | quick | {"per_second": 500.0},
        ),
        web=lambda s: s.update(
            operator="rig@example.org", allowed={"hosts": [urlsplit(pages).netloc]},
            manners=s["manners"] | quick | {"seconds_between": 0, "per_host": 4},
            reading=s["reading"] | {"workers": 1},
        ),
        agents=_with_agents,
        judges=lambda s: s["judges"].update({JUDGE: _judge()}),
        prices=lambda s: s["prices"].append(price),
        refresh=lambda s: s.update(usual | refresh),
    )  # fmt: skip


def _with_agents(settings: dict[str, Any]) -> None:
    limits = {
        "concurrency": 12, "first_poll_seconds": 0.2, "longest_poll_seconds": 0.5,
        "first_wait_seconds": 0.05, "timeout_seconds": 5, "deadline_minutes": 5,
    }  # fmt: skip
    price = {
        "typical_usd": 2, "most_usd": 5, "tokens": {"input": 2, "output": 10},
        "source": "invented", "checked": "2026-11-21",
    }  # fmt: skip
    for name, kind in zip(AGENTS, ("openai_responses", "perplexity"), strict=True):
        ask = {"kind": kind, "model": "test-model", "base_url_env": ADDRESSES[name],
               "key_env": KEY, "limits": limits, "price": price}  # fmt: skip
        settings["agents"][name] = {"name": f"Test {name}", "ask": ask}
    quick = {"first_poll_seconds": 0.3, "longest_poll_seconds": 1.0}
    settings["agents"][BASELINE]["ask"]["limits"] |= quick


def _judge() -> dict[str, Any]:
    return {
        "kind": "openai_chat", "title": "a rig's judge", "provider": JUDGE, "model": JUDGE,
        "base_url_env": ADDRESSES[JUDGE], "key_env": KEY, "context_tokens": 1_000_000,
        "temperature": 0, "timeout_seconds": 5, "limits": {"concurrency": 8},
        "retries": {"tries": 8, "first_wait_seconds": 0.05, "longest_wait_seconds": 0.3},
        "source": "made for a test", "checked": "2026-11-21",
    }  # fmt: skip


def environment_of(outside: World, home: Path, **more: str) -> dict[str, str]:
    """For a process of its own."""
    return {**os.environ, **outside.environment, "EVERGREEN_PREFECT_HOME": str(home), **more}

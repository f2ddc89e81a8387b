"""The judges and agents that are asked over HTTP: where, with which key, and how much depends on
each of them."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tasks.agents.kind import ApiAsk
from tasks.agents.kinds.http import HttpAsk
from tasks.agents.registry import load_agents
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.configuration.secrets import KeySettings, read_address
from tasks.editions.refresh import load_refresh
from tasks.judging.clients import DEFAULT_URLS
from tasks.warehouse.store import Readable

GEMINI_URL = "https://generativelanguage.googleapis.com"
USED = """
SELECT DISTINCT judge FROM cells UNION SELECT DISTINCT judge FROM calls
UNION SELECT DISTINCT agent FROM jobs
"""
Relevance = Literal["required", "used", "unused"]
"""How much depends on a judge or an agent. `required`: the default judge, or scheduled in
configs/refresh.yaml. `used`: the warehouse holds some of its results."""


@dataclass(frozen=True)
class NamesInUse:
    """The names of the judges and agents that are required or were used."""

    required: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()

    def relevance_of(self, names: Iterable[str]) -> Relevance:
        """Return the highest relevance among some names."""
        given = set(names)
        if given & self.required:
            return "required"
        return "used" if given & self.used else "unused"


def find_names_in_use(source: Readable | None, configs: ConfigSource = CONFIGS) -> NamesInUse:
    """Find the names in the configuration and the warehouse (None: there is none), as far as
    these can be read."""
    required: set[str] = set()
    with suppress(ConfigurationError):  # check_configuration reports it
        required.add(load_judges(configs).default)
        settings = load_refresh(configs)
        if settings.schedule:
            required.update(settings.agents, filter(None, [settings.judge, settings.extractor]))
    used = source.frame(USED)["judge"].to_list() if source else []
    return NamesInUse(frozenset(required), frozenset(used))


class HttpService(NamedTuple):
    """A judge or an agent that is asked over HTTP."""

    name: str
    url: str
    is_moved: bool
    """Whether a variable sets the URL."""
    key_env: str | None
    """The variable with its key; null if there is none, or it needs no key."""
    key_block: str | None
    """Likewise the Prefect Secret block."""


def find_services(configs: ConfigSource = CONFIGS) -> Iterator[HttpService]:
    """Yield the judges and agents of the configuration that are asked over HTTP."""
    for name, judge in load_judges(configs).judges.items():
        if isinstance(judge, LlmJudgeEntry):
            default = DEFAULT_URLS.get(judge.kind, GEMINI_URL)
            yield _make_service(name, judge, judge.base_url or default, judge.base_url_env)
    for name, agent in load_agents(configs).agents.items():
        ask = agent.ask
        if isinstance(ask, ApiAsk):
            url = ask.base_url or ask.provider_url
            yield _make_service(name, ask, url, ask.base_url_env)
        elif isinstance(ask, HttpAsk):
            yield _make_service(name, ask, ask.url, ask.url_env)


def _make_service(name: str, entry: KeySettings, url: str, url_env: str | None) -> HttpService:
    moved = read_address(url_env)
    key = (entry.key_env, entry.key_block) if entry.key_required else (None, None)
    return HttpService(name, (moved or url).rstrip("/"), bool(moved), *key)

"""The ends of agents, and those of agents and judges that are near."""

from collections.abc import Collection, Iterator
from datetime import date
from urllib.parse import urlsplit

from tasks.agents.kind import ApiAsk
from tasks.agents.registry import AgentEntry, EndedAsk, load_agents
from tasks.configuration.endings import (
    SOON,
    Ending,
    find_judge_ending,
    find_model_ending,
    load_endings,
    read_own,
)
from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.models import load_judges

HOSTS = {
    "generativelanguage.googleapis.com": "gemini", "api.openai.com": "openai",
    "api.anthropic.com": "anthropic", "api.perplexity.ai": "perplexity",
    "api.deepseek.com": "deepseek",
}  # fmt: skip
"""The providers by their hosts: elsewhere a model of the same name may go on."""


def find_agent_ending(entry: AgentEntry, configs: ConfigSource = CONFIGS) -> Ending | None:
    """Return when an agent ends; None if no end is known."""
    if isinstance(entry.ask, EndedAsk):
        return load_endings(configs).kinds[entry.ask.kind]
    if (own := read_own(entry)) or not isinstance(entry.ask, ApiAsk):
        return own
    provider = HOSTS.get(urlsplit(entry.ask.find_base_url()).hostname or "")
    return find_model_ending(provider, entry.ask.model, configs) if provider else None


def iterate_ends() -> Iterator[tuple[str, Ending]]:
    """Yield the judges and agents whose end is known, each with its end."""
    ends = [(name, find_judge_ending(judge)) for name, judge in load_judges().judges.items()]
    ends += [(name, find_agent_ending(agent)) for name, agent in load_agents().agents.items()]
    yield from ((name, end) for name, end in ends if end)


def list_coming_ends(names: Collection[str], today: date) -> list[str]:
    """Say of those of these judges and agents that end within `SOON` when, and what follows."""
    judges = load_judges().judges
    fallbacks = {getattr(judges.get(name), "fallback", None) for name in names}
    ends = [(name, end) for name, end in iterate_ends() if name in {*names, *fallbacks}]
    return [f"{end.describe(name, today)}." for name, end in ends if end.ends - today <= SOON]

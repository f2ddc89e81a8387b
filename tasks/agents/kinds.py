"""The ways there are to ask an agent, by kind."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tasks.agents.agent import AgentClient, Answer

MODULES = {
    "gemini_deep_research": "tasks.agents.providers.gemini_research",
    "openai_responses": "tasks.agents.providers.openai_responses",
    "xai": "tasks.agents.providers.xai",
    "perplexity": "tasks.agents.providers.perplexity",
    "perplexity_async": "tasks.agents.providers.perplexity_async",
    "chat": "tasks.agents.providers.chat",
    "anthropic": "tasks.agents.providers.anthropic",
    "dashscope": "tasks.agents.providers.dashscope",
    "command": "tasks.agents.command.client",
    "http": "tasks.agents.http_job",
}
"""Kind to the module that knows it; `file_drop` asks nobody. Each has `open_client` and
`read`, and is imported when it is needed: some bring what takes seconds to load."""
READERS = {"gemini_deep_research": "tasks.agents.providers.gemini_answer"}
"""Where `read` has a file of its own, so that reading does not load the provider's SDK."""


@dataclass(frozen=True)
class Place:
    """Where an agent may work on this machine."""

    work: Path
    """A folder for the jobs of programs; each gets one of its own in it."""
    archive: Path | None
    """The latest Parquet snapshot of the edition; None where nothing has been exported."""


def open_agent(agent: str, ask: Any, key: str | None, place: Place) -> AgentClient:
    """What asks the agent.

    ask: its entry's `ask`, of one of the kinds of MODULES. key: None where it needs none.
    """
    opened: Callable[..., AgentClient] = import_module(MODULES[ask.kind]).open_client
    return opened(agent, ask, key, place)


def read_answer(kind: str, raw: str) -> Answer:
    """What an ended job brought.

    raw: as the kind's client gave it.

    Raises:
        UnreadableAnswer: it is not of the form that was expected.
    """
    read: Callable[[str], Answer] = import_module(READERS.get(kind, MODULES[kind])).read
    return read(raw)

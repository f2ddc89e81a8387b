"""The kinds of agents and the modules that implement them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tasks.agents.agent import AgentClient, JobAnswer

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
"""Kind to module; `file_drop` has none. Each module has `open_client` and `read`, and is imported
when it is needed: some take seconds to load."""
READERS = {"gemini_deep_research": "tasks.agents.providers.gemini_answer"}
"""Modules with `read` only, so that reading does not load the provider's SDK."""


@dataclass(frozen=True)
class AgentFolders:
    """The folders that an agent uses on this machine."""

    work: Path
    """The parent of the folders of program jobs."""
    archive: Path | None
    """The edition's latest snapshot; None where nothing has been exported."""


def open_agent(agent: str, ask: Any, key: str | None, folders: AgentFolders) -> AgentClient:
    """Open a client of an agent.

    ask: the `ask` of the agent's entry; its kind is a key of MODULES. key: None if it needs none.
    """
    open_client: Callable[..., AgentClient] = import_module(MODULES[ask.kind]).open_client
    return open_client(agent, ask, key, folders)


def read_answer(kind: str, raw: str) -> JobAnswer:
    """Read the answer of an ended job.

    raw: the answer as the client of that kind returned it.

    Raises:
        UnreadableJobAnswer: it does not have the expected form.
    """
    read: Callable[[str], JobAnswer] = import_module(READERS.get(kind, MODULES[kind])).read
    return read(raw)

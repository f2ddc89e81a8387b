"""The kinds of agents and the modules that implement them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tasks.agents.agent import AgentClient, JobAnswer
from tasks.configuration.agents import CommandAsk
from tasks.configuration.extensions import load_extension
from tasks.models.finish_reasons import describe_doubt

AGENTS: Final = "evergreen.agents"
"""The entry points of kinds that other packages bring: classes with a static method `read`."""
CLIENTS = {
    "gemini_deep_research": ("tasks.agents.providers.gemini_research", "GeminiResearchClient"),
    "openai_responses": ("tasks.agents.providers.openai_responses", "OpenAiResponsesClient"),
    "xai": ("tasks.agents.providers.xai", "XaiClient"),
    "perplexity": ("tasks.agents.providers.perplexity", "PerplexityClient"),
    "chat": ("tasks.agents.providers.chat", "ChatClient"),
    "anthropic": ("tasks.agents.providers.anthropic", "AnthropicClient"),
    "dashscope": ("tasks.agents.providers.dashscope", "DashScopeClient"),
    "http": ("tasks.agents.http_job", "HttpJobClient"),
    "command": ("tasks.agents.command.client", "CommandClient"),
}
"""Kind to module and class; `file_drop` has none. Modules are imported when they are needed: some
take seconds to load."""
READERS = {kind: module for kind, (module, _) in CLIENTS.items()} | {
    # Not where the client is, so that reading does not load the provider's SDK.
    "gemini_deep_research": "tasks.agents.providers.gemini_answer",
    "command": "tasks.agents.command.answer",
}
"""Kind to module with `read`."""
SAYS_FINISH_REASON = frozenset({"chat", "anthropic"})
"""Kinds whose `remote_state` of an ended job is the model's finish reason, if it gave one."""


@dataclass(frozen=True)
class AgentFolders:
    """The folders that an agent uses on this machine."""

    work: Path
    """The parent of the folders of program jobs."""
    archive: Path | None
    """The folder with the pages that its programs may read; None if it reads no archive."""
    private: tuple[Path, ...] = ()
    """What no program may read: the warehouse with all that belongs to it, Prefect's folder."""


def open_agent(agent: str, ask: Any, key: str | None, folders: AgentFolders) -> AgentClient:
    """Open a client of an agent.

    ask: the `ask` of the agent's entry; not a `file_drop`. key: None if it needs none.

    Raises:
        Misconfigured: its entry cannot be used.
    """
    open_client: Callable[..., AgentClient]
    if ask.kind in CLIENTS:
        module, name = CLIENTS[ask.kind]
        open_client = getattr(import_module(module), name)
    else:
        open_client = load_extension(AGENTS, ask.kind)
    return open_client(agent, ask, folders if isinstance(ask, CommandAsk) else key)


def read_answer(kind: str, raw: str) -> JobAnswer:
    """Read the answer of an ended job.

    raw: the answer as the client of that kind returned it.

    Raises:
        UnreadableJobAnswer: it does not have the expected form.
    """
    reader = import_module(READERS[kind]) if kind in READERS else load_extension(AGENTS, kind)
    read: Callable[[str], JobAnswer] = reader.read
    return read(raw)


def describe_doubtful_end(kind: str | None, remote_word: str | None) -> str | None:
    """Say why the report of a job of this kind that ended with this word may not be whole; None if
    nothing speaks against it."""
    return describe_doubt(remote_word) if kind in SAYS_FINISH_REASON else None

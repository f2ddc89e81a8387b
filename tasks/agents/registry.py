"""The kinds of agents, each registered by one line, and `configs/agents.yaml`: the systems under
test, their names and how they are called."""

from datetime import date
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, Union

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from tasks.agents.agent import AgentClient, JobAnswer
from tasks.agents.kind import AgentFolders, AgentKind, Ask
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.extensions import EXTENSION, check_kind, find_tag, load_extension
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.configuration.secrets import KeySettings
from tasks.errors import suggest_names
from tasks.foreign_text import HIDDEN, find_hidden
from tasks.models.answer_metadata import describe_doubt

KINDS = {
    "gemini_deep_research": "tasks.agents.kinds.gemini_deep_research",
    "openai_responses": "tasks.agents.kinds.openai_responses",
    "xai": "tasks.agents.kinds.xai",
    "perplexity": "tasks.agents.kinds.perplexity",
    "chat": "tasks.agents.kinds.chat",
    "anthropic": "tasks.agents.kinds.anthropic",
    "dashscope": "tasks.agents.kinds.dashscope",
    "command": "tasks.agents.command.client",
    "http": "tasks.agents.kinds.http",
    "file_drop": "tasks.agents.kinds.file_drop",
}
"""Kind → the module with its `KIND`. `AskEntry` and the reference of settings follow this order."""
GROUP: Final = "evergreen.agents"
"""The entry points of kinds that other packages bring: classes with a static method `read`."""


@cache
def find_kind(kind: str) -> AgentKind:
    """Return a kind of agents by its name.

    Raises:
        ConfigurationError: there is none, built in or in an installed package.
    """
    if kind in KINDS:
        found: AgentKind = import_module(KINDS[kind]).KIND
        return found
    brought = load_extension(GROUP, kind)
    return AgentKind(ExtensionAsk, brought, brought.read)


def open_agent(agent: str, ask: Ask, key: str | None, folders: AgentFolders) -> AgentClient:
    """Open a client of an agent.

    ask: the `ask` of the agent's entry; not a `file_drop`. key: None if it needs none.

    Raises:
        Misconfigured: its entry cannot be used.
    """
    kind = find_kind(ask.kind)
    assert kind.client, f"{ask.kind} has no client"
    return kind.client(agent, ask, folders if kind.runs_here else key)


def read_answer(kind: str, raw: str) -> JobAnswer:
    """Read the answer of an ended job.

    raw: the answer as the client of that kind returned it.

    Raises:
        UnreadableJobAnswer: it does not have the expected form.
    """
    read = find_kind(kind).read
    assert read, f"{kind} has no jobs"
    return read(raw)


def describe_doubtful_end(kind: str | None, remote_word: str | None) -> str | None:
    """Say why the report of a job of this kind that ended with this word may not be whole; None if
    nothing speaks against it."""
    known = kind in KINDS and find_kind(kind).says_finish_reason
    return describe_doubt(remote_word) if known else None


class ExtensionAsk(Ask, KeySettings):
    kind: str
    """A client that another package brings: its entry point in the group `evergreen.agents`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Passed to the client as they are."""

    @field_validator("kind")
    @classmethod
    def _check_kind(cls, kind: str) -> str:
        return check_kind(kind, GROUP, (*KINDS,))


class EndedAsk(Ask, extra="allow"):
    kind: Literal["perplexity_async"]
    """An interface that has ended (`configs/endings.yaml`): its reports and jobs stay."""


ENDED_KINDS = ("perplexity_async",)
if TYPE_CHECKING:
    AskEntry = Ask
else:
    AskEntry = Annotated[
        Union[
            *(Annotated[find_kind(name).settings, Tag(name)] for name in KINDS),
            *(Annotated[EndedAsk, Tag(name)] for name in ENDED_KINDS),
            Annotated[ExtensionAsk, Tag(EXTENSION)],
        ],
        Discriminator(find_tag((*KINDS, *ENDED_KINDS))),
    ]


class AgentEntry(ConfigModel):
    """A system under test; its key is the id of its reports' agent."""

    name: str
    maker: str | None = None
    ask: AskEntry | None = None
    """How to call it; null: its reports are imported."""
    unranked: str | None = None
    """Why boards list it apart, without a rank; null: it is ranked."""
    notes: str | None = None
    retires: date | None = None
    """From this day on it is not asked. Null: as `configs/endings.yaml` says of its model."""
    successor: str | None = None
    """The agent or model that follows it when it retires."""
    source: str | None = None
    """The source of its name, limits and prices."""
    checked: date | None = None

    @model_validator(mode="after")
    def _check_given_sources(self) -> Self:
        if getattr(self.ask, "archive", False) == "references" and not self.unranked:
            raise ValueError(
                "expected a reason under `unranked`, because `archive: references` gives this "
                "agent the articles' sources, which the others have to find."
            )
        return self


class Agents(ConfigModel):
    clarification_reply: str = Field(min_length=1)
    """The reply to an agent's question, sent once."""
    agents: dict[str, AgentEntry]

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for agent, entry in self.agents.items():
            if hidden := find_hidden(agent) or find_hidden(entry.name):
                raise ValueError(f"expected visible names; of {hidden}, {HIDDEN}")
        return self


def load_agents(configs: ConfigSource = CONFIGS) -> Agents:
    return load_merged("agents.yaml", Agents, configs)


def get_agent_entry(agent: str, configs: ConfigSource = CONFIGS) -> AgentEntry:
    """Return an agent's entry.

    Raises:
        ConfigurationError: there is no such agent.
    """
    agents = load_agents(configs).agents
    if agent not in agents:
        raise ConfigurationError(
            f"There is no agent {agent!r} in {find_file('agents.yaml', configs)}. "
            f"{suggest_names(agent, agents)}"
        )
    return agents[agent]


def find_agent_name(agent: str) -> str:
    """Return the name under which an agent is shown: its id, unless it is configured."""
    entry = load_agents().agents.get(agent)
    return entry.name if entry else agent

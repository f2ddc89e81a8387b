"""`configs/agents.yaml`: the systems under test, how they are shown and how they are asked."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured, load


class AgentLimits(Configured):
    """What an account may ask of an agent, and how patient we are."""

    concurrency: PositiveInt = 4
    """Jobs under way at once."""
    timeout_seconds: PositiveFloat = 60
    """Of one HTTP request; of the whole report where the interface answers in one request."""
    deadline_minutes: PositiveFloat = 90
    """Until a job that has not ended is left alone; later runs look at it once more each."""
    first_poll_seconds: PositiveFloat = 10
    """Before a job is first looked at; it grows by half each time."""
    longest_poll_seconds: PositiveFloat = 60
    start_tries: PositiveInt = 8
    """For answers that surely started nothing (429, no connection)."""
    first_wait_seconds: PositiveFloat = 5
    """Before the second try; doubled each time, a server's hint is never undercut."""
    longest_hint_seconds: PositiveFloat = 900
    """A server that asks for more than this means tomorrow: the stage stops."""


class TokenRates(Configured):
    """USD per million tokens."""

    input: NonNegativeFloat
    cached_input: NonNegativeFloat | None = None
    """Null: as other input."""
    output: NonNegativeFloat
    reasoning: NonNegativeFloat | None = None
    """Null: as output."""
    citation: NonNegativeFloat = 0.0


class AgentPrice(Configured):
    """What a report costs."""

    typical_usd: NonNegativeFloat
    """For estimates, until enough reports of it are in the warehouse."""
    most_usd: NonNegativeFloat
    """Set aside for each report while a budget is kept; what it really was takes its place."""
    tokens: TokenRates | None = None
    """Null where the interface says what a report cost, or nobody knows."""
    usd_per_thousand_searches: NonNegativeFloat = 0.0
    source: str
    checked: date


class Ask(Configured):
    """What all kinds of asking have."""

    limits: AgentLimits = AgentLimits()
    price: AgentPrice | None = None
    """Null: nobody knows; it can be asked, but not with a budget."""
    citations: Literal["annotations", "numbered", "as_written"] | None = None
    """How its citations look: places marked beside the text; `[n]` in the text with a list of
    sources beside it; or all in the text itself (links, footnotes, a list at its end). Null: what
    the answer offers, in this order."""
    repeatable: bool = False
    """Asking again costs nothing, so a job of which nobody knows is simply asked again."""


class ApiAsk(Ask):
    """An interface over HTTP, with a key."""

    model: str
    base_url: str | None = None
    """Null: the provider's own address."""
    base_url_env: str | None = None
    """The environment variable that, where it is set, replaces `base_url`."""
    key_env: str | None = None
    """The environment variable that holds the key; null where none is needed."""
    key_block: str | None = None
    """The Prefect Secret block that holds the key where the variable is not set."""
    key_required: bool = True
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Put into the body of the request as they stand, over what the kind sends by itself."""


class GeminiDeepResearchAsk(ApiAsk):
    kind: Literal["gemini_deep_research"]
    """Gemini's Interactions API in the background; `model` is the agent's name."""


class OpenAiResponsesAsk(ApiAsk):
    kind: Literal["openai_responses"]
    """OpenAI's Responses API with web search, in the background."""


class XaiAsk(ApiAsk):
    kind: Literal["xai"]
    """xAI's Responses API with web search; answers in one request."""


class PerplexityAsk(ApiAsk):
    kind: Literal["perplexity"]
    """Perplexity's Agent API; `model` is a model, or a preset where `parameters` name one."""


class PerplexityAsyncAsk(ApiAsk):
    kind: Literal["perplexity_async"]
    """Perplexity's older asynchronous chat completions (Sonar)."""


class ChatAsk(ApiAsk):
    kind: Literal["chat"]
    """Any OpenAI-compatible chat completions endpoint; answers in one request."""


class AnthropicAsk(ApiAsk):
    kind: Literal["anthropic"]
    """Anthropic's Messages API with its web search tool; answers in one request."""


class DashScopeAsk(ApiAsk):
    kind: Literal["dashscope"]
    """Alibaba's DashScope, streamed: a clarifying question, then the research."""


class CommandAsk(Ask):
    kind: Literal["command"]
    """A program on this machine: prompt on stdin, report on stdout or in a file."""
    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments; `{python}` is this project's interpreter."""
    output: str | None = None
    """The file in its folder that holds the report; null: its standard output."""
    environment: tuple[str, ...] = ()
    """Names of variables it may see, keys among them; it gets no others of ours."""
    memory_mb: PositiveInt = 4096
    """Address space of each of its processes."""
    archive: bool = False
    """It may read the edition's archived pages (`EVERGREEN_ARCHIVE`)."""


class HttpAsk(Ask):
    kind: Literal["http"]
    """Your own service: POST the assignment, poll the job."""
    url: str
    url_env: str | None = None
    """The environment variable that, where it is set, replaces `url`."""
    key_env: str | None = None
    """Sent as `Authorization: Bearer …`; null: nothing is sent."""
    key_block: str | None = None
    key_required: bool = True


class FileDropAsk(Ask):
    kind: Literal["file_drop"]
    """A folder into which somebody puts the reports."""
    folder: str
    """Relative to where the command is run."""


AskEntry = Annotated[
    GeminiDeepResearchAsk | OpenAiResponsesAsk | XaiAsk | PerplexityAsk | PerplexityAsyncAsk
    | ChatAsk | AnthropicAsk | DashScopeAsk | CommandAsk | HttpAsk | FileDropAsk,
    Field(discriminator="kind"),
]  # fmt: skip


class AgentEntry(Configured):
    """A system under test; its id is the name under which its reports are kept."""

    name: str
    maker: str | None = None
    ask: AskEntry | None = None
    """How it is asked; null: its reports are imported."""
    notes: str | None = None
    source: str | None = None
    """Where its name, limits and prices were read."""
    checked: date | None = None


class Agents(Configured):
    clarification_reply: str = Field(min_length=1)
    """What an agent that answers with a question is told, once."""
    agents: dict[str, AgentEntry]


def load_agents(configs: Path = CONFIGS) -> Agents:
    return load(configs / "agents.yaml", Agents)


def agent_entry(agent: str, configs: Path = CONFIGS) -> AgentEntry:
    """The entry of an agent that can be asked or shown.

    Raises:
        ConfigurationError: there is none of that name; lists those there are.
    """
    agents = load_agents(configs).agents
    if agent not in agents:
        raise ConfigurationError(
            f"{configs / 'agents.yaml'} has no agent {agent!r}; it has: "
            f"{', '.join(sorted(agents))}. Add an entry."
        )
    return agents[agent]

"""`configs/agents.yaml`: the systems under test, their names and how they are called."""

from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    Discriminator,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    Tag,
    field_validator,
    model_validator,
)

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.extensions import EXTENSION, check_kind, find_tag
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.input_rates import InputRates
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.configuration.secrets import KeySettings, read_address
from tasks.credentials import PlainAddress
from tasks.errors import suggest_names
from tasks.foreign_text import HIDDEN, find_hidden


class AgentLimits(ConfigModel):
    """Limits on requests to an agent, and timeouts."""

    concurrency: PositiveInt = 4
    """Concurrent jobs."""
    timeout_seconds: PositiveFloat = 60
    """Timeout of an HTTP request; of the whole report if the API answers in one request."""
    deadline_minutes: PositiveFloat = 90
    """After this time a running job is left alone; each later run checks it once."""
    first_poll_seconds: PositiveFloat = 10
    """The time before a job is first polled; it grows by half each time."""
    longest_poll_seconds: PositiveFloat = 60
    start_tries: PositiveInt = 8
    """Tries to start a job after errors that cannot have started it (429, no connection)."""
    first_wait_seconds: PositiveFloat = 5
    """The wait before the second try, doubled each time; at least what the server asks for."""
    longest_hint_seconds: PositiveFloat = 900
    """If a server asks for a longer wait, the stage stops."""


class TokenRates(InputRates):
    """USD per million tokens."""

    output: NonNegativeFloat
    reasoning: NonNegativeFloat | None = None
    """Null: like output."""
    citation: NonNegativeFloat = 0.0


class AgentPrice(ConfigModel):
    """The price of a report."""

    typical_usd: NonNegativeFloat
    """The estimate, until the warehouse has enough of the agent's reports."""
    most_usd: NonNegativeFloat
    """Reserved from a budget for each report, until its real cost is known."""
    tokens: TokenRates | None = None
    """Null if the API returns the cost, or the rates are unknown."""
    usd_per_thousand_searches: NonNegativeFloat = 0.0
    source: str
    checked: date


class Ask(ConfigModel):
    """Settings that all kinds of agents share."""

    limits: AgentLimits = AgentLimits()
    price: AgentPrice | None = None
    """Null: unknown; the agent cannot be used with a budget."""
    citations: Literal["annotations", "numbered", "as_written"] | None = None
    """The form of its citations: text positions beside the text, `[n]` in the text with a separate
    list of sources, or everything in the text (links, footnotes, a list at the end). Null: the
    first of these that the answer has."""
    repeatable: bool = False
    """Requests are free, so lost jobs are simply repeated."""


class ApiAsk(Ask, KeySettings):
    """An HTTP API with a key."""

    provider_url: ClassVar[str]
    """The provider's address."""
    model: str
    base_url: PlainAddress | None = None
    """Null: the provider's address."""
    base_url_env: str | None = None
    """The environment variable that, if set, replaces `base_url`."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Added to the request's body unchanged; overrides what this kind sends by default."""

    def find_base_url(self) -> str:
        """Return the base URL: from `base_url_env`, from `base_url`, or the provider's."""
        url = read_address(self.base_url_env) or self.base_url or self.provider_url
        return url.rstrip("/")


class GeminiDeepResearchAsk(ApiAsk):
    provider_url = "https://generativelanguage.googleapis.com"
    kind: Literal["gemini_deep_research"]
    """Gemini's Interactions API in background mode; `model` is the agent's name."""


class OpenAiResponsesAsk(ApiAsk):
    provider_url = "https://api.openai.com/v1"
    kind: Literal["openai_responses"]
    """OpenAI's Responses API with web search, in background mode."""


class XaiAsk(ApiAsk):
    provider_url = "https://api.x.ai/v1"
    kind: Literal["xai"]
    """xAI's Responses API with web search; answers in one request."""


class PerplexityAsk(ApiAsk):
    provider_url = "https://api.perplexity.ai"
    kind: Literal["perplexity"]
    """Perplexity's Agent API; `model` may be empty if `parameters` name an `effort`."""


class ChatAsk(ApiAsk):
    provider_url = "https://api.openai.com/v1"
    kind: Literal["chat"]
    """Any OpenAI-compatible chat completions endpoint; answers in one request."""


class AnthropicAsk(ApiAsk):
    provider_url = "https://api.anthropic.com"
    kind: Literal["anthropic"]
    """Anthropic's Messages API with its web search tool; answers in one request."""


class DashScopeAsk(ApiAsk):
    provider_url = "https://dashscope.aliyuncs.com/api/v1"
    kind: Literal["dashscope"]
    """Alibaba's DashScope, streamed: a clarifying question, then the research."""


class CommandAsk(Ask):
    kind: Literal["command"]
    """A program on this machine, with the prompt on stdin and the report on stdout or in a file."""
    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments; `{python}` is this project's interpreter."""
    output: str | None = None
    """The file with the report in its working folder; null: stdout."""
    environment: tuple[str, ...] = ()
    """The environment variables that it gets, including keys; no others are passed on."""
    reads: tuple[str, ...] = ()
    """The files and folders of its own code, which it may read; relative to the working folder."""
    network: Literal["none", "sandbox", "open"] = "none"
    """`sandbox`: our search server alone (EVERGREEN_SANDBOX). `open`: everything; boards say so."""
    isolation: Literal["sandbox", "none"] = "sandbox"
    """`none`: it may do all that you may, read your keys and files too; boards say so."""
    image: str | None = None
    """The image that the program runs in, where Docker or Podman runs containers; its `command` is
    a path there."""
    shared_cache: bool = False
    """Whether all its jobs share one EVERGREEN_CACHE; otherwise each has its own."""
    memory_mb: PositiveInt = 4096
    """Address space of each of its processes."""
    archive: bool | Literal["references"] = False
    """Whether it may read the edition's archived pages that no assignment bans
    (`EVERGREEN_ARCHIVE`); `references`: only those that the articles' references link to, which
    `evergreen refresh` fetches for it."""

    def describe_exposure(self) -> str | None:
        """Say what its program may reach, if that is more than usual."""
        if self.isolation == "none":
            return "its program is not isolated: it may read your keys and files"
        return "its program may reach the whole network" if self.network == "open" else None

    @model_validator(mode="after")
    def _check_isolation(self) -> Self:
        if self.isolation == "none" and self.network != "open":
            raise ValueError(
                "expected `network: open` beside `isolation: none`: nothing keeps such a program "
                "from the network."
            )
        if self.image and (self.reads or self.network == "sandbox" or self.isolation == "none"):
            raise ValueError(
                "expected neither `reads` nor `network: sandbox` nor `isolation: none` beside "
                "`image`: a container has its own files, and no way to our sandbox."
            )
        if "EVERGREEN_SANDBOX" in self.environment:
            raise ValueError(
                "expected `network: sandbox` instead of EVERGREEN_SANDBOX under `environment`."
            )
        return self


class HttpAsk(Ask, KeySettings):
    kind: Literal["http"]
    """Your own service: POST the assignment, then poll the job; a key is sent as `Authorization:
    Bearer …`."""
    url: PlainAddress
    url_env: str | None = None
    """The environment variable that, if set, replaces `url`."""
    sandbox: bool = False
    """Whether each job gets the address of our search server (EVERGREEN_SANDBOX) and a token."""

    def find_base_url(self) -> str:
        """Return the URL: from `url_env`, or `url`."""
        return (read_address(self.url_env) or self.url).rstrip("/")


class FileDropAsk(Ask):
    kind: Literal["file_drop"]
    """A folder into which a person puts the reports."""
    folder: str
    """The folder, relative to the working directory."""


class ExtensionAsk(Ask, KeySettings):
    kind: str
    """A client that another package brings: its entry point in the group `evergreen.agents`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Passed to the client as they are."""

    @field_validator("kind")
    @classmethod
    def _check_kind(cls, kind: str) -> str:
        return check_kind(kind, "evergreen.agents", ASK_KINDS)


class EndedAsk(Ask, extra="allow"):
    kind: Literal["perplexity_async"]
    """An interface that has ended (`configs/endings.yaml`): its reports and jobs stay."""


ASK_KINDS = (
    "gemini_deep_research", "openai_responses", "xai", "perplexity", "chat", "anthropic",
    "dashscope", "command", "http", "file_drop",
)  # fmt: skip
ENDED_KINDS = ("perplexity_async",)
AskEntry = Annotated[
    Annotated[GeminiDeepResearchAsk, Tag("gemini_deep_research")]
    | Annotated[OpenAiResponsesAsk, Tag("openai_responses")]
    | Annotated[XaiAsk, Tag("xai")]
    | Annotated[PerplexityAsk, Tag("perplexity")]
    | Annotated[ChatAsk, Tag("chat")]
    | Annotated[AnthropicAsk, Tag("anthropic")]
    | Annotated[DashScopeAsk, Tag("dashscope")]
    | Annotated[CommandAsk, Tag("command")]
    | Annotated[HttpAsk, Tag("http")]
    | Annotated[FileDropAsk, Tag("file_drop")]
    | Annotated[EndedAsk, Tag("perplexity_async")]
    | Annotated[ExtensionAsk, Tag(EXTENSION)],
    Discriminator(find_tag((*ASK_KINDS, *ENDED_KINDS))),
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

"""What a kind of agents is made of: its settings, which begin with those that all kinds share, its
client, and how its answers are read.

A kind is one module with its `KIND`, named by one line of `registry.py`. Its settings are loaded
with `configs/agents.yaml` by commands that only look, so it imports SDKs and HTTP where it uses
them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tasks.agents.agent import AgentClient, JobAnswer
from tasks.configuration.input_rates import InputRates
from tasks.configuration.loading import ConfigModel
from tasks.configuration.secrets import KeySettings, read_address
from tasks.credentials import PlainAddress


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

    if TYPE_CHECKING:
        kind: str  # each kind's own name, after the keys that it inherits
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


@dataclass(frozen=True)
class AgentFolders:
    """The folders that an agent uses on this machine."""

    work: Path
    """The parent of the folders of program jobs."""
    archive: Path | None
    """The folder with the pages that its programs may read; None if it reads no archive."""
    private: tuple[Path, ...] = ()
    """What no program may read: the warehouse with all that belongs to it, Prefect's folder."""


@dataclass(frozen=True)
class AgentKind:
    """A kind of agents."""

    settings: type[Ask]
    """The keys of `ask` in an agent's entry. Its `kind` is the kind's name, and the text below it
    is what the reference says of the kind."""
    client: Callable[..., AgentClient] | None
    """Makes a client from the agent's id, its `ask` and its key; None: a person brings reports."""
    read: Callable[[str], JobAnswer] | None
    """Reads the answer of an ended job as the client returned it, and raises UnreadableJobAnswer
    if it does not have the expected form; None if there are no jobs."""
    runs_here: bool = False
    """Whether its client gets the folders of this machine instead of a key."""
    starts_once: bool = False
    """Whether its contract says that starting the same job twice starts it once."""
    says_finish_reason: bool = False
    """Whether `remote_state` of an ended job is the model's finish reason, if it gave one."""

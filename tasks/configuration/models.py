"""What stands in `configs/`: editions, judges, protocols; agents are in `agents.py`."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured, load


class EditionEntry(Configured):
    """Where an edition comes from."""

    title: str
    layout: Literal["wlc"]
    """The published Wiki Live Challenge layout."""
    path: str
    """The folder, relative to the project's root."""


class Editions(Configured):
    editions: dict[str, EditionEntry]


class OfflineJudgeEntry(Configured):
    """The embedded lexical judge: no model, no key, no network."""

    kind: Literal["offline"]
    title: str
    weights: str
    """The fitted weights' file, relative to `configs/`."""


class Limits(Configured):
    """What an account may ask of a model; None where nothing is known or set."""

    concurrency: PositiveInt = 50
    """Most calls at once; fewer while the server says 429."""
    requests_per_minute: PositiveInt | None = None
    tokens_per_minute: PositiveInt | None = None
    usd_per_ten_minutes: PositiveFloat | None = None


class Retries(Configured):
    """How often a request that may heal is tried, and how long apart."""

    tries: PositiveInt = 8
    rate_limit_tries: PositiveInt = 20
    """For answers that only say "later": together some 15 minutes, longer than the ten over
    which spending is counted."""
    first_wait_seconds: PositiveFloat = 1.0
    """Doubled each time, with jitter; a server's hint is never undercut."""
    longest_wait_seconds: PositiveFloat = 60.0
    longest_hint_seconds: PositiveFloat = 900.0
    """A server that asks for more than this means tomorrow: the stage stops."""


class LlmJudgeEntry(Configured):
    """A model behind an API."""

    kind: Literal["gemini", "openai_chat"]
    title: str
    provider: str
    """Whose model it is: names the price, and with the model the calls in the ledger."""
    model: str
    answers_as: str | None = None
    """The model version its answers must carry. Null where nobody has seen it yet: then the
    first answer sets it for good."""
    base_url: str | None = None
    """Null: the provider's own address."""
    base_url_env: str | None = None
    """The environment variable that, where it is set, replaces `base_url`."""
    key_env: str | None = None
    """The environment variable that holds the key; null where none is needed."""
    key_required: bool = True
    """False: without a key it is asked without one."""
    key_block: str | None = None
    """The Prefect Secret block that holds the key where the variable is not set."""
    temperature: float | None = None
    seed: int | None = None
    thinking_budget: int | None = None
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    thinking_room: NonNegativeInt = 0
    """Tokens added to every answer's limit for what the model thinks."""
    typical_thinking_tokens: NonNegativeInt = 0
    """For estimates, until the ledger knows better."""
    reads: tuple[Literal["image", "pdf"], ...] = ()
    """What its model sees besides text. Reports that came as scans are `not_assessed` by judges
    that do not read what they came as."""
    context_tokens: PositiveInt
    """Prompts that cannot fit are not sent; their items are `not_assessed`."""
    page_tokens: int | None = Field(default=None, ge=2_000)
    """The longest cited page that is shown whole, about; of a longer one an excerpt of this size.
    Null: three quarters of the context; the rest is for prompt, statements, answer, and for texts
    with more tokens than their length lets expect."""
    page_claims_per_call: PositiveInt = 60
    """Most statements that one call holds against the page they cite."""
    max_output_tokens: PositiveInt | None = None
    """The longest answer it can give, thinking included; null: as long as the step allows."""
    claims_per_call: PositiveInt = 1
    """More than one is cheaper and decides differently: it is marked in every verdict."""
    token_limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """What the endpoint calls the limit of an answer (openai_chat)."""
    schema_names_items: bool = False
    """The schema says which items are asked for: holds weak models, where a grammar enforces it."""
    batch_api: bool = False
    """Its endpoint has OpenAI's Batch API (openai_chat; Gemini always has its own)."""
    timeout_seconds: PositiveFloat = 300
    limits: Limits = Limits()
    retries: Retries = Retries()
    retires: date | None = None
    """From this day on it is refused: another model answers in its place, or none."""
    source: str
    """Where its name, limits and dates were read."""
    checked: date
    """When."""


JudgeEntry = Annotated[OfflineJudgeEntry | LlmJudgeEntry, Field(discriminator="kind")]


class Judges(Configured):
    default: str
    judges: dict[str, JudgeEntry]


class MetricEntry(Configured):
    """One figure a protocol publishes."""

    name: str
    title: str
    aggregate: Literal["macro", "micro", "by_category"]
    """Headline: mean over reports of their values, pooled items, or the mean over a question's
    categories of their means."""
    better: Literal["higher", "lower"]
    description: str
    unit: Literal["share", "number"] = "share"
    """Shares are 0-1 and shown in percent, numbers (of citations, of steps) as they are."""
    headline: bool = False
    """Whether it stands for the protocol beside others; where none does, the first one."""


class ProtocolEntry(Configured):
    """A published evaluation protocol as this project runs it."""

    name: str
    version: PositiveInt
    """Raise it when a change of code or parameters must re-judge everything."""
    title: str
    source: str
    """Paper and repository."""
    editions: tuple[str, ...] = ()
    """Sources of the editions that it judges where no protocol is named; it can judge others."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The protocol's own settings, checked by its module."""
    metrics: tuple[MetricEntry, ...] = Field(min_length=1)


def load_editions(configs: Path = CONFIGS) -> Editions:
    return load(configs / "editions.yaml", Editions)


def load_judges(configs: Path = CONFIGS) -> Judges:
    """The judges; the default must be one of them."""
    judges = load(configs / "judges.yaml", Judges)
    if judges.default not in judges.judges:
        raise ConfigurationError(
            f"{configs / 'judges.yaml'}: `default`: expected one of "
            f"{', '.join(sorted(judges.judges))}; found {judges.default!r}."
        )
    return judges


def load_protocol(name: str, configs: Path = CONFIGS) -> ProtocolEntry:
    return load(configs / "protocols" / f"{name}.yaml", ProtocolEntry)

"""The configuration of judges and protocols."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Tag,
    field_validator,
    model_validator,
)

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.extensions import EXTENSION, check_kind, find_tag
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file
from tasks.configuration.loading import ConfigModel, check_names, load_merged
from tasks.configuration.secrets import KeySettings
from tasks.credentials import PlainAddress


class OfflineJudgeEntry(ConfigModel):
    """The offline judge: lexical, without model, key or network."""

    kind: Literal["offline"]
    title: str
    weights: str
    """The file of fitted weights, relative to `configs/`."""


class Limits(ConfigModel):
    """An account's rate limits; None: unknown or unlimited."""

    concurrency: PositiveInt = 50
    """The most concurrent calls; fewer while the server answers 429."""
    requests_per_minute: PositiveInt | None = None
    tokens_per_minute: PositiveInt | None = None
    usd_per_ten_minutes: PositiveFloat | None = None


class Retries(ConfigModel):
    """Retries of requests after transient errors."""

    tries: PositiveInt = 8
    rate_limit_tries: PositiveInt = 20
    """Tries after rate limit errors: some 15 minutes in total, longer than the ten minutes of a
    spending limit."""
    first_wait_seconds: PositiveFloat = 1.0
    """Doubled each time, with jitter; at least what the server asks for."""
    longest_wait_seconds: PositiveFloat = 60.0
    longest_hint_seconds: PositiveFloat = 900.0
    """If a server asks for a longer wait, the stage stops."""


class LlmJudgeEntry(KeySettings):
    """A model behind an API."""

    kind: Literal["gemini", "openai_chat", "anthropic"]
    title: str
    provider: str
    """The model's provider; with the model it identifies the price, and calls in the ledger."""
    model: str
    answers_as: str | None = None
    """The model version that its answers must state. Null: the first answer sets it for good."""
    base_url: PlainAddress | None = None
    """Null: the provider's address."""
    base_url_env: str | None = None
    """The environment variable that, if set, replaces `base_url`."""
    temperature: float | None = None
    seed: int | None = None
    thinking_budget: int | None = None
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    thinking_room: NonNegativeInt = 0
    """Tokens added to every answer's limit for thinking."""
    typical_thinking_tokens: NonNegativeInt = 0
    """The estimate, until the ledger has enough calls."""
    reads: tuple[Literal["image", "pdf"], ...] = ()
    """What the model reads besides text. A scanned report is `not_assessed` by judges that cannot
    read its media type."""
    context_tokens: PositiveInt
    """Prompts that do not fit are not sent; their items are `not_assessed`."""
    page_tokens: int | None = Field(default=None, ge=2_000)
    """The approximate size of the longest cited page that is shown whole; of longer ones an excerpt
    of this size is shown. Null: three quarters of the context; the rest is for prompt, statements,
    answer, and texts with unusually many tokens for their length."""
    page_claims_per_call: PositiveInt = 60
    """The most statements about one page in a call."""
    max_output_tokens: PositiveInt | None = None
    """The longest answer, including thinking; null: as long as the step allows."""
    claims_per_call: PositiveInt = 1
    """More than one is cheaper and decides differently; every verdict records it."""
    token_limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """The endpoint's field for the limit of an answer (openai_chat)."""
    schema_names_items: bool = False
    """The reply schema lists the requested items, which helps weak models if a grammar enforces
    it."""
    batch_api: bool = False
    """The endpoint has OpenAI's Batch API (openai_chat; Gemini always has its own)."""
    timeout_seconds: PositiveFloat = 300
    limits: Limits = Limits()
    retries: Retries = Retries()
    retires: date | None = None
    """From this day on the judge is refused: another model answers in its place, or none. Null:
    as `configs/endings.yaml` says of its model."""
    successor: str | None = None
    """The judge or model that follows it when it retires."""
    fallback: str | None = None
    """The judge that is asked about the items that this one refuses; no part of a cell's key."""
    paper_judge_of: tuple[str, ...] = ()
    """The protocols whose paper, or official board, has this judge."""
    source: str
    """The source of its name, limits and dates."""
    checked: date
    """When the source was read."""


class ExtensionJudgeEntry(ConfigModel):
    """A judge whose class another package brings."""

    kind: str
    """The name of its entry point in the group `evergreen.judges`."""
    title: str
    settings: dict[str, Any] = Field(default_factory=dict)
    """Passed to its class as they are."""

    @field_validator("kind")
    @classmethod
    def _check_kind(cls, kind: str) -> str:
        return check_kind(kind, "evergreen.judges", JUDGE_KINDS)


JUDGE_KINDS = ("anthropic", "gemini", "offline", "openai_chat")
JudgeEntry = Annotated[
    Annotated[OfflineJudgeEntry, Tag("offline")]
    | Annotated[LlmJudgeEntry, Tag("gemini")]
    | Annotated[LlmJudgeEntry, Tag("openai_chat")]
    | Annotated[LlmJudgeEntry, Tag("anthropic")]
    | Annotated[ExtensionJudgeEntry, Tag(EXTENSION)],
    Discriminator(find_tag(JUDGE_KINDS)),
]


class Judges(ConfigModel):
    default: str
    judges: dict[str, JudgeEntry]


class MetricEntry(ConfigModel):
    """One metric of a protocol."""

    name: str
    title: str
    aggregate: Literal["macro", "micro", "by_category"]
    """How a figure is made: the mean of the reports' values, pooled items, or the mean of the
    question categories' means."""
    better: Literal["higher", "lower", "none"]
    """`none`: the paper does not say which, so agents have no rank or place by it."""
    description: str
    unit: Literal["share", "number"] = "share"
    """Shares are 0-1 and shown in percent; numbers (of citations, of steps) are shown as such."""
    headline: bool = False
    """Whether it represents the protocol; if no metric does, the first one."""
    zero_if_missing: bool = False
    """Whether it can be 0 for a missing report: more must be better, and it must not be a ratio
    over the report's own claims. Otherwise a missing report has no value."""
    equation: str = ""
    """How the paper or its code defines it, in plain notation."""
    denominator: str = ""
    """What its value is a share or a mean of."""
    undecided: str = ""
    """What becomes of items that failed or could not be judged."""
    differs: tuple[str, ...] = ()
    """Every known difference from the paper and from its published code, a sentence each."""

    @model_validator(mode="after")
    def _check_zero(self) -> Self:
        if self.zero_if_missing and self.better != "higher":
            raise ValueError(
                f"`zero_if_missing` of {self.name}: expected a metric with `better: higher`; where "
                "less is better, a missing report would win. Remove it."
            )
        return self

    @property
    def sign(self) -> int:
        """The factor that makes higher values better; 0 if no value is better."""
        return {"higher": 1, "lower": -1, "none": 0}[self.better]

    @property
    def direction(self) -> str:
        """Which values are better, in words; empty if higher ones are."""
        return {"higher": "", "lower": "lower is better", "none": "no value is better"}[self.better]


Missing = Literal["zero", "excluded"]
"""What a missing report counts in metrics with `zero_if_missing`: 0, or nothing."""


class ProtocolEntry(ConfigModel):
    """A published evaluation protocol as this project runs it."""

    name: str
    version: PositiveInt
    """Increase it when the code or parameters change so that everything must be judged again."""
    title: str
    source: str
    """Paper and repository."""
    editions: tuple[str, ...] = ()
    """Sources of the editions for which it is a default protocol; it can judge others."""
    missing: Missing = "zero"
    """What a missing report (the agent's own empty answer or final refusal) counts in the metrics
    with `zero_if_missing`: the paper's rule, 0 where it is silent. The other figure is kept."""
    pairs: str = ""
    """Which pairs of claim and URL it counts, if it counts any."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The protocol's settings, validated by its module."""
    metrics: tuple[MetricEntry, ...] = Field(min_length=1)


def load_judges(configs: ConfigSource = CONFIGS) -> Judges:
    """Load the judges; the default and the fallbacks must be among them."""
    judges = load_merged("judges.yaml", Judges, configs)
    path = find_file("judges.yaml", configs)
    check_names(path, "default", [judges.default], judges.judges)
    for name, entry in judges.judges.items():
        if isinstance(entry, LlmJudgeEntry) and entry.fallback:
            _check_fallback(path, name, entry.fallback, judges.judges)
    return judges


def _check_fallback(
    path: Path, name: str, fallback: str, known: Mapping[str, "JudgeEntry"]
) -> None:
    """Raise ConfigurationError unless a judge's fallback is another one with a model, and has none
    itself."""
    key = f"judges.{name}.fallback"
    check_names(path, key, [fallback], known)
    entry = known[fallback]
    if fallback == name:
        wrong = "is the judge itself, which has refused"
    elif not isinstance(entry, LlmJudgeEntry):
        wrong = "calls no model"
    elif entry.fallback:
        wrong = f"has a fallback of its own ({entry.fallback}), which would not be asked"
    else:
        return
    raise ConfigurationError(
        f"{path}: `{key}`: {fallback} {wrong}. Name another judge that calls a model and has no "
        "`fallback`, or remove the line."
    )


def find_fallback(name: str) -> str | None:
    """Return the judge that is asked about what a judge refuses; None if it has none, or is not
    configured."""
    return getattr(load_judges().judges.get(name), "fallback", None)


def get_judge_title(name: str) -> str:
    """Return a judge's title; its name if it is no longer configured."""
    judges = load_judges().judges
    return judges[name].title if name in judges else name


def load_protocol(name: str, configs: ConfigSource = CONFIGS) -> ProtocolEntry:
    return load_merged(f"protocols/{name}.yaml", ProtocolEntry, configs)

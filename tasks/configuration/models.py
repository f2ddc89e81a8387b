"""What stands in `configs/`: editions, agents, judges, protocols, criteria."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveInt

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


class AgentEntry(Configured):
    """How a system under test is shown; its id is the published folder's name."""

    name: str
    maker: str | None = None


class Agents(Configured):
    agents: dict[str, AgentEntry]


class OfflineJudgeEntry(Configured):
    """The embedded lexical judge: no model, no key, no network."""

    kind: Literal["offline"]
    title: str
    weights: str
    """The fitted weights' file, relative to `configs/`."""


class Judges(Configured):
    default: str
    judges: dict[str, OfflineJudgeEntry]


class MetricEntry(Configured):
    """One figure a protocol publishes. Shares are 0-1."""

    name: str
    title: str
    aggregate: Literal["macro", "micro"]
    """Headline: mean over reports of their values, or pooled items."""
    better: Literal["higher", "lower"]
    description: str


class ProtocolEntry(Configured):
    """A published evaluation protocol as this project runs it."""

    name: str
    version: PositiveInt
    """Raise it when a change of code or parameters must re-judge everything."""
    title: str
    source: str
    """Paper and repository."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The protocol's own settings, checked by its module."""
    metrics: tuple[MetricEntry, ...]


def load_editions(configs: Path = CONFIGS) -> Editions:
    return load(configs / "editions.yaml", Editions)


def load_agents(configs: Path = CONFIGS) -> Agents:
    return load(configs / "agents.yaml", Agents)


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

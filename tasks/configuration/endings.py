"""The ends of models and interfaces: when a judge or an agent ends, and what follows it.

An entry may say so itself (`retires`, `successor`). If it does not, it ends with its model: as
another judge of that model says, or `configs/endings.yaml`.
"""

import re
from datetime import date, timedelta
from typing import Any

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.configuration.models import JudgeEntry, LlmJudgeEntry, load_judges

SOON = timedelta(days=30)
"""How long before an end it is said."""
_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8})\Z")


class Ending(ConfigModel):
    """The end of a model or an interface."""

    ends: date
    """From this day on it does not answer, or another model answers in its place."""
    successor: str | None = None
    """What follows it: a judge, an agent or a model; null: nobody says."""

    def describe(self, name: str, today: date) -> str:
        """Say when `name` ends or ended, and what follows it."""
        left = (self.ends - today).days
        days = f"in {left} days" if left > 1 else "tomorrow"
        said = f"retires on {self.ends}, {days}" if left > 0 else f"was retired on {self.ends}"
        follows = f"; its successor is {self.successor}" if self.successor else ""
        return f"{name} {said}{follows}"


class Endings(ConfigModel):
    """The ends of models and interfaces without an entry that says so."""

    models: dict[str, Ending]
    """By `provider/model`."""
    kinds: dict[str, Ending]
    """By kind of agent."""


def load_endings(configs: ConfigSource = CONFIGS) -> Endings:
    return load_merged("endings.yaml", Endings, configs)


def find_judge_ending(entry: JudgeEntry) -> Ending | None:
    """Return when a judge ends; None if no end is known."""
    if not isinstance(entry, LlmJudgeEntry):
        return None
    own = read_own(entry)
    return own or find_model_ending(entry.provider, entry.model)


def read_own(entry: Any) -> Ending | None:
    return Ending(ends=entry.retires, successor=entry.successor) if entry.retires else None


def find_model_ending(provider: str, model: str) -> Ending | None:
    for other in load_judges().judges.values():
        same = isinstance(other, LlmJudgeEntry) and (other.provider, other.model)
        if same == (provider, model) and (found := read_own(other)):
            return found
    known = load_endings().models
    whole = f"{provider}/{model}"
    return known.get(whole) or known.get(_DATED.sub("", whole))

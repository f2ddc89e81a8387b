"""`configs/refresh.yaml`: what is done for each month, with whom, for how much, and when."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from typing import Annotated
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveInt

from tasks.configuration.agents import load_agents
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import CONFIGS, Configured, load
from tasks.configuration.models import load_judges

FILE = "refresh.yaml"
PLACES = ("year", "month", "day")
"""What an edition's name may hold of the day."""
EXAMPLE = {"year": 2026, "month": 12, "day": 31}
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FIELDS = 5
PLAIN = re.compile(r"[0-9a-zA-Z*/,\s-]+")
MOST_HOURS = 24 * 365


def _cron(text: str) -> str:
    """Raise ValueError for what is no cron expression of five fields."""
    # Of what is beyond the five fields' common forms readers think differently.
    if len(text.split()) != FIELDS or not PLAIN.fullmatch(text):
        raise ValueError("expected five fields: minute, hour, day of the month, month, weekday")
    try:
        CronSim(text, datetime(2026, 1, 1))  # noqa: DTZ001 - of no moment in particular
    except CronSimError as error:
        raise ValueError(f"{error}; expected e.g. 0 6 1 * * (at six, on the first)") from None
    return text


def _time_zone(name: str) -> str:
    """Raise ValueError for a name that the system's time zones do not have."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a name, a folder
        raise ValueError("expected a time zone such as UTC or Europe/Berlin") from None
    return name


def _edition(pattern: str) -> str:
    """Raise ValueError for a pattern that names no edition."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(pattern) if field is not None]
        named = pattern.format(**EXAMPLE) if set(fields) <= set(PLACES) else None
    except (ValueError, IndexError, KeyError):
        named = None
    if named is None:
        raise ValueError(f"expected a text with no other places than {_listed(PLACES)}")
    if not SAFE.fullmatch(named):
        raise ValueError(
            f"it gives {named!r}: expected 1 to 64 letters, digits, dots, hyphens and underscores"
        )
    return pattern


def _site(pattern: str) -> str:
    """Raise ValueError for a folder with other places than `{edition}`."""
    try:
        fields = {field for _, field, _, _ in Formatter().parse(pattern) if field is not None}
    except ValueError:
        fields = {pattern}
    if fields - {"edition"} or not pattern.strip():
        raise ValueError("expected a folder, with no other place in its name than {edition}")
    return pattern


def _listed(places: Iterable[str]) -> str:
    return ", ".join(f"{{{place}}}" for place in places)


class Schedule(Configured):
    """When a month is begun."""

    cron: Annotated[str, AfterValidator(_cron)]
    """Minute, hour, day of the month, month, weekday."""
    timezone: Annotated[str, AfterValidator(_time_zone)] = "UTC"

    def next_after(self, moment: datetime) -> datetime:
        """When the next month is begun. moment: with its time zone. Where clocks skip the very hour
        of the schedule, Prefect begins up to an hour earlier."""
        return next(CronSim(self.cron, moment.astimezone(ZoneInfo(self.timezone))))


class Publishing(Configured):
    """Where a month's results go."""

    to: Annotated[str, AfterValidator(_site)]
    """The site's folder, replaced as a whole; `{edition}` stands for the edition's name."""
    judges: tuple[str, ...] = ()
    """Only these judges' figures; empty: every judge's."""
    approve: bool = False
    """A person is shown the figures and decides."""
    approval_hours: Annotated[float, Field(gt=0, le=MOST_HOURS)] = 72.0
    """How long is waited for that."""
    only_complete: bool = False
    """Nothing is published while something of the month is left to do."""


class RefreshSettings(Configured):
    edition: Annotated[str, AfterValidator(_edition)] = "{year}-{month:02}"
    """The edition's name, with places for the day it is made for."""
    articles: PositiveInt | None = None
    """To choose; null: as in wikipedia.yaml."""
    window_months: PositiveInt | None = None
    """Before that day; articles were created in them. Null: as in wikipedia.yaml."""
    protocols: tuple[str, ...] = Field(default=("wiki_writing",), min_length=1)
    """What agents are asked follows from these."""
    agents: tuple[str, ...] = Field(min_length=1)
    judge: str | None = None
    """Null: the default of judges.yaml."""
    extractor: str | None = None
    """A judge that extracts facts and claims; null: the offline extraction."""
    batch: bool = False
    budget_usd: NonNegativeFloat | None = None
    """Of the month, whatever the number of its runs; null: no cap."""
    schedule: Schedule | None = None
    """Null: begun by hand only."""
    publish: Publishing | None = None
    """Null: nothing is published."""

    def edition_of(self, moment: datetime) -> str:
        """The name of the edition that a run scheduled for this moment makes.

        moment: with its time zone, or in UTC.
        """
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        zone = ZoneInfo(self.schedule.timezone if self.schedule else "UTC")
        day = aware.astimezone(zone)
        return self.edition.format(year=day.year, month=day.month, day=day.day)


def load_refresh(configs: Path = CONFIGS) -> RefreshSettings:
    """The settings; agents, judges and protocols must be such as there are.

    Raises:
        ConfigurationError: naming the file, the key and what was expected there.
    """
    path = configs / FILE
    settings = load(path, RefreshSettings)
    judges = load_judges(configs).judges
    agents = {name: entry for name, entry in load_agents(configs).agents.items() if entry.ask}
    protocols = {file.stem: file for file in (configs / "protocols").glob("*.yaml")}
    _check(path, "protocols", settings.protocols, protocols)
    _check(path, "agents", settings.agents, agents)
    _check(path, "judge", filter(None, [settings.judge]), judges)
    _check(path, "extractor", filter(None, [settings.extractor]), judges)
    if settings.publish:
        _check(path, "publish.judges", settings.publish.judges, judges)
    return settings


def _check(path: Path, key: str, given: Iterable[str], known: Mapping[str, object]) -> None:
    for name in given:
        if name not in known:
            raise ConfigurationError(
                f"{path}: `{key}`: expected one of {', '.join(sorted(known))}; found {name!r}."
            )

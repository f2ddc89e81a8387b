"""`configs/refresh.yaml`: the monthly refresh: protocols, agents, judges, budget, schedule."""

import re
from datetime import UTC, datetime
from string import Formatter
from typing import Annotated, Literal, get_args
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, Field, PositiveInt, StringConstraints

from tasks.agents.registry import load_agents
from tasks.configuration.budgets import Usd
from tasks.configuration.errors import ConfigurationError
from tasks.configuration.folders import CONFIGS, ConfigSource, find_file, list_files
from tasks.configuration.loading import ConfigModel, check_names, load_merged
from tasks.configuration.models import load_judges
from tasks.configuration.secrets import read_variable
from tasks.configuration.wording import VARIABLE

FILE = "refresh.yaml"
PLACES = ("year", "month", "day")
"""The places that a pattern for edition names may have."""
EXAMPLE = {"year": 2026, "month": 12, "day": 31}
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FIELDS = 5
PLAIN = re.compile(r"[0-9a-zA-Z*/,\s-]+")
MOST_HOURS = 24 * 365
VariableName = Annotated[str, StringConstraints(pattern=VARIABLE)]


def _check_cron(text: str) -> str:
    """Raise ValueError unless `text` is a cron expression of five fields."""
    # Cron implementations differ in anything beyond the common forms.
    if len(text.split()) != FIELDS or not PLAIN.fullmatch(text):
        raise ValueError("expected five fields: minute, hour, day of the month, month, weekday")
    try:
        CronSim(text, datetime(2026, 1, 1))  # noqa: DTZ001 - any time will do
    except CronSimError as error:
        raise ValueError(f"{error}; expected e.g. 0 6 1 * * (6:00 on the first)") from None
    return text


def _check_time_zone(name: str) -> str:
    """Raise ValueError if the system has no such time zone."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not a name, a folder
        raise ValueError("expected a time zone such as UTC or Europe/Berlin") from None
    return name


def _check_edition_pattern(pattern: str) -> str:
    """Raise ValueError unless the pattern makes valid names of editions."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(pattern) if field is not None]
        name = pattern.format(**EXAMPLE) if set(fields) <= set(PLACES) else None
    except (ValueError, IndexError, KeyError):
        name = None
    if name is None:
        places = ", ".join(f"{{{place}}}" for place in PLACES)
        raise ValueError(f"expected a text with no places other than {places}")
    if not SAFE.fullmatch(name):
        raise ValueError(
            f"it makes {name!r}: expected 1 to 64 letters, digits, dots, hyphens and underscores"
        )
    return pattern


def _check_site_folder(pattern: str) -> str:
    """Raise ValueError if the folder has places other than `{edition}`."""
    try:
        fields = {field for _, field, _, _ in Formatter().parse(pattern) if field is not None}
    except ValueError:
        fields = {pattern}
    if fields - {"edition"} or not pattern.strip():
        raise ValueError("expected a folder with no place in its name other than {edition}")
    return pattern


class Schedule(ConfigModel):
    """The schedule of the monthly runs."""

    cron: Annotated[str, AfterValidator(_check_cron)]
    """Minute, hour, day of the month, month, weekday."""
    timezone: Annotated[str, AfterValidator(_check_time_zone)] = "UTC"

    def next_after(self, moment: datetime) -> datetime:
        """Return the start of the next run. moment: with its time zone. If clocks skip that hour,
        Prefect starts up to an hour earlier."""
        return next(CronSim(self.cron, moment.astimezone(ZoneInfo(self.timezone))))


class Publishing(ConfigModel):
    """The site for a month's results."""

    to: Annotated[str, AfterValidator(_check_site_folder)]
    """The site's folder, replaced as a whole; `{edition}` stands for the edition's name."""
    judges: tuple[str, ...] = ()
    """Only these judges' figures; empty: every judge's."""
    approve: bool = False
    """A person must approve the figures first."""
    approval_hours: Annotated[float, Field(gt=0, le=MOST_HOURS)] = 72.0
    """How long to wait for the approval."""
    only_complete: bool = False
    """Nothing is published while some of the month's work is pending."""


Alert = Literal["failed", "late", "over_budget", "judge_retiring", "published"]


class Sendgrid(ConfigModel):
    """Mail by Sendgrid; each field names an environment variable."""

    key: VariableName
    sender: VariableName
    recipients: VariableName
    """Its value: addresses, separated by commas."""


class Alerts(ConfigModel):
    """Whom `evergreen serve` has Prefect tell about what. Addresses are values of environment
    variables of `evergreen serve`, whose names are here."""

    about: tuple[Alert, ...] = get_args(Alert)
    late_minutes: PositiveInt = 30
    """How late a run is when somebody is told."""
    webhook: VariableName | None = None
    """Gets JSON: alert, name, run, url."""
    chat: VariableName | None = None
    """An incoming webhook of Slack, Mattermost or another chat that takes {"text": …}."""
    sendgrid: Sendgrid | None = None
    ping: VariableName | None = None
    """An address that is called each hour while all is well, e.g. of a dead man's switch: a server
    that is off tells nobody."""

    def read(self, name: str) -> str:
        """Return the value of a variable.

        Raises:
            ConfigurationError: it is not set.
        """
        if value := read_variable(name):
            return value
        raise ConfigurationError(
            f"{FILE}: `alerts` names the environment variable {name}, which is not set. Set it "
            "where `evergreen serve` starts, or remove its entry."
        )


class RefreshSettings(ConfigModel):
    edition: Annotated[str, AfterValidator(_check_edition_pattern)] = "{year}-{month:02}"
    """The edition's name, with places for its day."""
    articles: PositiveInt | None = None
    """The number of articles to choose; null: as in wikipedia.yaml."""
    window_months: PositiveInt | None = None
    """Articles created in the months before that day are chosen; null: as in wikipedia.yaml."""
    protocols: tuple[str, ...] = Field(default=("wiki_writing",), min_length=1)
    """The protocols; they determine the assignments."""
    agents: tuple[str, ...] = Field(min_length=1)
    reference_pages: PositiveInt = 500
    """The most pages to fetch of the articles' references, for an agent that is given them."""
    judge: str | None = None
    """Null: the default of judges.yaml."""
    extractor: str | None = None
    """Who extracts facts and claims: a judge, or `offline`; null: `judge`, if it calls a model."""
    batch: bool = False
    budget_usd: Usd | None = None
    """The month's budget, for all its runs together; null: no limit for a command, and a run of the
    deployment that would pay fails at its start."""
    schedule: Schedule | None = None
    """Null: started by hand only."""
    publish: Publishing | None = None
    """Null: nothing is published."""
    runs_at_once: dict[str, PositiveInt] = Field(default_factory=dict)
    """How many runs of deployments may use each of these providers of judges, and agents, at a
    time; the others wait."""
    alerts: Alerts | None = None
    """Null: nobody is told."""
    closed: tuple[str, ...] = ()
    """Editions left as they are: no refresh names them as unfinished or looks at their jobs."""

    def edition_of(self, moment: datetime) -> str:
        """Return the name of the edition that a run scheduled for this moment makes.

        moment: with its time zone, or in UTC.
        """
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        zone = ZoneInfo(self.schedule.timezone if self.schedule else "UTC")
        day = aware.astimezone(zone)
        return self.edition.format(year=day.year, month=day.month, day=day.day)


def load_refresh(configs: ConfigSource = CONFIGS) -> RefreshSettings:
    """Load the settings; agents, judges and protocols must exist.

    Raises:
        ConfigurationError: the file cannot be read or is invalid.
    """
    path = find_file(FILE, configs)
    settings = load_merged(FILE, RefreshSettings, configs)
    judges = load_judges(configs).judges
    agents = {name: entry for name, entry in load_agents(configs).agents.items() if entry.ask}
    protocols = {file.stem for file in list_files("protocols", [".yaml"], configs).values()}
    check_names(path, "protocols", settings.protocols, protocols)
    check_names(path, "agents", settings.agents, agents)
    check_names(path, "judge", filter(None, [settings.judge]), judges)
    check_names(path, "extractor", filter(None, [settings.extractor]), {*judges, "offline"})
    if settings.publish:
        check_names(path, "publish.judges", settings.publish.judges, judges)
    return settings

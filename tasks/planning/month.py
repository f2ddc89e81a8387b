"""What a refresh is to do: somebody's wishes over the configuration, settled and checked.

Prefect-free, so that commands start at once.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tasks.base import Frozen
from tasks.collection.request import CollectionRequest, months_before
from tasks.configuration.models import load_judges
from tasks.configuration.refresh import Publishing, RefreshSettings
from tasks.configuration.wikipedia import load_wikipedia
from tasks.jobs.sessions import ask_of, check_agents
from tasks.judging.preconditions import check_judges
from tasks.pending.questions import inverter_named
from tasks.protocols.registry import protocol
from tasks.site.mark import UnwritableSite, check_target
from tasks.warehouse.rows import UtcDatetime
from tasks.warehouse.store import Readable

SPENT = """
SELECT coalesce((
    SELECT sum(cost_usd ORDER BY cost_usd) FROM jobs
    WHERE edition = $1 AND agent IN (SELECT unnest($2))
), 0) + coalesce((
    SELECT sum(c.cost_usd ORDER BY c.cost_usd) FROM calls AS c
    WHERE c.judge IN (SELECT unnest($3))
        AND c.called_at >= (SELECT min(begun_at) FROM collections WHERE edition = $1)
        AND c.call_id NOT IN (
            SELECT v.call_id FROM verdicts AS v
            WHERE v.edition <> $1 AND v.call_id IS NOT NULL
        )
), 0) AS usd
"""
"""A call does not know its edition; a verdict that rests on it does. Other calls (extraction,
questions) count from the day the edition was begun."""


class Wishes(Frozen):
    """What somebody asked for; None: as configured, or as the edition was begun."""

    edition: str | None = None
    created_from: UtcDatetime | None = None
    created_to: UtcDatetime | None = None
    articles: int | None = None
    wiki_api: str | None = None
    agents: tuple[str, ...] | None = None
    judge: str | None = None
    extractor: str | None = None
    batch: bool | None = None
    budget_usd: float | None = None
    site: str | None = None
    approve: bool | None = None
    publish: bool = True
    """Off: nothing is published, whatever is configured."""


class Site(Frozen):
    """Where a month's results go, and who is asked before."""

    folder: str
    judges: tuple[str, ...]
    approve: bool
    approval_hours: float
    only_complete: bool

    @property
    def path(self) -> Path:
        return Path(self.folder)


class Month(Frozen):
    """One refresh, settled: what each of its steps is told."""

    edition: str
    created_from: datetime | None
    created_to: datetime | None
    articles: int | None
    wiki_api: str | None
    """These four: None where the edition is to stay as it was begun."""
    protocols: tuple[str, ...]
    """What agents are asked follows from these."""
    agents: tuple[str, ...]
    judge: str
    extractor: str | None
    batch: bool
    budget_usd: float | None
    site: Site | None

    @property
    def collection(self) -> CollectionRequest:
        """The edition as it would be begun, or gone on with."""
        return CollectionRequest(
            edition=self.edition, since=self.created_from, until=self.created_to,
            articles=self.articles, api_url=self.wiki_api,
        )  # fmt: skip

    @property
    def judges(self) -> list[str]:
        """Who decides something, the extractor as well."""
        return list(dict.fromkeys([self.judge, *([self.extractor] if self.extractor else [])]))

    @property
    def asks_questions(self) -> bool:
        """Whether a judge makes questions out of articles."""
        return any("find_claims" in protocol(name).kinds for name in self.protocols)


def month_of(
    source: Readable, settings: RefreshSettings, wishes: Wishes, scheduled_for: datetime
) -> Month:
    """The month that somebody asked for.

    An edition that has been begun is gone on with as it is: what is configured for its window and
    size counts only when it begins.

    scheduled_for: when the run was to begin: it names the edition and ends its window.
    """
    named = wishes.edition
    edition = settings.edition_of(scheduled_for) if named is None else named
    since, until, articles = wishes.created_from, wishes.created_to, wishes.articles
    if not is_begun(source, edition):
        day = scheduled_for.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        until = until or day
        since = since or months_before(until, _window_months(settings))
        articles = articles or settings.articles
    return Month(
        edition=edition,
        created_from=since,
        created_to=until,
        articles=articles,
        wiki_api=wishes.wiki_api,
        protocols=settings.protocols,
        agents=tuple(dict.fromkeys(wishes.agents or settings.agents)),
        judge=wishes.judge or settings.judge or load_judges().default,
        extractor=wishes.extractor or settings.extractor,
        batch=settings.batch if wishes.batch is None else wishes.batch,
        budget_usd=settings.budget_usd if wishes.budget_usd is None else wishes.budget_usd,
        site=_site(settings.publish, wishes, edition) if wishes.publish else None,
    )


def check_month(source: Readable, month: Month) -> None:
    """Refuse what cannot end well, before anybody is asked or paid.

    Raises:
        ConfigurationError: nobody is named to the wiki, or an agent, judge or protocol is not
            there.
        Misconfigured: a key is missing, or a judge cannot do what it is to do.
        NoPrice: there is a budget, and somebody's price is not known.
        UnwritableSite: the site's folder holds something else.
    """
    if not is_frozen(source, month.edition):
        load_wikipedia().named_operator()
    if month.asks_questions:
        inverter_named(month.judge)
    check_agents(month.agents, month.budget_usd)
    check_judges(month.judges, month.budget_usd, batch=month.batch)
    if month.site:
        try:
            check_target(month.site.path)
        except UnwritableSite as error:
            raise UnwritableSite(str(error).replace("--to", "--site")) from None


def spent_before(source: Readable, month: Month) -> float:
    """USD that earlier runs have spent on this edition's reports and on its judges' calls, as far
    as prices are known."""
    given = [month.edition, list(month.agents), month.judges]
    return float(source.frame(SPENT, given)["usd"][0])


def is_begun(source: Readable, edition: str) -> bool:
    """Whether its collection has begun."""
    return _count(source, "SELECT count(*) FROM collections WHERE edition = $1", [edition]) > 0


def is_frozen(source: Readable, edition: str) -> bool:
    """Whether its articles are all there, for good."""
    sql = "SELECT count(*) FROM collections WHERE edition = $1 AND frozen_at IS NOT NULL"
    return _count(source, sql, [edition]) > 0


def has_prompts(source: Readable, edition: str) -> bool:
    """Whether there is something to ask agents."""
    sql = "SELECT count(*) FROM assignments WHERE edition = $1 AND prompt IS NOT NULL"
    return _count(source, sql, [edition]) > 0


def reporting(source: Readable, edition: str, agents: Sequence[str]) -> list[str]:
    """Those of these agents that have written a report for the edition."""
    found = source.frame("SELECT DISTINCT agent FROM reports WHERE edition = $1", [edition])
    return [agent for agent in agents if agent in {*found["agent"]}]


def in_turn(month: Month) -> list[list[str]]:
    """The month's agents in the order of asking: those that search archived pages come after those
    that bring pages."""
    late = [agent for agent in month.agents if searches_archive(agent)]
    rounds = [agent for agent in month.agents if agent not in late], late
    return [agents for agents in rounds if agents]


def searches_archive(agent: str) -> bool:
    """Whether it goes by the pages that other agents have cited."""
    return bool(getattr(ask_of(agent), "archive", False))


def has_pages(source: Readable, edition: str) -> bool:
    """Whether agents that search archived pages could find anything."""
    sql = "SELECT count(*) FROM pages WHERE edition = $1 AND status = 'ok'"
    return _count(source, sql, [edition]) > 0


def has_figures(source: Readable, edition: str) -> bool:
    """Whether there is something to publish."""
    return _count(source, "SELECT count(*) FROM leaderboard WHERE edition = $1", [edition]) > 0


def refreshed_message(edition: str, last: str) -> str:
    """That nothing of a month is left to do. last: how its last step ended."""
    return f"{edition} is refreshed. {last}"


def _window_months(settings: RefreshSettings) -> int:
    return settings.window_months or load_wikipedia().window_months


def _site(publishing: Publishing | None, wishes: Wishes, edition: str) -> Site | None:
    """Where to publish: a folder that is named is enough."""
    folder = wishes.site or (publishing.to.format(edition=edition) if publishing else None)
    if folder is None:
        return None
    usual = publishing or Publishing(to="site")
    return Site(
        folder=folder,
        judges=usual.judges,
        approve=usual.approve if wishes.approve is None else wishes.approve,
        approval_hours=usual.approval_hours,
        only_complete=usual.only_complete,
    )


def _count(source: Readable, sql: str, parameters: Sequence[object]) -> int:
    return int(source.frame(sql, parameters).item())

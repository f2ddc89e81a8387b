"""Resolve what a refresh is to do from its options and the configuration, and check it.

Prefect-free, so that commands start fast.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from shlex import join
from typing import Any

from tasks.base import Frozen, format_count
from tasks.collection.request import CollectionRequest, months_before
from tasks.configuration.models import find_fallback, load_judges
from tasks.configuration.secrets import refuse_signing
from tasks.configuration.wikipedia import load_wikipedia
from tasks.editions.refresh import Publishing, RefreshSettings
from tasks.editions.state import is_begun, is_frozen
from tasks.errors import ExpectedError
from tasks.jobs.pending import find_jobs_under_way
from tasks.jobs.sessions import check_agents, load_ask_entry
from tasks.judges.registry import list_judges, resolve_extractor
from tasks.judging.session import check_judges
from tasks.planning.edition_options import RefreshOptions
from tasks.planning.permission import check_permitted, describe_future_extraction
from tasks.planning.sources import check_page_operator, is_given_sources
from tasks.protocols.registry import get_protocol
from tasks.questions import get_inverter
from tasks.site.mark import UnwritableSite, check_target
from tasks.warehouse.operations import MonthRefresh
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
"""Calls have no edition; the verdicts that rest on them do. Other calls (extraction, questions)
count from the day the edition was begun."""
REFRESHED = "SELECT * FROM refreshes ORDER BY began_at"
NAMED_AGAIN = {"agents", "judge", "extractor", "budget_usd", "site", "batch", "to_publish"}
"""The options that a month does not keep itself."""


class MonthSite(Frozen):
    """The site that a month is published to, and whether a person approves it first."""

    folder: str
    judges: tuple[str, ...]
    approve: bool
    approval_hours: float
    only_complete: bool

    @property
    def path(self) -> Path:
        return Path(self.folder)


class Month(Frozen):
    """The resolved parameters of a refresh."""

    edition: str
    created_from: datetime | None
    created_to: datetime | None
    articles: int | None
    wiki_api: str | None
    """These four are None where the edition stays as it was begun."""
    protocols: tuple[str, ...]
    """They determine what agents are asked."""
    agents: tuple[str, ...]
    reference_pages: int
    """The most pages to fetch of the articles' references."""
    judge: str
    extractor: str | None
    """Who was named; None: the judge, if it calls a model."""
    batch: bool
    budget_usd: float | None
    site: MonthSite | None

    @property
    def collection(self) -> CollectionRequest:
        """The request to begin or continue the edition."""
        return CollectionRequest(
            edition=self.edition, since=self.created_from, until=self.created_to,
            articles=self.articles, api_url=self.wiki_api,
        )  # fmt: skip

    @property
    def judges(self) -> list[str]:
        """All judges that are used, including the extractor."""
        return list_judges(self.judge, self.extractor)

    @property
    def extracted_by(self) -> str:
        """Who extracts facts and claims: a judge, or `offline`."""
        return resolve_extractor(self.judge, self.extractor)

    @property
    def asks_questions(self) -> bool:
        """Whether a judge makes questions from articles."""
        return any("find_claims" in get_protocol(name).kinds for name in self.protocols)


def resolve_month(
    source: Readable, settings: RefreshSettings, options: RefreshOptions, scheduled_for: datetime
) -> Month:
    """Resolve a refresh from its options and the configuration.

    The configured window and size only count when an edition begins; later they stay as begun.

    scheduled_for: when the run is scheduled; it names the edition and ends its window.
    """
    named = options.edition
    edition = settings.edition_of(scheduled_for) if named is None else named
    since, until, articles = options.created_from, options.created_to, options.articles
    if not is_begun(source, edition):
        day = scheduled_for.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        until = until or day
        months = settings.window_months or load_wikipedia().window_months
        since = since or months_before(until, months)
        articles = articles or settings.articles
    return Month(
        edition=edition,
        created_from=since,
        created_to=until,
        articles=articles,
        wiki_api=options.wiki_api,
        protocols=settings.protocols,
        agents=tuple(dict.fromkeys(options.agents or settings.agents)),
        reference_pages=settings.reference_pages,
        judge=options.judge or settings.judge or load_judges().default,
        extractor=options.extractor or settings.extractor,
        batch=settings.batch if options.batch is None else options.batch,
        budget_usd=settings.budget_usd if options.budget_usd is None else options.budget_usd,
        site=_resolve_site(settings.publish, options, edition) if options.to_publish else None,
    )


def check_month(source: Readable, month: Month) -> None:
    """Check that a month can run.

    Raises:
        ConfigurationError: no operator is set for the wiki or for pages of articles' references, or
            an agent, judge or protocol is unknown; or a site is to be written, and the
            environment names a key to sign with.
        Misconfigured: a key is missing, a judge lacks an ability, or a model that nobody named
            would extract facts and claims without a budget.
        UnknownPrice: there is a budget, but a price is unknown.
        UnwritableSite: the site's folder holds something else.
    """
    if not is_frozen(source, month.edition):
        load_wikipedia().get_operator()
    if month.asks_questions:
        get_inverter(month.judge)
    check_agents(month.agents, month.budget_usd)
    check_page_operator(source, month.edition, month.agents)
    check_judges(month.judges, month.budget_usd, batch=month.batch)
    check_permitted(describe_month_extraction(source, month))
    if month.site:
        refuse_signing()
        try:
            check_target(month.site.path)
        except UnwritableSite as error:
            raise UnwritableSite(str(error).replace("--to", "--site")) from None


def list_obstacles(settings: RefreshSettings) -> list[str]:
    """Return what would stop every month by these settings at its start, a sentence each."""
    judges = list_judges(settings.judge, settings.extractor)
    checks: tuple[Callable[[], object], ...] = (
        load_wikipedia().get_operator,
        lambda: check_agents(settings.agents, settings.budget_usd),
        lambda: check_judges(judges, settings.budget_usd, batch=settings.batch),
    )
    found = []
    for check in checks:
        try:
            check()
        except ExpectedError as error:
            found.append(str(error))
    return found


def describe_month_extraction(source: Readable, month: Month) -> str | None:
    """Describe the month's extraction if somebody has to permit it; None if nobody has to."""
    return describe_future_extraction(
        source, month.edition, month.agents, month.judge, month.extractor, month.budget_usd
    )


def sum_spent(source: Readable, month: Month) -> float:
    """Return the USD that earlier runs spent on this edition's reports and judges' calls, as far as
    prices are known."""
    given = [month.edition, list(month.agents), [*month.judges, find_fallback(month.judge)]]
    return float(source.frame(SPENT, given)["usd"][0])


def make_refresh_row(month: Month, options: RefreshOptions) -> MonthRefresh:
    """Make the row of a refresh that begins now."""
    given = options.model_dump_json(include=NAMED_AGAIN, exclude_none=True)
    return MonthRefresh(edition=month.edition, options=given)


def find_unfinished(
    source: Readable, settings: RefreshSettings, current: str = ""
) -> dict[str, str]:
    """Return the months whose last refresh left something, with what to say of each; without the
    current one and those that are closed."""
    runs = source.frame(REFRESHED).to_dicts()  # a scheduled one is of the month in which it began
    last = {run["edition"] or settings.edition_of(run["began_at"]): run for run in runs}
    return {
        edition: _describe_unfinished(source, edition, json.loads(run["options"]))
        for edition, run in last.items()
        if run["outcome"] != "ok"
        and edition not in (current, *settings.closed)
        and is_begun(source, edition)
    }


def _describe_unfinished(source: Readable, edition: str, given: Mapping[str, Any]) -> str:
    n = len(find_jobs_under_way(source, edition))
    jobs = f", with {format_count(n, 'paid job')} under way" if n else ""
    return (
        f"{edition} is unfinished{jobs}. Finish it: {command_to_refresh(edition, given)}; or list "
        "it under `closed` in configs/refresh.yaml."
    )


def command_to_refresh(edition: str, given: Mapping[str, Any]) -> str:
    """Return the command that goes on with a month as it was asked for. given: the options, by the
    names of the command or of `RefreshOptions`; a month keeps its window itself."""
    words = ["evergreen", "refresh", "--edition", edition]
    for field in ("agents", "judge", "extractor", "budget_usd", "site"):
        option = field.removesuffix("_usd").removesuffix("s")
        value = given.get(field, given.get(option))
        for each in value if isinstance(value, list) else [value]:
            words += [f"--{option}", str(each)] if each is not None else []
    words += ["--batch"] if given.get("batch") else []
    words += ["--no-publish"] if False in (given.get("to_publish"), given.get("publish")) else []
    return join(words)


def group_agents(month: Month) -> list[list[str]]:
    """Group the month's agents in the order they are asked: those that search archived pages come
    after those whose reports bring pages, and each that is given the sources stands alone."""
    given = [agent for agent in month.agents if is_given_sources(agent)]
    late = [agent for agent in month.agents if searches_archive(agent)]
    first = [agent for agent in month.agents if agent not in (*given, *late)]
    return [agents for agents in (first, *([agent] for agent in given), late) if agents]


def searches_archive(agent: str) -> bool:
    """Whether the agent searches the pages that other agents cited."""
    return getattr(load_ask_entry(agent), "archive", False) is True


def describe_refreshed(edition: str, last: str) -> str:
    """Say that nothing of a month is pending. last: the outcome of its last step."""
    return f"{edition} is refreshed. {last}"


def _resolve_site(
    publishing: Publishing | None, options: RefreshOptions, edition: str
) -> MonthSite | None:
    """Resolve where to publish; naming a folder is enough."""
    folder = options.site or (publishing.to.format(edition=edition) if publishing else None)
    if folder is None:
        return None
    usual = publishing or Publishing(to="site")
    return MonthSite(
        folder=folder,
        judges=usual.judges,
        approve=usual.approve if options.approve is None else options.approve,
        approval_hours=usual.approval_hours,
        only_complete=usual.only_complete,
    )

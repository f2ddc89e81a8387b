"""The steps of runs that chain several flows: a month, a backfill.

Each step is found when the one before is done, since it rests on what that has brought. So runs,
and who asks whether a run would find anything to do, go through the same lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.editions.manifest import confirm_unchanged
from tasks.editions.state import find_reporting_agents, has_pages, has_prompts, is_frozen
from tasks.jobs.pending import find_prompted_editions
from tasks.judges.registry import resolve_extractor
from tasks.planning.edition_options import AssignOptions, CollectOptions
from tasks.planning.month import Month, describe_refreshed, group_agents, searches_archive
from tasks.planning.options import (
    AskOptions,
    BackfillOptions,
    EvaluateOptions,
    FetchOptions,
    FlowOptions,
)
from tasks.planning.sources import choose_seed_pages, find_missing_sources, is_given_sources
from tasks.publishing.downloads import describe_current
from tasks.publishing.downloads import is_current as is_site_current
from tasks.warehouse.pages import SeedPage
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection


@dataclass(frozen=True)
class Step:
    """One step: a flow with its options."""

    name: str
    flow: str
    options: FlowOptions
    obstacle: str = ""
    """Why it cannot be taken now; the next one may."""
    seeds: Sequence[SeedPage] = ()
    """Pages to choose for an agent that is given the articles' sources, before the step."""

    def find_outcome(self, store: Warehouse) -> str | None:
        """Return its outcome if nothing is pending; None if something is."""
        if self.obstacle or self.seeds:
            return None
        return self.options.find_outcome(self.options.plan(store))


def list_month_steps(store: Warehouse, month: Month, *, look_ahead: bool = False) -> Iterator[Step]:
    """Yield a month's steps until its figures, in order; it ends early where a step has not brought
    what the next one needs. The site is published afterwards, once the warehouse is closed.

    look_ahead: also steps that cannot be taken yet, as if all before them were done.
    """
    edition, extractor = month.edition, month.extracted_by
    yield Step("collect", "collect", CollectOptions(
        edition=edition, created_from=month.created_from, created_to=month.created_to,
        articles=month.articles, wiki_api=month.wiki_api,
    ))  # fmt: skip
    if not (look_ahead or is_frozen(store, edition)):
        return
    for protocol in month.protocols:
        yield Step(f"assign {protocol}", "assign", AssignOptions(
            edition=edition, protocol=protocol, judge=month.judge, batch=month.batch
        ))  # fmt: skip
    if not (look_ahead or has_prompts(store, edition)):
        return
    for agents in group_agents(month):
        obstacle = ""
        if is_given_sources(agents[0]):
            [agent] = agents
            seeds = choose_seed_pages(store, edition, agent, month.reference_pages)
            yield Step("fetch references", "fetch", FetchOptions(
                edition=edition, agents=agents, extractor=extractor
            ), seeds=seeds)  # fmt: skip
            obstacle = find_missing_sources(store, edition, agent) or ""
        if searches_archive(agents[0]) and not has_pages(store, edition):
            obstacle = "No archived page to search: ask agents that cite pages."
        yield Step(
            f"ask {', '.join(agents)}", "ask", AskOptions(edition=edition, agents=agents), obstacle
        )
        wrote = [] if obstacle else find_reporting_agents(store, edition, agents)
        if wrote:
            yield Step(
                "fetch", "fetch", FetchOptions(edition=edition, agents=wrote, extractor=extractor)
            )
    if wrote := find_reporting_agents(store, edition, month.agents):
        yield Step("evaluate", "evaluate", EvaluateOptions(
            edition=edition, agents=wrote, judge=month.judge, extractor=month.extractor,
            batch=month.batch,
        ))  # fmt: skip


def list_backfill_steps(
    store: Warehouse, edition: str, options: BackfillOptions, judge: str
) -> Iterator[Step]:
    """Yield the steps that add agents to an edition; the last if none of them has a report is to
    ask them."""
    agents = options.agents
    yield Step("ask", "ask", AskOptions(edition=edition, agents=agents, first=options.first))
    if not (wrote := find_reporting_agents(store, edition, agents)):
        return
    if options.fetch_pages:
        by = resolve_extractor(judge, options.extractor)
        yield Step("fetch", "fetch", FetchOptions(edition=edition, agents=wrote, extractor=by))
    yield Step("evaluate", "evaluate", EvaluateOptions(
        edition=edition, protocols=options.protocols, agents=wrote, judge=judge,
        extractor=options.extractor,
    ))  # fmt: skip


def find_month_outcome(store: Warehouse, month: Month, collection: Collection) -> str | None:
    """Return the outcome if every step is done and the site shows the current figures, else None.

    Raises:
        EditionError: the articles have changed since they were frozen.
    """
    if not collection.frozen_at:
        return None
    last = step = None
    for step in list_month_steps(store, month):
        if step.flow != "collect" and (last := step.find_outcome(store)) is None:
            return None
    if step is None or step.flow != "evaluate":  # something that it needs is missing
        return None
    if site := month.site:
        if not is_site_current(store, month.edition, site.path, site.judges):
            return None
        last = describe_current(month.edition, site.folder)
    confirm_unchanged(store, collection)  # last, since it reads every text
    return describe_refreshed(month.edition, last or "")


def find_backfill_outcome(store: Warehouse, options: BackfillOptions, judge: str) -> str | None:
    """Return the outcome if these agents have every report of these editions, fetched, judged and
    ranked; else, or without any edition, None."""
    messages = []
    for edition in options.editions or find_prompted_editions(store):
        for step in list_backfill_steps(store, edition, options, judge):
            if (outcome := step.find_outcome(store)) is None:
                return None
            messages.append(outcome)
    return " ".join(messages) or None

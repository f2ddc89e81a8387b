"""The outcome of a refresh in which nothing is pending; see `outcomes`."""

from collections.abc import Iterator

from tasks.judging.protocols import choose_protocols
from tasks.pending.evaluation import Evaluation, describe_if_done
from tasks.planning.month import (
    Month,
    describe_refreshed,
    has_pages,
    has_prompts,
    searches_archive,
)
from tasks.planning.outcomes import ask_outcome, assign_outcome, collect_outcome, fetch_outcome
from tasks.planning.sources import find_missing_sources, is_given_sources
from tasks.publishing.freshness import describe_current, is_current
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection


def refresh_outcome(store: Warehouse, month: Month, collection: Collection) -> str | None:
    """Return the outcome if every step is done and the site shows the current figures, else None.

    Raises:
        EditionError: the articles have changed since they were frozen.
    """
    if not collection.frozen_at:
        return None
    last = ""
    for outcome in _step_outcomes(store, month):
        if outcome is None:
            return None
        last = outcome
    collect_outcome(store, collection)  # last, since it reads every text
    return describe_refreshed(month.edition, last)


def _step_outcomes(store: Warehouse, month: Month) -> Iterator[str | None]:
    """Yield the outcomes of the steps after freezing, in order; None for a pending step and where
    a run would end early.
    """
    edition, agents, site = month.edition, month.agents, month.site
    for name in month.protocols:
        yield assign_outcome(store, edition, name, month.judge, None)
    if not has_prompts(store, edition):
        yield None
    if any(map(searches_archive, agents)) and not has_pages(store, edition):
        yield None
    if any(find_missing_sources(store, edition, one) for one in agents if is_given_sources(one)):
        yield None
    yield ask_outcome(store, edition, agents)
    yield fetch_outcome(store, edition, agents, None, month.extracted_by)
    chosen = choose_protocols(store, edition)
    run = Evaluation(store.url, edition, chosen, agents, month.judge, month.extractor)
    yield describe_if_done(run)
    if site:
        there = is_current(store, edition, site.path, site.judges)
        yield describe_current(edition, site.folder) if there else None

"""How a refresh ends where no step of its month has anything to do: see `outcomes`."""

from collections.abc import Iterator

from tasks.judging.protocols import protocols_for
from tasks.pending.evaluation import Evaluation, outcome_if_done
from tasks.planning.month import (
    Month,
    has_pages,
    has_prompts,
    refreshed_message,
    searches_archive,
)
from tasks.planning.outcomes import ask_outcome, assign_outcome, collect_outcome, fetch_outcome
from tasks.publishing.unchanged import is_published, published_message
from tasks.warehouse.collected import Collection
from tasks.warehouse.store import Warehouse


def refresh_outcome(store: Warehouse, month: Month, collection: Collection) -> str | None:
    """Every step of a month has been taken, and its site shows the figures that there are.

    Raises:
        EditionError: its articles are not as they were frozen.
    """
    if not collection.frozen_at:
        return None
    last = ""
    for said in _steps(store, month):
        if said is None:
            return None
        last = said
    collect_outcome(store, collection)  # reads every text: only where no run is to do it
    return refreshed_message(month.edition, last)


def _steps(store: Warehouse, month: Month) -> Iterator[str | None]:
    """How the steps after a month's freezing end, in their order; None of one that is to be taken.

    Where a run would end before its last step, None as well.
    """
    edition, agents, site = month.edition, month.agents, month.site
    for name in month.protocols:
        yield assign_outcome(store, edition, name, month.judge, None)
    if not has_prompts(store, edition):
        yield None
    if any(map(searches_archive, agents)) and not has_pages(store, edition):
        yield None
    yield ask_outcome(store, edition, agents)
    yield fetch_outcome(store, edition, agents, None, month.extractor)
    chosen = protocols_for(store, edition)
    run = Evaluation(store.url, edition, chosen, agents, month.judge, month.extractor)
    yield outcome_if_done(run)
    if site:
        there = is_published(store, edition, site.path, site.judges)
        yield published_message(edition, site.folder) if there else None

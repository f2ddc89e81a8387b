"""The outcome of each command when nothing is pending, found without a Prefect server.

Each function returns the outcome of a run that would do nothing, or None if something is pending
and the flow has to run. Callers validate their parameters first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.editions.manifest import confirm_unchanged
from tasks.editions.prompts import describe_assigned, find_unprompted_articles
from tasks.judges.registry import resolve_extractor
from tasks.judging.protocols import choose_protocols
from tasks.pending.absent import find_absent
from tasks.pending.evaluation import (
    Evaluation,
    describe_if_done,
    plan_extraction,
    select_extractions,
)
from tasks.pending.pages import (
    describe_archived,
    describe_open_pages,
    find_pending_pages,
    find_unread_pages,
    list_fetch_sources,
)
from tasks.pending.reports import find_pending_reports, has_reports
from tasks.protocols.registry import get_protocol
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.snapshot import is_snapshot_current
from tasks.warehouse.store import Warehouse
from tasks.warehouse.wiki_editions import Collection

if TYPE_CHECKING:
    from tasks.pending.drafts import PendingDraft


def fetch_outcome(
    store: Warehouse,
    edition: str,
    agents: Sequence[str],
    fallbacks: Sequence[FetchSource] | None,
    extractor: str | None,
    *,
    again: bool = False,
) -> str | None:
    """The outcome if every cited page was requested from every source, read and exported."""
    run = plan_extraction(store, edition, agents, extractor)
    if select_extractions(run) or find_unread_pages(store, edition) or find_absent(store, edition):
        return None
    if any(
        find_pending_pages(store, edition, fetch_source, agents, again=again)
        for fetch_source in list_fetch_sources(fallbacks)
    ):
        return None
    if describe_open_pages(store, edition, agents) or not is_snapshot_current(store, edition):
        return None
    return describe_archived(store, edition)


def read_outcome(store: Warehouse, edition: str) -> str | None:
    """The outcome if there are no fetched pages (they are read again each time) and all is
    exported."""
    if find_unread_pages(store, edition, again=True) or not is_snapshot_current(store, edition):
        return None
    return f"{edition}: there are no fetched pages to read again."


def ask_outcome(
    store: Warehouse, edition: str, agents: Sequence[str], assignments: Sequence[str] = ()
) -> str | None:
    """The outcome if each agent has a report for every assignment and all are exported."""
    if any(find_pending_reports(store, edition, agent, assignments) for agent in agents):
        return None
    if not is_snapshot_current(store, edition):
        return None
    return f"{edition}: no report of {', '.join(agents)} is missing."


def assign_outcome(
    store: Warehouse, edition: str, protocol: str, judge: str, articles: int | None
) -> str | None:
    """The outcome if every article has its prompt, or its questions."""
    if "find_claims" not in get_protocol(protocol).kinds:
        if find_unprompted_articles(store, edition):
            return None
        return describe_assigned(store, edition, new=0)
    # Imported here: it loads the model clients.
    from tasks.pending.questions import describe_accepted, find_pending_articles, get_inverter

    if find_pending_articles(store, edition, get_inverter(judge), articles):
        return None
    return describe_accepted(store, edition)


def draft_outcome(edition: str, folder: Path, pending: "Sequence[PendingDraft]") -> str | None:
    """The outcome if every article has its draft."""
    return None if pending else f"{edition}: all drafts are in {folder} already."


def collect_outcome(store: Warehouse, collection: Collection) -> str | None:
    """The outcome if the edition is frozen; compares it with its manifest.

    Raises:
        EditionError: it has changed since it was frozen.
    """
    return confirm_unchanged(store, collection) if collection.frozen_at else None


def backfill_outcome(
    store: Warehouse,
    agents: Sequence[str],
    editions: Sequence[str],
    protocols: Sequence[str],
    judge: str,
    extractor: str | None,
    *,
    fetch_pages: bool,
) -> str | None:
    """The outcome if these agents have every report of these editions, fetched, judged and
    ranked."""
    messages: list[str] = []
    for edition in editions:
        outcomes = [ask_outcome(store, edition, agents)]
        reporting = [agent for agent in agents if has_reports(store, edition, agent)]
        if reporting:  # else its flow ends after asking
            if fetch_pages:
                by = resolve_extractor(judge, extractor)
                outcomes.append(fetch_outcome(store, edition, reporting, None, by))
            chosen = choose_protocols(store, edition, protocols)
            run = Evaluation(store.url, edition, chosen, (*reporting,), judge, extractor)
            outcomes.append(describe_if_done(run))
        if None in outcomes:
            return None
        messages += [outcome for outcome in outcomes if outcome]
    return " ".join(messages) or None

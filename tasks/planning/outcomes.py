"""How each command ends where nothing is pending: read from the warehouse, without a server.

Each function gives the outcome of a run that would do nothing, or None where something is pending
and the flow has to run. What a command refuses is checked before.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.editions.manifest import unchanged_message
from tasks.editions.prompts import assigned_message, unprompted
from tasks.judging.protocols import protocols_for
from tasks.pending.evaluation import Evaluation, outcome_if_done, pending_extractions
from tasks.pending.pages import archived_message, unfetched, unread, ways
from tasks.pending.reports import has_reports, unreported
from tasks.protocols.registry import protocol as protocol_named
from tasks.warehouse.collected import Collection
from tasks.warehouse.pages import FetchSource
from tasks.warehouse.snapshot import is_exported
from tasks.warehouse.store import Warehouse

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
    """Every cited page has been asked for in every way, read, and exported."""
    run = Evaluation(store.url, edition, (), tuple(agents), "", extractor)
    if pending_extractions(run) or unread(store, edition):
        return None
    if any(unfetched(store, edition, way, agents, again=again) for way in ways(fallbacks)):
        return None
    return archived_message(store, edition) if is_exported(store, edition) else None


def read_outcome(store: Warehouse, edition: str) -> str | None:
    """No page was fetched, and all that there is has been exported: a page that was fetched is
    read again each time."""
    if unread(store, edition, again=True) or not is_exported(store, edition):
        return None
    return f"{edition}: there is no fetched page to be read again."


def ask_outcome(
    store: Warehouse, edition: str, agents: Sequence[str], assignments: Sequence[str] = ()
) -> str | None:
    """Every assignment has a report of each agent, and all are exported."""
    if any(unreported(store, edition, agent, assignments) for agent in agents):
        return None
    if not is_exported(store, edition):
        return None
    return f"{edition}: every report of {', '.join(agents)} is there."


def assign_outcome(
    store: Warehouse, edition: str, protocol: str, judge: str, articles: int | None
) -> str | None:
    """Every article has its prompt, or its questions."""
    if "find_claims" not in protocol_named(protocol).kinds:
        if unprompted(store, edition):
            return None
        return assigned_message(store, edition, new=0)
    # Loads what asks models: other commands start without it.
    from tasks.pending.questions import accepted_message, inverter_named, pending_articles

    if pending_articles(store, edition, inverter_named(judge), articles):
        return None
    return accepted_message(store, edition)


def draft_outcome(edition: str, folder: Path, pending: "Sequence[PendingDraft]") -> str | None:
    """Every article has its draft."""
    return None if pending else f"{edition}: every draft is in {folder} already."


def collect_outcome(store: Warehouse, collection: Collection) -> str | None:
    """The edition is frozen; it is compared with its manifest.

    Raises:
        EditionError: it is not as it was frozen.
    """
    return unchanged_message(store, collection) if collection.frozen_at else None


def backfill_outcome(
    store: Warehouse,
    agent: str,
    editions: Sequence[str],
    protocols: Sequence[str],
    judge: str,
    extractor: str | None,
    *,
    fetch_pages: bool,
) -> str | None:
    """An agent has every report of these editions, fetched, judged and ranked."""
    said: list[str] = []
    for edition in editions:
        outcomes = [ask_outcome(store, edition, [agent])]
        if has_reports(store, edition, agent):  # else its flow ends after asking
            if fetch_pages:
                outcomes.append(fetch_outcome(store, edition, [agent], None, extractor))
            chosen = protocols_for(store, edition, protocols)
            run = Evaluation(store.url, edition, chosen, (agent,), judge, extractor)
            outcomes.append(outcome_if_done(run))
        if None in outcomes:
            return None
        said += [outcome for outcome in outcomes if outcome]
    return " ".join(said) or None

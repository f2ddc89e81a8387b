"""Publish an edition as a static site with pages, pictures and data."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from flows.display.console import STDERR, print_always, print_message
from flows.runtime.announcing import announce
from flows.runtime.approval import get_run_url, wait_for_decision
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_leaderboard_artifacts,
    add_text_artifact,
    escape_markdown,
    format_markdown_table,
)
from flows.runtime.progress import stage_progress
from flows.runtime.server import is_local
from flows.runtime.warehouse import hold_warehouse, plain_flow, tag_run
from flows.stages import run_function
from tasks.base import format_count
from tasks.configuration.secrets import refuse_signing
from tasks.editions.names import check_edition, check_scored
from tasks.outcome import Outcome
from tasks.planning.options import PublishOptions
from tasks.publishing.changes import load_figures
from tasks.publishing.material import Snapshots
from tasks.scoring.columns import load_leaderboard
from tasks.scoring.current import check_current
from tasks.site.mark import check_target
from tasks.warehouse.operations import Publication
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

if TYPE_CHECKING:
    from tasks.publishing.site import SiteSummary


@plain_flow("publish", PublishOptions, "publish / {edition}")
async def publish(options: PublishOptions) -> Outcome:
    """Write an edition's results as a site, optionally after a person's approval.

    Returns:
        `Completed`, or a completed state named `Declined`, with nothing written, when a person
        declines or, if the run waits in its own process, nobody decides.

    Raises:
        UnknownName: there is no such edition, or no figures of it or of a judge.
        LeaderboardBehind: the figures are older than the scores.
        UnwritableSite: the folder holds something else, or is not writable.
        ConfigurationError: the environment names a key to sign with.
    """
    edition, to, snapshots = options.edition, options.to, options.snapshots
    chosen = tuple(dict.fromkeys(options.judges or ()))
    note, approved = "", ""
    while True:
        with await hold_warehouse(options.warehouse) as store:
            await tag_run(options)
            check_publishable(store, edition, chosen, Path(to))
            digest = _hash_figures(store, edition, chosen)
            if digest != approved:
                await add_leaderboard_artifacts(store, edition, chosen)
                await add_costs_artifact(store, utc_now(), "no model was ever called")
            if not options.approve or digest == approved:
                return await _publish_site(store, edition, to, chosen, snapshots, note)
            await _request_approval(store, edition, to, chosen, snapshots)
            await _record_publication(store, edition, to, chosen, is_written=False)
        decision = await wait_for_decision(digest, options.approval_hours * 3600)
        if decision is None or not decision.publish:
            why = "nobody decided in time" if decision is None else f"declined. {decision.note}"
            message = f"{edition} was not published: {why.strip()}"
            await add_text_artifact(
                "published", escape_markdown(message), f"{edition}: nothing was written."
            )
            return Outcome("done", message, other_name="Declined")
        approved, note = digest, decision.note  # if the figures have changed since, ask again


async def run_site_task(
    store: Warehouse,
    edition: str,
    to: Path,
    judges: Sequence[str] = (),
    snapshots: Snapshots = "passages",
) -> "SiteSummary":
    """Write the site, atomically, in a task of this run; return its summary or raise its error."""

    async def write_site() -> "SiteSummary":
        from tasks.publishing.site import build_site

        said = set[str]()

        def show(doing: str, done: int, total: int) -> None:
            progress.update(doing, done, total)
            if not STDERR.is_terminal and doing not in said:
                said.add(doing)
                print_message(f"Writing the site: {doing}")

        async with stage_progress("publish", None) as progress:
            return await asyncio.to_thread(
                build_site,
                store,
                edition,
                to,
                judges=tuple(judges),
                snapshots=snapshots,
                on_progress=show,
            )

    return await run_function(f"site / {edition}", write_site)


async def _publish_site(
    store: Warehouse,
    edition: str,
    to: str,
    judges: Sequence[str],
    snapshots: Snapshots,
    note: str,
) -> Outcome:
    site = await run_site_task(store, edition, Path(to), judges, snapshots)
    await _record_publication(store, edition, to, judges)
    announce("published", edition)
    await add_text_artifact(
        "published", _format_site_summary(site, judges, snapshots, note), f"{edition}: a site."
    )
    state = "provisional: items are open or reports are missing" if site.provisional else "final"
    return Outcome(
        "done",
        f"{edition} is published in {site.folder}: {format_count(site.files, 'file')}, "
        f"{site.bytes / 1e6:,.1f} MB, {state}. Open {site.folder / 'index.html'}",
    )


async def _record_publication(
    store: Warehouse, edition: str, to: str, judges: Sequence[str], *, is_written: bool = True
) -> None:
    """Record where a site of the edition is, or that a person was asked whether to write it."""
    shown = json.dumps(judges)
    site = Publication(edition=edition, folder=to, judges=shown, is_written=is_written)
    await store.write_async(Change(Publication, [site]))


def _format_site_summary(
    site: "SiteSummary", judges: Sequence[str], snapshots: str, note: str
) -> str:
    rows = [
        {"what": "folder", "is": str(site.folder)},
        {"what": "files", "is": f"{site.files:,}"},
        {"what": "size", "is": f"{site.bytes / 1e6:,.1f} MB"},
        {"what": "the first page loads", "is": f"{site.first_load_bytes / 1e3:,.0f} kB"},
        {"what": "written in", "is": f"{site.seconds:,.1f} s"},
        {"what": "figures", "is": "provisional" if site.provisional else "final"},
        {"what": "judges", "is": ", ".join(judges) or "all"},
        {"what": "snapshots of pages", "is": snapshots},
        *([{"what": "approved with the note", "is": note}] if note else []),
    ]
    return format_markdown_table(rows)


async def _request_approval(
    store: Warehouse, edition: str, to: str, judges: Sequence[str], snapshots: str
) -> None:
    """Show what would be published, and print where to decide."""
    board = load_leaderboard(store, edition)
    shown = board.filter(board["judge"].is_in(list(judges))) if judges else board
    open_figures = shown.filter(shown["provisional"])
    rows = [
        {"what": "edition", "is": edition},
        {"what": "into", "is": to},
        {"what": "judges", "is": ", ".join(shown["judge"].unique().sort())},
        {"what": "agents", "is": ", ".join(shown["agent"].unique().sort())},
        {"what": "figures", "is": f"{shown.height:,}, {open_figures.height:,} of them provisional"},
        {"what": "snapshots of pages", "is": snapshots},
    ]
    text = (
        f"{format_markdown_table(rows)}\n\nThis run's artifact `leaderboard` holds the figures. To "
        "decide, press *Resume* on this run's page and fill in the form."
    )
    await add_text_artifact("approval", text, f"{edition}: what would be published.")
    asks = " If it asks for a password, `evergreen ui` logs your browser in." if is_local() else ""
    print_always(
        f"Waiting for a decision on {edition}: review it and press Resume at {get_run_url()}{asks}"
    )


def check_publishable(store: Warehouse, edition: str, judges: Sequence[str], to: Path) -> None:
    """Check everything that could prevent publication, before a person is asked."""
    check_edition(store, edition)
    check_scored(store, edition, judges=judges)
    check_target(to)
    refuse_signing()
    check_current(store, edition)


def _hash_figures(store: Warehouse, edition: str, judges: Sequence[str]) -> str:
    """Hash the figures that a person approves."""
    board = load_figures(store, edition)
    shown = board.filter(pl.col("judge").is_in(judges)) if judges else board
    text = f"{sorted(judges)}\n{shown.write_csv()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]

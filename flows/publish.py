"""Publish an edition as a static site with pages, pictures and data."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from prefect import tags, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed

from flows.display.console import print_always
from flows.runtime.approval import RunCancelled, get_run_url, wait_for_decision
from flows.runtime.artifacts import (
    add_costs_artifact,
    add_leaderboard_artifacts,
    add_text_artifact,
    escape_markdown,
    format_markdown_table,
)
from flows.runtime.progress import stage_progress
from flows.runtime.server import is_local
from flows.runtime.task_runs import run_task_for_result
from flows.runtime.warehouse import hold_warehouse, recorded_flow
from tasks.base import format_count
from tasks.editions.names import check_edition, check_scored
from tasks.planning.parameters import Hours, JudgeName
from tasks.publishing.changes import load_figures
from tasks.publishing.material import Snapshots
from tasks.scoring.columns import load_leaderboard
from tasks.scoring.current import check_current
from tasks.signing.keys import find_signer
from tasks.site.mark import check_target
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, get_open_warehouse

if TYPE_CHECKING:
    from tasks.publishing.site import SiteSummary


@recorded_flow("publish", "publish · {edition}")
async def publish(
    edition: str,
    to: str,
    judges: list[JudgeName] | None = None,
    snapshots: Snapshots = "passages",
    approve: bool = False,
    approval_hours: Hours = 72.0,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Write an edition's results as a site, optionally after a person's approval.

    Args:
        edition: its name in the warehouse.
        to: the site's folder; replaced as a whole, once everything is written.
        judges: only these judges' figures; every judge's unless given.
        snapshots: what to publish of archived pages: the `passages` that verdicts rest on, or the
            `whole` texts.
        approve: show what would be published and wait for a person's decision on this run's page.
        approval_hours: how long to wait for it. Afterwards nothing is published: a run of the
            command line ends as `Declined`; a run of a deployment stays suspended, and fails when
            somebody resumes it.
        warehouse: a DuckDB file or a lake's address; waits while another process owns the file.

    Returns:
        `Completed`, or a completed state named `Declined`, with nothing written, when a person
        declines or, if the run waits in its own process, nobody decides.

    Raises:
        UnknownName: there is no such edition, or no figures of it or of a judge.
        LeaderboardBehind: the figures are older than the scores.
        UnwritableSite: the folder holds something else, or is not writable.
        UnusableKey: the environment names a key to sign with that cannot be used.
    """
    chosen = tuple(dict.fromkeys(judges or ()))
    note, approved = "", ""
    while True:
        with (
            await hold_warehouse(warehouse) as store,
            tags(f"edition:{edition}"),
        ):
            check_publishable(store, edition, chosen, Path(to))
            digest = _hash_figures(store, edition, chosen)
            if digest != approved:
                await add_leaderboard_artifacts(store, edition, chosen)
                await add_costs_artifact(store, utc_now(), "no model was ever called")
            if not approve or digest == approved:
                return await _publish_site(store, edition, to, chosen, snapshots, note)
            await _request_approval(store, edition, to, chosen, snapshots)
        try:
            decision = await wait_for_decision(digest, approval_hours * 3600)
        except RunCancelled as error:
            return Cancelled(message=str(error))
        if decision is None or not decision.publish:
            why = "nobody decided in time" if decision is None else f"declined. {decision.note}"
            message = f"{edition} was not published: {why.strip()}"
            await add_text_artifact(
                "published", escape_markdown(message), f"{edition}: nothing was written."
            )
            return Completed(name="Declined", message=message)
        approved, note = digest, decision.note  # if the figures have changed since, ask again


@task(
    task_run_name="site · {edition}",
    cache_policy=NO_CACHE,
    persist_result=False,
)
async def write_site(
    warehouse_path: str,
    edition: str,
    to: str,
    judges: Sequence[str],
    snapshots: Snapshots,
) -> "SiteSummary":
    """Write the site into its folder, atomically."""
    from tasks.publishing.site import build_site

    async with stage_progress("publish", None) as progress:
        return await asyncio.to_thread(
            build_site,
            get_open_warehouse(warehouse_path),
            edition,
            Path(to),
            judges=tuple(judges),
            snapshots=snapshots,
            signer=find_signer(),  # here: a key is no parameter, which Prefect would store
            on_progress=progress.update,
        )


async def run_site_task(
    store: Warehouse,
    edition: str,
    to: Path,
    judges: Sequence[str] = (),
    snapshots: Snapshots = "passages",
) -> "SiteSummary":
    """Write the site in a task of this run; return its summary or raise the task's error."""
    site: SiteSummary = await run_task_for_result(
        write_site, store.url, edition, str(to), judges, snapshots
    )
    return site


async def _publish_site(
    store: Warehouse,
    edition: str,
    to: str,
    judges: Sequence[str],
    snapshots: Snapshots,
    note: str,
) -> State[None]:
    site = await run_site_task(store, edition, Path(to), judges, snapshots)
    await add_text_artifact(
        "published", _format_site_summary(site, judges, snapshots, note), f"{edition}: a site."
    )
    state = "provisional: items are open or reports are missing" if site.provisional else "final"
    return Completed(
        message=f"{edition} is published in {site.folder}: {format_count(site.files, 'file')}, "
        f"{site.bytes / 1e6:,.1f} MB, {state}, signature: {site.signature}. "
        f"Open {site.folder / 'index.html'}"
    )


def _format_site_summary(
    site: "SiteSummary", judges: Sequence[str], snapshots: str, note: str
) -> str:
    rows = [
        {"what": "folder", "is": str(site.folder)},
        {"what": "files", "is": f"{site.files:,}"},
        {"what": "size", "is": f"{site.bytes / 1e6:,.1f} MB"},
        {"what": "the first page loads", "is": f"{site.first_load_bytes / 1e3:,.0f} kB"},
        {"what": "signature", "is": site.signature},
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
    ]  # fmt: skip
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
    find_signer()
    check_current(store, edition)


def _hash_figures(store: Warehouse, edition: str, judges: Sequence[str]) -> str:
    """Hash the figures that a person approves."""
    board = load_figures(store, edition)
    shown = board.filter(pl.col("judge").is_in(judges)) if judges else board
    text = f"{sorted(judges)}\n{shown.write_csv()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]

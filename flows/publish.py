"""Publish an edition as a site: pages, pictures and data that anybody can serve and check."""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from prefect import flow, tags, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed

from flows.display.console import insist
from flows.display.leaderboard import leaderboard_frame
from flows.runtime.approval import CalledOff, decided, run_page
from flows.runtime.artifacts import (
    leave_costs,
    leave_leaderboard,
    leave_text,
    markdown_table,
    plain,
)
from flows.runtime.parameters import Hours, JudgeName
from flows.runtime.progress import stage_progress
from flows.runtime.task_runs import result_of
from flows.runtime.warehouse import hold_warehouse
from tasks.editions.names import check_edition, check_scored
from tasks.publishing.changes import board_of
from tasks.publishing.material import Snapshots
from tasks.scoring.current import check_current
from tasks.site.mark import check_target
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse, get_open_warehouse

if TYPE_CHECKING:
    from tasks.publishing.site import Published


@flow(name="publish", flow_run_name="publish · {edition}")
async def publish(
    edition: str,
    to: str,
    judges: list[JudgeName] | None = None,
    snapshots: Snapshots = "passages",
    approve: bool = False,
    approval_hours: Hours = 72.0,
    warehouse: str = "data/warehouse.duckdb",
) -> State[None]:
    """Write an edition's results as a site, if wanted after a person has agreed.

    Args:
        edition: its name in the warehouse.
        to: the folder of the site; replaced as a whole, once everything is written.
        judges: only these judges' figures; every judge's unless named.
        snapshots: of archived pages publish the `passages` that verdicts rest on, or the `whole`
            texts.
        approve: show what would be published and wait until a person decides, on this run's page.
        approval_hours: how long to wait for that. Afterwards nothing is published: a run of the
            command line ends as `Declined`; a run of a deployment stays suspended, and fails when
            somebody resumes it.
        warehouse: a DuckDB file, waited for while another process owns it, or a lake's address.

    Returns:
        `Completed`, or a completed state named `Declined` when a person said no, or, to a run
        that waits in its own process, nobody anything: then nothing was written.

    Raises:
        UnknownName: no such edition, or no figures of it or of a judge.
        LeaderboardBehind: the figures are not those of the scores.
        UnwritableSite: the folder holds something else, or cannot be written.
    """
    chosen = tuple(dict.fromkeys(judges or ()))
    note, agreed = "", ""
    while True:
        with (
            await hold_warehouse(warehouse) as store,
            tags(f"edition:{edition}"),
        ):
            check_publishable(store, edition, chosen, Path(to))
            shown = _digest(store, edition, chosen)
            if shown != agreed:
                await leave_leaderboard(store, edition, chosen)
                await leave_costs(store, utc_now(), "nothing was ever asked of a model")
            if not approve or shown == agreed:
                return await _published(store, edition, to, chosen, snapshots, note)
            await _ask(store, edition, to, chosen, snapshots)
        try:
            decision = await decided(shown, approval_hours * 3600)
        except CalledOff as error:
            return Cancelled(message=str(error))
        if decision is None or not decision.publish:
            why = "nobody decided in time" if decision is None else f"declined. {decision.note}"
            message = f"{edition} was not published: {why.strip()}"
            await leave_text("published", plain(message), f"{edition}: nothing was written.")
            return Completed(name="Declined", message=message)
        agreed, note = shown, decision.note  # if the figures are others by now, they ask again


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
) -> "Published":
    """Write the site into its folder; a half-written one is never seen there."""
    from tasks.publishing.site import publish_site

    async with stage_progress("publish", None) as progress:
        return await asyncio.to_thread(
            publish_site,
            get_open_warehouse(warehouse_path),
            edition,
            Path(to),
            judges=tuple(judges),
            snapshots=snapshots,
            on_progress=progress.tell,
        )


async def written(
    store: Warehouse,
    edition: str,
    to: Path,
    judges: Sequence[str] = (),
    snapshots: Snapshots = "passages",
) -> "Published":
    """The site as it was written by a task of this run; what it failed with is raised."""
    published: Published = await result_of(
        partial(write_site, store.url, edition, str(to), judges, snapshots, return_state=True)
    )
    return published


async def _published(
    store: Warehouse,
    edition: str,
    to: str,
    judges: Sequence[str],
    snapshots: Snapshots,
    note: str,
) -> State[None]:
    site = await written(store, edition, Path(to), judges, snapshots)
    await leave_text("published", _site_words(site, judges, snapshots, note), f"{edition}: a site.")
    state = "provisional: items are still open" if site.provisional else "final"
    return Completed(
        message=f"{edition} is published in {site.folder}: {site.files:,} files, "
        f"{site.bytes / 1e6:,.1f} MB, {state}. Open {site.folder / 'index.html'}"
    )


def _site_words(site: "Published", judges: Sequence[str], snapshots: str, note: str) -> str:
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
    return markdown_table(rows)


async def _ask(
    store: Warehouse, edition: str, to: str, judges: Sequence[str], snapshots: str
) -> None:
    """Show what would be published, and say in the terminal where to decide."""
    board = leaderboard_frame(store, edition)
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
        f"{markdown_table(rows)}\n\nThe artifact `leaderboard` of this run holds the figures. To "
        "decide, press *Resume* on the page of this run and fill in the form."
    )
    await leave_text("approval", text, f"{edition}: what would be published.")
    insist(f"Waiting for a decision on {edition}: look at it and press Resume at {run_page()}")


def check_publishable(store: Warehouse, edition: str, judges: Sequence[str], to: Path) -> None:
    """Refuse before a person is asked what could not be written afterwards, or not truly."""
    check_edition(store, edition)
    check_scored(store, edition)
    for name in judges:
        check_scored(store, edition, judge_name=name)
    check_target(to)
    check_current(store, edition)


def _digest(store: Warehouse, edition: str, judges: Sequence[str]) -> str:
    """What a person agrees to: these figures and no others."""
    board = board_of(store, edition)
    shown = board.filter(pl.col("judge").is_in(judges)) if judges else board
    text = f"{sorted(judges)}\n{shown.write_csv()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]

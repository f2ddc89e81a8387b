"""`evergreen import wlc`: import a published edition with all its pages."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.hints import describe_next_step
from flows.cli.options import AgentsOption, WarehouseOption
from flows.display.console import print_message, transient_progress
from tasks.base import format_count
from tasks.imports.wlc import import_edition
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import open_warehouse


def import_wlc(
    path: Annotated[Path, typer.Argument(help="The edition's folder (wiki_data, test_data).")],
    edition: Annotated[
        str | None, typer.Option(help="The edition's name; the folder's name if not given.")
    ] = None,
    agent: AgentsOption = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Import an edition in the published Wiki Live Challenge layout; idempotent."""
    name = edition or path.resolve().name
    bars = transient_progress()
    with open_warehouse(warehouse, on_wait=print_message) as store, bars:
        bar = bars.add_task(f"import {name}", total=None)

        def on_progress(agent_id: str, done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total, description=f"import {agent_id}")

        summary = import_edition(store, path, name, agent or [], on_progress)
        issues = store.frame(
            "SELECT severity, path, message FROM import_issues WHERE edition = $1 "
            "AND severity = 'unreadable' ORDER BY path",
            [name],
        )
        next_step = describe_next_step(store, name)
    print_message(
        f"{name}: {format_count(summary.articles, 'article')}, "
        f"{format_count(summary.facts, 'fact')}, {format_count(summary.agents, 'agent')}, "
        f"{format_count(summary.reports, 'report')} ({summary.new_reports} new or changed), "
        f"{format_count(summary.claims, 'published claim')}, "
        f"{format_count(summary.pages, 'page')}.",
    )
    for row in issues.iter_rows(named=True):
        print_message(f"not read: {row['path']}: {row['message']}", style="red")
    if summary.remarks:
        print_message(
            f'{format_count(summary.remarks, "remark")}: evergreen sql "SELECT kind, path, '
            f"message FROM import_issues WHERE edition = '{name}'\"",
            style="dim",
        )
    print_message(next_step)

"""`evergreen doctor`: whether everything stands on which the next run will stand."""

import json
import os
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from flows.cli.options import Printed, WarehouseAt
from flows.display.console import ANSWERS, REMARKS
from flows.runtime.server import is_healthy, read_record
from flows.runtime.settings import prefect_home
from tasks.doctor.finding import Finding, counted
from tasks.warehouse.location import DEFAULT

WORDS = {"ok": "ok", "warn": "to look at", "fail": "failed", "skipped": "skipped"}
STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red", "skipped": "dim"}


def doctor(
    offline: Annotated[
        bool, typer.Option("--offline", help="Ask nobody outside: no model, no agent, no wiki.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every row and unpack every page; may take minutes.")
    ] = False,
    edition: Annotated[
        str | None,
        typer.Option("--edition", help="Whose work is looked through; the newest if not given."),
    ] = None,
    form: Printed = "table",
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Look at everything that can go wrong, and say what to do about it.

    Versions, configuration, keys (whether they are set, nothing else), models that end, addresses,
    the clock, the Prefect server, the warehouse and its archive, open work, disks. Nothing is
    written, bought or sent. Exit code 0 when no check failed; warnings do not count.
    """
    from tasks.doctor.run import Looked, examine  # with a good part of all there is

    looked = Looked(
        where=warehouse,
        prefect_home=prefect_home(),
        api_url=_api_url(),
        edition=edition,
        offline=offline,
        deep=deep,
    )
    with REMARKS.status("Looking …"):
        findings = list(examine(looked))
    counts = counted(findings)
    if form == "json":
        listed = [found.model_dump() for found in findings]
        print(json.dumps({"counts": counts, "findings": listed}, ensure_ascii=False, indent=1))
    else:
        _print(findings)
        named = ", ".join(f"{n} {WORDS[status]}" for status, n in counts.items() if n)
        ANSWERS.print(f"{named}.", highlight=False)
    if counts["fail"]:
        raise typer.Exit(1)


def _api_url() -> str | None:
    """Of the server that is configured, else of ours if it runs."""
    if configured := os.environ.get("PREFECT_API_URL"):
        return configured
    record = read_record(prefect_home())
    return record.api_url if record and is_healthy(record.api_url) else None


def _print(findings: Sequence[Finding]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("")
    table.add_column("Check", overflow="fold", max_width=26)  # a folder's path would take half
    table.add_column("Found, and what to do", overflow="fold", ratio=1)
    for group, of_group in _grouped(findings):
        table.add_row("", f"[bold]{escape(group)}[/bold]", "")
        for found in of_group:
            said = escape(found.finding)
            if found.advice:
                said += f"\n[dim]→ {escape(found.advice)}[/dim]"
            style = STYLES[found.status]
            table.add_row(f"[{style}]{found.status}[/{style}]", escape(found.check), said)
    ANSWERS.print(table)


def _grouped(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """By group, in the order of each one's first finding."""
    groups: dict[str, list[Finding]] = {}
    for found in findings:
        groups.setdefault(found.group, []).append(found)
    return list(groups.items())

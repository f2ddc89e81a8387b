"""`evergreen doctor`: check everything that the next run needs."""

import os
from collections.abc import Sequence
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from flows.cli.options import TextOrJsonOption, WarehouseOption
from flows.display.console import STDERR, STDOUT
from flows.display.formats import format_json
from flows.runtime.login import read_password
from flows.runtime.server_record import is_healthy, read_record
from flows.runtime.settings import prefect_home
from tasks.doctor.finding import Finding, count_by_status
from tasks.doctor.server import PrefectServer
from tasks.foreign_text import make_visible
from tasks.warehouse.location import DEFAULT_LOCATION

STATUS_LABELS = {"ok": "ok", "warn": "to look at", "fail": "failed", "skipped": "skipped"}
STATUS_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red", "skipped": "dim"}


def doctor(
    offline: Annotated[
        bool,
        typer.Option(
            "--offline", help="No requests: neither to models nor to agents nor to the wiki."
        ),
    ] = False,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Read every row and decompress every page; may take minutes."),
    ] = False,
    edition: Annotated[
        str | None,
        typer.Option(help="The edition to check for open work; the newest if not given."),
    ] = None,
    form: TextOrJsonOption = "table",
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Check everything that can go wrong, and say what to do about it.

    Checks versions, configuration, keys (only whether they are set), retiring models, addresses,
    the clock, the Prefect server, the warehouse and its archive, open work, disks. Nothing is
    written, bought or sent. Exit code 0 if no check failed; warnings do not count.
    """
    from tasks.doctor.checks import Scope, examine  # with a good part of all there is

    scope = Scope(
        where=warehouse,
        prefect_home=prefect_home(),
        server=_find_server(),
        edition=edition,
        offline=offline,
        deep=deep,
    )
    with STDERR.status("Checking …"):
        findings = list(examine(scope))
    counts = count_by_status(findings)
    if form == "json":
        listed = [found.model_dump() for found in findings]
        print(format_json({"counts": counts, "findings": listed}))
    else:
        _print_findings(findings)
        named = ", ".join(f"{n} {STATUS_LABELS[status]}" for status, n in counts.items() if n)
        STDOUT.print(f"{named}.", highlight=False)
    if counts["fail"]:
        raise typer.Exit(1)


def _find_server() -> PrefectServer | None:
    """Return the configured Prefect server, else ours if it runs."""
    if configured := os.environ.get("PREFECT_API_URL"):
        return PrefectServer(configured)
    home = prefect_home()
    record = read_record(home)
    if record is None or not is_healthy(record.api_url):
        return None
    return PrefectServer(record.api_url, read_password(home))


def _print_findings(findings: Sequence[Finding]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("")
    table.add_column("Check", overflow="fold", max_width=26)  # a folder's path would take half
    table.add_column("Found, and what to do", overflow="fold", ratio=1)
    groups: dict[str, list[Finding]] = {}
    for found in findings:
        groups.setdefault(found.group, []).append(found)
    for group, of_group in groups.items():
        table.add_row("", Text(group, "bold"), "")
        for found in of_group:
            text = Text(make_visible(found.finding))
            if found.advice:
                text.append(make_visible(f"\n→ {found.advice}"), "dim")
            status = Text(found.status, STATUS_STYLES[found.status])
            table.add_row(status, found.check, text)
    STDOUT.print(table)

"""`evergreen calls`: the ledger of calls to models."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import CallJudgeOption, FormatOption, WarehouseOption
from flows.cli.output import refuse_unwritable
from flows.cli.warehouse import open_to_read
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.base import format_count
from tasks.costs.ledger import summarize_calls
from tasks.editions.names import UnknownName
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import Readable


class CallStatus(StrEnum):
    """The status of a call."""

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    BLOCKED = "blocked"
    EMPTY = "empty"
    FAILED = "failed"


def calls(
    judge: CallJudgeOption = None,
    step: Annotated[str | None, typer.Option("--step", help="Only calls of this step.")] = None,
    status: Annotated[
        CallStatus | None, typer.Option("--status", help="Only calls with this status.")
    ] = None,
    show: Annotated[
        str | None, typer.Option("--show", help="Show one call in full, by the start of its id.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the calls to this file as JSON Lines.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show the ledger of calls to models: requests, answers, tokens, time and costs."""
    with open_to_read(warehouse) as source:
        if show is not None:
            _show_call(source, show)
            return
        wanted = {"judge": judge, "step": step, "status": status}
        filters = {name: str(value) for name, value in wanted.items() if value is not None}
        if export is not None:
            _export_calls(source, filters, export)
        elif filters:
            print_frame(_load_calls(source, filters, SUMMARY_COLUMNS), form)
        else:
            print_frame(summarize_calls(source), form)


SUMMARY_COLUMNS = (
    "left(call_id, 12) AS call, judge, step, attempt AS nth, status, tries, "
    "prompt_tokens AS in, coalesce(output_tokens, 0) + coalesce(thinking_tokens, 0) AS out, "
    "round(cost_usd, 6) AS usd, round(latency_seconds, 2) AS seconds, "
    "coalesce(error, left(answer, 30)) AS said"
)


def _load_calls(source: Readable, filters: dict[str, str], columns: str) -> pl.DataFrame:
    where = " AND ".join(f"{name} = ${n}" for n, name in enumerate(filters, start=1)) or "true"
    return source.frame(
        f"SELECT {columns} FROM calls WHERE {where} ORDER BY called_at, call_id",
        list(filters.values()),
    )


def _show_call(source: Readable, start: str) -> None:
    found = source.frame("SELECT * FROM calls WHERE starts_with(call_id, $1) LIMIT 2", [start])
    if found.height != 1:
        raise UnknownName(
            f"{'No call starts' if found.is_empty() else 'Several calls start'} with {start!r}; "
            "`evergreen calls --status ok` lists their ids."
        )
    for name, value in found.row(0, named=True).items():
        STDOUT.print(name, style="bold", highlight=False, end="  ")
        print_result("" if value is None else str(value))


def _export_calls(source: Readable, filters: dict[str, str], path: Path) -> None:
    frame = KeyGuard().check_frame(_load_calls(source, filters, "*"), "calls")
    with refuse_unwritable(path, "export"), path.open("w", encoding="utf-8") as lines:
        for row in frame.iter_rows(named=True):
            lines.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    print_message(f"{format_count(frame.height, 'call')} written to {path}.")

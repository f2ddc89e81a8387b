"""`evergreen calls`: the ledger of what models were asked."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.costs.ledger import calls_summary
from tasks.editions.names import UnknownName
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading


class CallStatus(StrEnum):
    """How calls end."""

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    BLOCKED = "blocked"
    EMPTY = "empty"
    FAILED = "failed"


def calls(
    judge: Annotated[str | None, typer.Option("--judge", help="Only this judge's.")] = None,
    step: Annotated[str | None, typer.Option("--step", help="Only this step's.")] = None,
    status: Annotated[
        CallStatus | None, typer.Option("--status", help="Only those that ended so.")
    ] = None,
    show: Annotated[
        str | None, typer.Option("--show", help="One call whole, by the start of its id.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write them, a call a line, as JSON Lines.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """The ledger: what was asked, what came back, what it took and cost."""
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        if show is not None:
            _show_call(source, show)
            return
        wanted = {"judge": judge, "step": step, "status": status}
        filters = {name: str(value) for name, value in wanted.items() if value is not None}
        if export is not None:
            _export_calls(source, filters, export)
        elif filters:
            print_frame(_calls(source, filters, BRIEF), form)
        else:
            print_frame(calls_summary(source), form)


BRIEF = (
    "left(call_id, 12) AS call, judge, step, attempt AS nth, status, tries, "
    "prompt_tokens AS in, coalesce(output_tokens, 0) + coalesce(thinking_tokens, 0) AS out, "
    "round(cost_usd, 6) AS usd, round(latency_seconds, 2) AS seconds, "
    "coalesce(error, left(answer, 30)) AS said"
)


def _calls(source: Any, filters: dict[str, str], columns: str) -> pl.DataFrame:
    where = " AND ".join(f"{name} = ${n}" for n, name in enumerate(filters, start=1)) or "true"
    frame: pl.DataFrame = source.frame(
        f"SELECT {columns} FROM calls WHERE {where} ORDER BY called_at, call_id",
        list(filters.values()),
    )
    return frame


def _show_call(source: Any, start: str) -> None:
    found = source.frame("SELECT * FROM calls WHERE starts_with(call_id, $1) LIMIT 2", [start])
    if found.height != 1:
        raise UnknownName(
            f"{'No call starts' if found.is_empty() else 'Several calls start'} with {start!r}; "
            "`evergreen calls --status ok` lists their ids."
        )
    for name, value in found.row(0, named=True).items():
        ANSWERS.print(f"[bold]{name}[/bold]", end="  ")
        ANSWERS.print("" if value is None else str(value), markup=False, highlight=False)


def _export_calls(source: Any, filters: dict[str, str], path: Path) -> None:
    frame = _calls(source, filters, "*")
    with path.open("w", encoding="utf-8") as lines:
        for row in frame.iter_rows(named=True):
            lines.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    remark(f"{frame.height:,} calls written to {path}.")

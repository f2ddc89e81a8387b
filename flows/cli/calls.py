"""`evergreen calls`: the ledger of calls to models."""

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import CallJudgeOption, FormatOption, WarehouseOption
from flows.cli.output import refuse_unwritable
from flows.cli.warehouse import choose_edition, open_to_read
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.base import format_count
from tasks.costs.ledger import summarize_calls
from tasks.costs.tokens import TokenLevel, count_tokens
from tasks.editions.names import UnknownName
from tasks.protocols.registry import resolve_name
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
    step: Annotated[
        str | None, typer.Option(metavar="STEP", help="Only calls of this step.")
    ] = None,
    status: Annotated[CallStatus | None, typer.Option(help="Only calls with this status.")] = None,
    show: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Show one call in full, by the start of its id."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write the calls to this file as JSON Lines.")
    ] = None,
    by: Annotated[
        TokenLevel | None, typer.Option(help="Sum up the calls of judging; a batch is one request.")
    ] = None,
    edition: Annotated[
        str | None, typer.Option(help="With --by: the edition judged; the newest if not given.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="With --by: only judging by this; all if not given.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show the ledger of calls to models: requests, answers, tokens, time and costs."""
    of_calls = {"--step": step, "--status": status, "--show": show, "--output": output}
    _check_given(by, of_calls, {"--edition": edition, "--protocol": protocol})
    if by and edition is None:
        edition = choose_edition(warehouse)
    with open_to_read(warehouse, edition) as source:
        if by and edition:
            _print_sums(source, edition, by, protocol, judge, form)
            return
        if show is not None:
            _show_call(source, show)
            return
        wanted = {"judge": judge, "step": step, "status": status}
        filters = {name: str(value) for name, value in wanted.items() if value is not None}
        if output is not None:
            _export_calls(source, filters, output)
        elif filters:
            print_frame(_load_calls(source, filters, SUMMARY_COLUMNS), form)
        else:
            spare = ("seconds", "tries", "thinking", "cached", "written")
            print_frame(summarize_calls(source), form, spare)


def _check_given(
    by: str | None,
    of_calls: Mapping[str, object],
    of_sums: Mapping[str, object],
) -> None:
    """Raise typer.BadParameter for options that do nothing with --by, or without it."""
    for option, value in (of_calls if by else of_sums).items():
        if value is not None:
            raise typer.BadParameter(
                f"{'not' if by else 'only'} together with --by.", param_hint=option
            )


def _print_sums(
    source: Readable,
    edition: str,
    by: TokenLevel,
    protocol: str | None,
    judge: str | None,
    form: Format,
) -> None:
    """Print the calls, tokens and dollars of judging an edition."""
    chosen = resolve_name(protocol) if protocol else None
    frame = count_tokens(source, edition, chosen, by, judge)
    if frame.is_empty():
        whose = f"the judge {judge}" if judge else "any judge"
        which = f" by {chosen}" if chosen else ""
        print_message(f"{edition}: no calls of {whose}{which}; offline judges make none.")
    print_frame(frame.with_columns(pl.col("usd").round(4)), form)


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
    with refuse_unwritable(path, "--output"), path.open("w", encoding="utf-8") as lines:
        for row in frame.iter_rows(named=True):
            lines.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    print_message(f"{format_count(frame.height, 'call')} written to {path}.")

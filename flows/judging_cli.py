"""Commands about judges and what they cost: judges, estimate, calls."""

import asyncio
import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from flows.console import ANSWERS, passing_bars, remark
from flows.edition_remarks import say_idle
from flows.options import PROTOCOL_HELP, Shown, WarehouseAt
from flows.pages_cli import say_unfetched
from flows.show import Format, print_frame
from tasks.calls import calls_summary
from tasks.cells import plan_cells
from tasks.checking import check_judge_live
from tasks.chosen_protocols import protocols_for
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.estimating import COLUMNS, estimate_cells, estimate_extraction, estimate_key_points
from tasks.judges.registry import judge as judge_named
from tasks.judges.registry import judge_entry
from tasks.judging import price_today
from tasks.processes.pool import HELPERS
from tasks.protocols.registry import protocol
from tasks.selection import UnknownName, check_selection
from tasks.unextracted import unextracted
from tasks.unpointed import go_by_key_points, unpointed
from tasks.warehouse.reading import reading
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import DEFAULT, Warehouse, open_warehouse


class CallStatus(StrEnum):
    """How calls end."""

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    BLOCKED = "blocked"
    EMPTY = "empty"
    FAILED = "failed"


judges = typer.Typer(
    invoke_without_command=True, help="The judges there are; `check` asks one a cheap question."
)


@judges.callback()
def list_judges(context: typer.Context, form: Shown = Format.TABLE) -> None:
    """The judges of configs/judges.yaml, with price and state."""
    if context.invoked_subcommand:
        return
    known = load_judges()
    rows = [_judge_row(name, entry, name == known.default) for name, entry in known.judges.items()]
    print_frame(pl.DataFrame(rows), form)


@judges.command("check")
def check(name: Annotated[str, typer.Argument(help="A judge of configs/judges.yaml.")]) -> None:
    """Ask a judge one cheap question, and say what is wrong if it cannot answer."""
    found, entry = judge_entry(name)
    if not isinstance(entry, LlmJudgeEntry):
        ANSWERS.print(f"{found}: ready (it needs no model).", markup=False)
        return
    checked = asyncio.run(check_judge_live(found, entry))
    ANSWERS.print(f"{found}: {checked}", markup=False, highlight=False)


HOW_ESTIMATED = (
    "Tokens from the length of the prompts; dollars without cache hits and repairs. "
    "`usd_at_most`: a token a byte and every answer as long as allowed, which is what --budget "
    "reserves."
)


def estimate(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    judge: Annotated[str, typer.Option("--judge", help="A judge of configs/judges.yaml.")],
    protocols: Annotated[list[str] | None, typer.Option("--protocol", help=PROTOCOL_HELP)] = None,
    agents: Annotated[
        list[str] | None, typer.Option("--agent", help="Only this agent; may be given again.")
    ] = None,
    extractor: Annotated[
        str | None, typer.Option("--extractor", help="As for `evaluate`: a judge that extracts.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Calls, tokens and dollars of an evaluation before anything is spent."""
    with open_warehouse(warehouse, on_wait=remark) as store:
        chosen = protocols_for(store, edition, protocols or ())
        check_selection(store, edition, chosen, agents or [], judge)
        say_idle(store, edition, chosen)
        frame, remarks = _estimated(store, edition, judge, chosen, agents or [], extractor)
        say_unfetched(store, edition, chosen)
    _print_estimate(frame, form)
    for said in remarks:
        remark(said, "dim")


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


def _judge_row(name: str, entry: Any, is_default: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"judge": name + (" (default)" if is_default else "")}
    if not isinstance(entry, LlmJudgeEntry):
        return row | {"model": "–", "answers as": "–", "in": 0.0, "out": 0.0, "state": "ready"}
    price = price_today(entry)
    retired = entry.retires is not None and entry.retires <= utc_now().date()
    state = f"retired on {entry.retires}" if retired else f"retires {entry.retires}"
    return row | {
        "model": entry.model,
        "answers as": entry.answers_as or "(the first answer says)",
        "in": price.live.input if price else None,
        "out": price.live.output if price else None,
        "state": state if entry.retires else f"settings of {entry.checked}",
    }


def _estimated(
    store: Warehouse,
    edition: str,
    judge: str,
    protocols: Sequence[str],
    agents: list[str],
    extractor: str | None,
) -> tuple[pl.DataFrame, list[str]]:
    frames, remarks = [], []
    name, entry = judge_entry(judge)
    try:
        if isinstance(entry, LlmJudgeEntry):
            decider = judge_named(name)
            plans = [p for n in protocols
                     for p in plan_cells(store, edition, protocol(n), decider, agents)]  # fmt: skip
            todo = [p for p in plans if p.state in ("pending", "failed")]
            waiting = [p for p in todo if (p.state_reason or "").startswith("waits for")]
            if waiting:
                remarks.append(
                    f"{len(waiting)} cells wait for facts or claims that have not been extracted: "
                    "what judging them costs is not in the figures. Run `evergreen evaluate` with "
                    "the offline judge first, or estimate again after the extraction."
                )
            ready = [p for p in todo if p not in waiting]
            if len(todo) < len(plans):
                done = len(plans) - len(todo)
                remarks.insert(0, f"{done} of {len(plans)} cells need no judging.")
            with passing_bars() as bars:
                bar = bars.add_task("cells", total=len(ready))
                frames.append(estimate_cells(store, entry, ready, lambda n: bars.advance(bar, n)))
            if go_by_key_points(protocols) and (bare := unpointed(store, edition, agents)):
                frames.append(estimate_key_points(store, name, entry, bare))
                remarks.append(
                    f"{len(bare)} articles have no key points yet: making them is in the figures "
                    "(what there is to merge is guessed from the article), checking the reports "
                    "for them is not."
                )
        if extractor:
            extracting_name, extracting = judge_entry(extractor)
            if isinstance(extracting, LlmJudgeEntry):
                decider = judge_named(extracting_name)
                items = unextracted(store, edition, agents, decider)  # type: ignore[arg-type]
                frames.append(estimate_extraction(store, extracting_name, extracting, items))
    finally:
        HELPERS.close()
    frames = [frame for frame in frames if frame.height]
    if frames:
        remarks.append(HOW_ESTIMATED)
    return (pl.concat(frames) if frames else pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.Float64)
                                                          )), remarks  # fmt: skip


def _print_estimate(frame: pl.DataFrame, form: Format) -> None:
    if form is Format.TABLE and not frame.height:
        remark("No calls: nothing that is ready to be judged needs any.")
        return
    if form is Format.TABLE:
        sums = {c: frame[c].sum() for c in COLUMNS[2:]}
        total = pl.DataFrame([{"protocol": "all", "agent": "", **sums}], schema=frame.schema)
        frame = pl.concat([frame, total])
    money = [c for c in frame.columns if c.startswith("usd")]
    print_frame(frame.with_columns(pl.col(money).cast(pl.Float64).round(4)), form)

"""Estimate what an evaluation will cost, and print it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

import polars as pl

from flows.display.console import print_message, transient_progress
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.base import format_count
from tasks.claims import (
    CLAIMS,
    describe_kept_extractions,
    read_offline,
    select_bought_extractions,
)
from tasks.configuration.models import LlmJudgeEntry
from tasks.extraction.texts import PendingExtraction
from tasks.judges.registry import load_judge_entry, load_model_entry
from tasks.key_points import KEY_POINTS
from tasks.planning.estimate import (
    COLUMNS,
    describe_fallback,
    estimate_cells,
    estimate_extraction,
    estimate_key_points,
)
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HelperProcesses
from tasks.run import Plan
from tasks.scoring.extractors import describe_older
from tasks.verdicts import VERDICTS, list_cells
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

UNKNOWN = "unknown"
HOW_ESTIMATED = (
    "Tokens by the length of the prompts; dollars without cache hits and repairs. `usd_at_most`: "
    "one token per byte and answers of maximum length, which is what --budget reserves."
)


def estimate_evaluation(plan: Plan) -> tuple[pl.DataFrame, list[str]]:
    """Estimate calls, tokens and dollars of the pending cells; return them and notes on them."""
    frames: list[pl.DataFrame] = []
    remarks: list[str] = []
    store, extractor = plan.store, plan.selection.extracting_judge
    name, entry = load_judge_entry(plan.selection.judge)
    with closing(HelperProcesses()) as helpers:
        if isinstance(entry, LlmJudgeEntry):
            frames.append(_estimate_judging(plan, helpers, entry, remarks))
            if kept := describe_kept_extractions(plan):
                remarks.append(kept)
            if bare := plan.find_pending(KEY_POINTS):
                frames.append(estimate_key_points(store, name, entry, bare))
                remarks.append(
                    f"Without key points: {format_count(len(bare), 'article')}; the estimate "
                    "includes making them (merging is a guess from the article), but not judging "
                    "reports by them."
                )
        if extractor:
            extracting_name, extracting = load_model_entry(extractor, "extract")
            texts = select_bought_extractions(plan)
            frames.append(estimate_extraction(store, extracting_name, extracting, texts))
    frames = [frame for frame in frames if frame.height]
    if not frames:
        return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.Float64)), remarks
    return pl.concat(frames), [*remarks, HOW_ESTIMATED]


def _estimate_judging(
    plan: Plan, helpers: HelperProcesses, entry: LlmJudgeEntry, remarks: list[str]
) -> pl.DataFrame:
    """Estimate the cells that are pending once the offline extractor has read what it is to read;
    add remarks on them."""
    store, of = plan.store, plan.selection
    waiting = {cell.cell_id for cell in plan.find_pending(VERDICTS)}
    by_model = of.extracting_judge is not None
    texts = [item for item in plan.find_pending(CLAIMS) if item.stays_offline or not by_model]
    changes = asyncio.run(_read(store, helpers, texts))
    with transient_progress() as bars, store.pretend(changes):
        pretended = plan.renew()
        todo = pretended.find_pending(VERDICTS)
        ready = [cell for cell in todo if not cell.is_waiting]
        remarks += _describe_cells(len(pretended.ask(list_cells)), len(todo), len(ready))
        if entry.fallback:
            remarks.append(describe_fallback(of.judge, entry.fallback, todo))
        if texts:
            new = format_count(len({cell.cell_id for cell in ready} - waiting), "cell")
            remarks.append(
                f"The offline extractor reads {format_count(len(texts), 'text')} first. What it "
                f"finds makes {new} ready that would not be judged else; the estimate counts them."
            )
        older = describe_older(store, of.edition)
        remarks += [f"{said} --judge {of.judge} --estimate" for said in older]
        bar = bars.add_task("cells", total=len(ready))
        return estimate_cells(store, helpers, entry, ready, lambda n: bars.advance(bar, n))


async def _read(
    store: Warehouse, helpers: HelperProcesses, texts: Sequence[PendingExtraction]
) -> list[Change]:
    """Read texts as an evaluation would, but write nothing."""
    changes: list[Change] = []
    for item in texts:
        with suppress(LimitExceeded, HelperFailed):  # its cells wait
            changes += await read_offline(store, helpers, item)
    return changes


def _describe_cells(n_cells: int, n_pending: int, n_ready: int) -> Iterator[str]:
    """Say which cells the estimate leaves out."""
    if n_pending < n_cells:
        yield f"{n_cells - n_pending} of {format_count(n_cells, 'cell')} need no judging."
    if n_ready < n_pending:
        waiting = format_count(n_pending - n_ready, "cell")
        yield (
            f"Waiting for facts or claims that are not extracted yet: {waiting}; the estimate does "
            "not include judging them. Estimate again after the extraction."
        )


def print_estimate(frame: pl.DataFrame, form: Format) -> None:
    """Print a line per protocol and agent; a table also gets their sums. Without a price, dollars
    are unknown."""
    if form is Format.TABLE and not frame.height:
        print_message("No calls: no cell that is ready to be judged needs any.")
        return
    money = [c for c in frame.columns if c.startswith("usd")]
    if form is Format.TABLE:
        sums = {c: None if frame[c].has_nulls() else frame[c].sum() for c in COLUMNS[2:]}
        total = pl.DataFrame([{"protocol": "all", "agent": "", **sums}], schema=frame.schema)
        frame = pl.concat([frame, total])
    frame = frame.with_columns(pl.col(money).cast(pl.Float64).round(4))
    if form is Format.TABLE:
        shown = pl.col(money).cast(pl.String).fill_null(UNKNOWN)
        frame = frame.with_columns(shown.str.pad_start(len(UNKNOWN)))
    print_frame(frame, form)

"""Estimate what an evaluation will cost, and print it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

import polars as pl

from flows.display.console import print_message, transient_progress
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.base import format_count
from tasks.claims import read_offline
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge_entry, load_model_entry
from tasks.pending.evaluation import (
    Evaluation,
    describe_kept_extractions,
    find_pending_cells,
    plan_run_cells,
    select_bought_extractions,
    select_extractions,
    select_key_points,
)
from tasks.pending.extractions import PendingExtraction
from tasks.planning.estimate import (
    COLUMNS,
    describe_fallback,
    estimate_cells,
    estimate_extraction,
    estimate_key_points,
)
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HELPERS
from tasks.scoring.extractors import describe_older
from tasks.warehouse.writer import Change

UNKNOWN = "unknown"
HOW_ESTIMATED = (
    "Tokens by the length of the prompts; dollars without cache hits and repairs. `usd_at_most`: "
    "one token per byte and answers of maximum length, which is what --budget reserves."
)


def estimate_evaluation(run: Evaluation) -> tuple[pl.DataFrame, list[str]]:
    """Estimate calls, tokens and dollars of the pending cells; return them and notes on them."""
    frames: list[pl.DataFrame] = []
    remarks: list[str] = []
    name, entry = load_judge_entry(run.judge)
    try:
        if isinstance(entry, LlmJudgeEntry):
            frames.append(_estimate_judging(run, entry, remarks))
            if kept := describe_kept_extractions(run):
                remarks.append(kept)
            if bare := select_key_points(run):
                frames.append(estimate_key_points(run.store, name, entry, bare))
                remarks.append(
                    f"Without key points: {format_count(len(bare), 'article')}; the estimate "
                    "includes making them (merging is a guess from the article), but not judging "
                    "reports by them."
                )
        if run.extracting_judge:
            extracting_name, extracting = load_model_entry(run.extracting_judge, "extract")
            texts = select_bought_extractions(run)
            frames.append(estimate_extraction(run.store, extracting_name, extracting, texts))
    finally:
        HELPERS.close()
    frames = [frame for frame in frames if frame.height]
    if not frames:
        return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.Float64)), remarks
    return pl.concat(frames), [*remarks, HOW_ESTIMATED]


def _estimate_judging(run: Evaluation, entry: LlmJudgeEntry, remarks: list[str]) -> pl.DataFrame:
    """Estimate the cells that are pending once the offline extractor has read what it is to read;
    add remarks on them."""
    waiting = {plan.cell_id for plan in find_pending_cells(plan_run_cells(run))}
    by_model = run.extracting_judge is not None
    texts = [item for item in select_extractions(run) if item.stays_offline or not by_model]
    with transient_progress() as bars, run.store.pretend(asyncio.run(_read(run, texts))):
        plans = plan_run_cells(run)
        todo = find_pending_cells(plans)
        ready = [plan for plan in todo if not plan.is_waiting]
        remarks += _describe_cells(len(plans), len(todo), len(ready))
        if entry.fallback:
            remarks.append(describe_fallback(run.judge, entry.fallback, todo))
        if texts:
            new = format_count(len({plan.cell_id for plan in ready} - waiting), "cell")
            remarks.append(
                f"The offline extractor reads {format_count(len(texts), 'text')} first. What it "
                f"finds makes {new} ready that would not be judged else; the estimate counts them."
            )
        older = describe_older(run.store, run.edition)
        remarks += [f"{said} --judge {run.judge} --estimate" for said in older]
        bar = bars.add_task("cells", total=len(ready))
        return estimate_cells(run.store, entry, ready, lambda n: bars.advance(bar, n))


async def _read(run: Evaluation, texts: Sequence[PendingExtraction]) -> list[Change]:
    """Read texts as an evaluation would, but write nothing."""
    changes: list[Change] = []
    for item in texts:
        with suppress(LimitExceeded, HelperFailed):  # its cells wait
            changes += await read_offline(run.store, item)
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

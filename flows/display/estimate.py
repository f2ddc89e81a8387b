"""Estimate what an evaluation will cost, and print it."""

from collections.abc import Sequence

import polars as pl

from flows.display.console import print_message, transient_progress
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.base import format_count
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge as judge_named
from tasks.judges.registry import load_judge_entry
from tasks.judging.cells import plan_cells
from tasks.pending.extractions import find_pending_extractions
from tasks.pending.key_points import find_pending_key_points, need_key_points
from tasks.planning.estimate import (
    COLUMNS,
    estimate_cells,
    estimate_extraction,
    estimate_key_points,
)
from tasks.processes.pool import HELPERS
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import Warehouse

HOW_ESTIMATED = (
    "Tokens by the length of the prompts; dollars without cache hits and repairs. `usd_at_most`: "
    "one token per byte and answers of maximum length, which is what --budget reserves."
)


def estimate_evaluation(
    store: Warehouse,
    edition: str,
    judge: str,
    protocols: Sequence[str],
    agents: list[str],
    extractor: str | None,
) -> tuple[pl.DataFrame, list[str]]:
    """Estimate calls, tokens and dollars of the pending cells; return them and notes on them."""
    frames, remarks = [], []
    name, entry = load_judge_entry(judge)
    try:
        if isinstance(entry, LlmJudgeEntry):
            decider = judge_named(name)
            plans = [
                plan
                for protocol in protocols
                for plan in plan_cells(store, edition, get_protocol(protocol), decider, agents)
            ]
            todo = [p for p in plans if p.state in ("pending", "failed")]
            waiting = [p for p in todo if (p.state_reason or "").startswith("waits for")]
            if waiting:
                remarks.append(
                    f"Waiting for facts or claims that are not extracted yet: "
                    f"{format_count(len(waiting), 'cell')}; "
                    "the estimate does not include them. Run `evergreen evaluate` with the "
                    "offline judge first, or estimate again after the extraction."
                )
            ready = [p for p in todo if p not in waiting]
            if len(todo) < len(plans):
                done = len(plans) - len(todo)
                remarks.insert(0, f"{done} of {format_count(len(plans), 'cell')} need no judging.")
            with transient_progress() as bars:
                bar = bars.add_task("cells", total=len(ready))
                frames.append(estimate_cells(store, entry, ready, lambda n: bars.advance(bar, n)))
            if need_key_points(protocols) and (
                bare := find_pending_key_points(store, edition, agents)
            ):
                frames.append(estimate_key_points(store, name, entry, bare))
                remarks.append(
                    f"Without key points: {format_count(len(bare), 'article')}; the estimate "
                    "includes making them (merging is a guess from the article), but not judging "
                    "reports by them."
                )
        if extractor:
            extracting_name, extracting = load_judge_entry(extractor)
            if isinstance(extracting, LlmJudgeEntry):
                decider = judge_named(extracting_name)
                items = find_pending_extractions(store, edition, agents, decider)
                frames.append(estimate_extraction(store, extracting_name, extracting, items))
    finally:
        HELPERS.close()
    frames = [frame for frame in frames if frame.height]
    if frames:
        remarks.append(HOW_ESTIMATED)
    return (pl.concat(frames) if frames else pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.Float64)
                                                          )), remarks  # fmt: skip


def print_estimate(frame: pl.DataFrame, form: Format) -> None:
    """Print a line per protocol and agent; a table also gets their sums."""
    if form is Format.TABLE and not frame.height:
        print_message("No calls: no cell that is ready to be judged needs any.")
        return
    if form is Format.TABLE:
        sums = {c: frame[c].sum() for c in COLUMNS[2:]}
        total = pl.DataFrame([{"protocol": "all", "agent": "", **sums}], schema=frame.schema)
        frame = pl.concat([frame, total])
    money = [c for c in frame.columns if c.startswith("usd")]
    print_frame(frame.with_columns(pl.col(money).cast(pl.Float64).round(4)), form)

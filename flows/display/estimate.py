"""What an evaluation will cost: counted, and shown."""

from collections.abc import Sequence

import polars as pl

from flows.display.console import passing_bars, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import judge as judge_named
from tasks.judges.registry import judge_entry
from tasks.judging.cells import plan_cells
from tasks.pending.extractions import unextracted
from tasks.pending.key_points import go_by_key_points, unpointed
from tasks.planning.estimate import (
    COLUMNS,
    estimate_cells,
    estimate_extraction,
    estimate_key_points,
)
from tasks.processes.pool import HELPERS
from tasks.protocols.registry import protocol
from tasks.warehouse.store import Warehouse

HOW_ESTIMATED = (
    "Tokens from the length of the prompts; dollars without cache hits and repairs. "
    "`usd_at_most`: a token a byte and every answer as long as allowed, which is what --budget "
    "reserves."
)


def estimated(
    store: Warehouse,
    edition: str,
    judge: str,
    protocols: Sequence[str],
    agents: list[str],
    extractor: str | None,
) -> tuple[pl.DataFrame, list[str]]:
    """Calls, tokens and dollars of what is not judged yet, and what has to be said of them."""
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


def print_estimate(frame: pl.DataFrame, form: Format) -> None:
    """A line per protocol and agent, and as a table one with the sums."""
    if form is Format.TABLE and not frame.height:
        remark("No calls: nothing that is ready to be judged needs any.")
        return
    if form is Format.TABLE:
        sums = {c: frame[c].sum() for c in COLUMNS[2:]}
        total = pl.DataFrame([{"protocol": "all", "agent": "", **sums}], schema=frame.schema)
        frame = pl.concat([frame, total])
    money = [c for c in frame.columns if c.startswith("usd")]
    print_frame(frame.with_columns(pl.col(money).cast(pl.Float64).round(4)), form)

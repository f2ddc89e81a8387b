"""What an evaluation would ask and cost, before anything is spent."""

import asyncio
from collections.abc import Callable, Sequence

import polars as pl

from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.ledger import answered_requests, typical_tokens
from tasks.judges.llm.counting import Asked, extraction_requests, key_point_requests
from tasks.judging.cases import BATCH, load_cases
from tasks.judging.cells import CellPlan
from tasks.judging.preconditions import price_today
from tasks.models.exchange import Usage
from tasks.models.prices import ModelPrice
from tasks.pending.extractions import Unextracted, text_of
from tasks.pending.key_points import Unpointed, document_of
from tasks.processes.pool import HELPERS
from tasks.protocols.case import Case
from tasks.protocols.cell import requests_of
from tasks.warehouse.store import Warehouse

ENOUGH = 20
"""Calls of a step in the ledger from which its mean is trusted more than the prompt's file."""
COLUMNS = ("protocol", "agent", "cells", "calls", "in_ledger", "tokens_in", "tokens_out",
           "usd", "usd_batch", "usd_at_most")  # fmt: skip


def estimate_cells(
    warehouse: Warehouse,
    entry: LlmJudgeEntry,
    plans: Sequence[CellPlan],
    on_progress: Callable[[int], None],
) -> pl.DataFrame:
    """A row per protocol and agent: COLUMNS; what the ledger can answer is taken off.

    plans: the cells that are to be judged, of one edition.
    on_progress: called with how many cells have been looked at since the last time.
    """
    price = price_today(entry)
    rows = []
    for start in range(0, len(plans), BATCH):
        batch = plans[start : start + BATCH]
        cases = load_cases(warehouse, batch)
        asked = asyncio.run(_all_requests(batch, cases, price))
        rows += [(plan.protocol, plan.agent, asked[plan.cell_id]) for plan in batch]
        on_progress(len(batch))
    return _totals(warehouse, entry, rows)


def estimate_extraction(
    warehouse: Warehouse, judge_name: str, entry: LlmJudgeEntry, items: Sequence[Unextracted]
) -> pl.DataFrame:
    """The same for texts whose statements this judge is to extract."""
    price = price_today(entry)
    rows = []
    for item in items:
        asked = extraction_requests(
            judge_name, item.title, text_of(warehouse, item), of_report=bool(item.agent),
            price=price,
        )  # fmt: skip
        rows.append(("extraction", item.agent or "(articles)", asked))
    return _totals(warehouse, entry, rows)


def estimate_key_points(
    warehouse: Warehouse, judge_name: str, entry: LlmJudgeEntry, items: Sequence[Unpointed]
) -> pl.DataFrame:
    """The same for assignments whose key points this judge is to make: two calls each."""
    price = price_today(entry)
    rows = [
        (
            "key_points",
            "(articles)",
            key_point_requests(judge_name, item.title, document_of(warehouse, item), price),
        )
        for item in items
    ]
    return _totals(warehouse, entry, rows)


async def _all_requests(
    plans: Sequence[CellPlan], cases: dict[str, Case], price: ModelPrice | None
) -> dict[str, list[Asked]]:
    found = await asyncio.gather(
        *(HELPERS.run(requests_of, p.protocol, p.judge, cases[p.cell_id], price) for p in plans)
    )
    return {plan.cell_id: asked for plan, asked in zip(plans, found, strict=True)}


def _totals(
    warehouse: Warehouse,
    entry: LlmJudgeEntry,
    rows: Sequence[tuple[str, str, Sequence[Asked]]],
) -> pl.DataFrame:
    every = [request.request_id for _, _, asked in rows for request in asked]
    known = answered_requests(warehouse, every)
    usual = {
        f"{protocol}/{step}": output
        for protocol, step, n, output in typical_tokens(
            warehouse, entry.provider, entry.model
        ).iter_rows()
        if n >= ENOUGH
    }
    groups: dict[tuple[str, str], list[Sequence[Asked]]] = {}
    for protocol, agent, asked in rows:
        groups.setdefault((protocol, agent), []).append(asked)
    totals = [
        _total(entry, protocol, agent, cells, known, usual)
        for (protocol, agent), cells in sorted(groups.items())
    ]
    return pl.DataFrame(totals, schema_overrides={"usd": pl.Float64, "usd_batch": pl.Float64,
                                                  "usd_at_most": pl.Float64})  # fmt: skip


def _total(
    entry: LlmJudgeEntry,
    protocol: str,
    agent: str,
    cells: Sequence[Sequence[Asked]],
    known: frozenset[str],
    usual: dict[str, float],
) -> dict[str, object]:
    price = price_today(entry)
    every = {request.request_id: request for asked in cells for request in asked}
    fresh = [request for request in every.values() if request.request_id not in known]
    used = [
        Usage(
            prompt=round(request.prompt_tokens),
            output=round(usual.get(request.step, request.output_tokens)),
        )
        for request in fresh
    ]
    return {
        "protocol": protocol,
        "agent": agent,
        "cells": len(cells),
        "calls": len(fresh),
        "in_ledger": len(every) - len(fresh),
        "tokens_in": sum(usage.prompt or 0 for usage in used),
        "tokens_out": sum(usage.output or 0 for usage in used),
        "usd": sum(price.of(usage) or 0 for usage in used) if price else None,
        "usd_batch": sum(price.of(usage, batch=True) or 0 for usage in used) if price else None,
        "usd_at_most": sum(request.most_usd or 0 for request in fresh) if price else None,
    }

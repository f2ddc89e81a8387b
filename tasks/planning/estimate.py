"""Estimate the calls and costs of an evaluation."""

import asyncio
from collections.abc import Callable, Sequence

import polars as pl

from tasks.base import format_count
from tasks.claims import load_texts
from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.ledger import average_tokens, find_answered_requests
from tasks.extraction.texts import PendingExtraction, build_request
from tasks.judges.llm.counting import (
    CountedRequest,
    collect_extraction_requests,
    collect_key_point_requests,
)
from tasks.judges.registry import load_model_entry
from tasks.judging.cases import BATCH, load_cases
from tasks.judging.cells import CellPlan
from tasks.judging.session import find_current_price
from tasks.key_points import PendingKeyPoints, load_documents
from tasks.models.exchange import TokenUsage
from tasks.models.prices import ModelPrice
from tasks.processes.pool import HelperProcesses
from tasks.protocols.case import Case
from tasks.protocols.cell import list_requests
from tasks.warehouse.store import Warehouse

ENOUGH = 20
"""From this many calls of a step on, their mean output replaces the prompt file's estimate."""
COLUMNS = ("protocol", "agent", "cells", "calls", "in_ledger", "tokens_in", "tokens_out",
           "usd", "usd_batch", "usd_at_most")  # fmt: skip


def estimate_cells(
    warehouse: Warehouse,
    helpers: HelperProcesses,
    entry: LlmJudgeEntry,
    plans: Sequence[CellPlan],
    on_progress: Callable[[int], None],
) -> pl.DataFrame:
    """Return a row per protocol and agent (COLUMNS), without calls that the ledger answers.

    plans: the pending cells, all of one edition.
    on_progress: called with how many more cells have been estimated.
    """
    price = find_current_price(entry)
    rows = []
    for start in range(0, len(plans), BATCH):
        batch = plans[start : start + BATCH]
        cases = load_cases(warehouse, batch)
        asked = asyncio.run(_collect_requests(helpers, batch, cases, price))
        rows += [(plan.protocol, plan.agent, asked[plan.cell_id]) for plan in batch]
        on_progress(len(batch))
    return _sum_by_agent(warehouse, entry, rows)


def describe_fallback(judge: str, fallback: str, todo: Sequence[CellPlan]) -> str:
    """Say what an estimate leaves out: nobody knows what a judge is going to refuse."""
    price = find_current_price(load_model_entry(fallback, "be a fallback")[1])
    usd = f"${price.live.input:g} and ${price.live.output:g}" if price else "an unknown price"
    refused = format_count(sum(plan.n_refused for plan in todo), "item")
    return (
        f"What {judge} refuses is asked of {fallback}, live, at {usd} per million tokens; the "
        f"estimate does not include it. Refused so far and not asked yet: {refused}."
    )


def estimate_extraction(
    warehouse: Warehouse, judge_name: str, entry: LlmJudgeEntry, items: Sequence[PendingExtraction]
) -> pl.DataFrame:
    """Estimate the extraction of these texts' statements, as in `estimate_cells`."""
    price = find_current_price(entry)
    rows = []
    for item in items:
        text = load_texts(warehouse, [item])[item.assignment]
        request = build_request(item, text)
        asked = collect_extraction_requests(judge_name, request, price, again=item.is_undoubted)
        rows.append(("extraction", item.agent or "(articles)", asked))
    return _sum_by_agent(warehouse, entry, rows)


def estimate_key_points(
    warehouse: Warehouse, judge_name: str, entry: LlmJudgeEntry, items: Sequence[PendingKeyPoints]
) -> pl.DataFrame:
    """Estimate the key points of these assignments, a call for each document and one to merge
    their points, as in `estimate_cells`."""
    price = find_current_price(entry)
    rows = [
        (
            "key_points",
            "(articles)",
            collect_key_point_requests(
                judge_name, item.title, load_documents(warehouse, item), price
            ),
        )
        for item in items
    ]
    return _sum_by_agent(warehouse, entry, rows)


async def _collect_requests(
    helpers: HelperProcesses,
    plans: Sequence[CellPlan],
    cases: dict[str, Case],
    price: ModelPrice | None,
) -> dict[str, list[CountedRequest]]:
    found = await asyncio.gather(
        *(helpers.run(list_requests, p.protocol, p.judge, cases[p.cell_id], price) for p in plans)
    )
    return {plan.cell_id: asked for plan, asked in zip(plans, found, strict=True)}


def _sum_by_agent(
    warehouse: Warehouse,
    entry: LlmJudgeEntry,
    rows: Sequence[tuple[str, str, Sequence[CountedRequest]]],
) -> pl.DataFrame:
    every = [request.request_id for _, _, asked in rows for request in asked]
    known = find_answered_requests(warehouse, every)
    usual = {
        f"{protocol}/{step}": output
        for protocol, step, n, output in average_tokens(
            warehouse, entry.provider, entry.model
        ).iter_rows()
        if n >= ENOUGH
    }
    groups: dict[tuple[str, str], list[Sequence[CountedRequest]]] = {}
    for protocol, agent, asked in rows:
        groups.setdefault((protocol, agent), []).append(asked)
    totals = [
        _sum_cells(entry, protocol, agent, cells, known, usual)
        for (protocol, agent), cells in sorted(groups.items())
    ]
    return pl.DataFrame(totals, schema_overrides={"usd": pl.Float64, "usd_batch": pl.Float64,
                                                  "usd_at_most": pl.Float64})  # fmt: skip


def _sum_cells(
    entry: LlmJudgeEntry,
    protocol: str,
    agent: str,
    cells: Sequence[Sequence[CountedRequest]],
    known: frozenset[str],
    usual: dict[str, float],
) -> dict[str, object]:
    price = find_current_price(entry)
    every = {request.request_id: request for asked in cells for request in asked}
    fresh = [request for request in every.values() if request.request_id not in known]
    used = [
        TokenUsage(
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

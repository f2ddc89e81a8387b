"""Tokens and dollars of judging, by agent, report or batch."""

from typing import Literal

import polars as pl

from tasks.warehouse.store import Readable

TokenLevel = Literal["agent", "report", "batch"]
COLUMNS: dict[TokenLevel, str] = {
    "agent": "judge, agent",
    "report": "judge, agent, assignment",
    "batch": "judge, agent, assignment, step, left(request_id, 8) AS batch",
}
TOKENS = """
WITH asked AS (
    SELECT v.judge, v.agent, v.assignment, c.step, c.request_id, count(DISTINCT v.item) AS items
    FROM verdicts AS v JOIN calls AS c ON c.call_id = v.call_id
    WHERE v.edition = $1 AND ($2 IS NULL OR v.protocol = $2) AND ($3 IS NULL OR v.judge = $3)
    GROUP BY ALL
), paid AS (
    SELECT request_id, count(*) AS calls, sum(prompt_tokens) AS prompt,
        sum(cached_tokens) AS cached, sum(cache_write_tokens) AS written,
        sum(output_tokens) AS output,
        sum(thinking_tokens) AS thinking, sum(cost_usd) AS usd, min(called_at) AS first_at
    FROM calls GROUP BY request_id
)
SELECT {columns}, count(DISTINCT assignment) AS reports, count(*) AS batches,
    sum(calls)::BIGINT AS calls, sum(items)::BIGINT AS items, sum(prompt)::BIGINT AS prompt,
    sum(cached)::BIGINT AS cached, sum(written)::BIGINT AS written,
    sum(output)::BIGINT AS output,
    sum(thinking)::BIGINT AS thinking,
    (coalesce(sum(prompt), 0) + coalesce(sum(output), 0) + coalesce(sum(thinking), 0))::BIGINT
        AS tokens,
    sum(usd) AS usd
FROM asked JOIN paid USING (request_id)
GROUP BY ALL ORDER BY {order}
"""
"""A call that decided several items counts once; a repeated call counts each time. Includes calls
under earlier prompts. `cached` and `written` are parts of `prompt`."""


def count_tokens(
    source: Readable, edition: str, protocol: str | None, level: TokenLevel, judge: str | None
) -> pl.DataFrame:
    """Return a row per agent, report or batch (one request), with tokens and dollars.

    protocol, judge: only these; all if None.
    """
    columns = COLUMNS[level]
    order = columns.replace("left(request_id, 8) AS batch", "min(first_at), batch")
    frame = source.frame(TOKENS.format(columns=columns, order=order), [edition, protocol, judge])
    redundant = {"agent": (), "report": ("reports",), "batch": ("reports", "batches")}[level]
    return frame.drop(redundant)

"""What a run has cost, and the tokens and dollars of judging by agent, report or batch."""

from datetime import datetime
from typing import Literal

import polars as pl

from tasks.warehouse.store import Readable

COSTS = """
WITH bought AS (
    SELECT 'judging' AS part, judge AS who, protocol || '/' || step AS step, 'calls' AS what,
        coalesce(prompt_tokens, 0) + coalesce(output_tokens, 0) + coalesce(thinking_tokens, 0)
            AS tokens,
        cost_usd AS usd, cost_usd IS NULL AND status <> 'failed' AS unpriced, called_at >= $1 AS now
    FROM calls
    UNION ALL
    SELECT 'reports', agent, edition, 'jobs',
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(reasoning_tokens, 0),
        cost_usd, cost_usd IS NULL, coalesce(finished_at, created_at) >= $1
    FROM jobs WHERE state NOT IN ('sending', 'refused')
)
SELECT part, who, step, what,
    count(*) FILTER (now) AS n_now, coalesce(sum(tokens) FILTER (now), 0)::BIGINT AS tokens_now,
    sum(usd ORDER BY usd) FILTER (now) AS usd_now,
    count(*) FILTER (now AND unpriced) AS unpriced_now,
    count(*) AS n, sum(tokens)::BIGINT AS tokens, sum(usd ORDER BY usd) AS usd,
    count(*) FILTER (unpriced) AS unpriced
FROM bought GROUP BY part, who, step, what ORDER BY part, who, step
"""
TokenLevel = Literal["agent", "report", "batch"]
COLUMNS: dict[TokenLevel, str] = {
    "agent": "judge, agent",
    "report": "judge, agent, assignment",
    "batch": "judge, agent, assignment, step, left(request_id, 8) AS batch",
}
TOKENS = """
WITH asked AS (
    SELECT v.judge, v.agent, v.assignment, c.step, c.request_id, count(DISTINCT v.item) AS items
    FROM (SELECT *, unnest([call_id, refused_call]) AS asked FROM verdicts) AS v
    JOIN calls AS c ON c.call_id = v.asked
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


def load_costs_since(source: Readable, since: datetime) -> pl.DataFrame:
    """Load calls to judges' models by protocol and step, and agents' jobs by edition.

    Args:
        since: start of the period of the columns `…_now`. One process owns the warehouse at a
            time, so this period covers the run that began then.

    Returns:
        part (`judging`, `reports`), who (judge or agent), step (protocol/step, or the edition),
        what (`calls`, `jobs`), and twice, for now and in total: number, tokens, dollars (null if
        no price is known), and how many have no price (failed calls need none).
    """
    return source.frame(COSTS, [since])

"""Calls and jobs with their costs, since a given time and in total."""

from datetime import datetime

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

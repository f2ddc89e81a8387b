"""Estimate what pending reports will cost."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from tasks.agents.kind import Ask
from tasks.jobs.pending import find_pending_reports
from tasks.jobs.sessions import load_ask_entry
from tasks.warehouse.store import Readable

ENOUGH = 5
"""From this many reports on, an agent's mean cost replaces the price of its entry."""
SCHEMA = {
    "edition": pl.String, "agent": pl.String, "missing": pl.Int64, "to_ask": pl.Int64,
    "under_way": pl.Int64, "for_a_person": pl.Int64, "usd_each": pl.Float64, "usd": pl.Float64,
    "usd_at_most": pl.Float64,
}  # fmt: skip


def estimate_reports(
    source: Readable, editions: Sequence[str], agents: Sequence[str], first: int | None = None
) -> pl.DataFrame:
    """Return a row per edition and agent (SCHEMA): missing reports and what they will cost.

    usd_each: the mean cost of the agent's reports if there are ENOUGH, else the price of its entry;
    null if unknown. Jobs under way are paid for already.
    """
    rows = [
        _estimate_row(source, edition, agent, first) for edition in editions for agent in agents
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def get_most_usd(ask: Ask) -> float | None:
    """Return the USD that a budget sets aside for a report; None if unknown."""
    return ask.price.most_usd if ask.price else 0.0 if ask.repeatable else None


def _estimate_row(
    source: Readable, edition: str, agent: str, first: int | None
) -> dict[str, object]:
    ask = load_ask_entry(agent)
    free = 0.0 if ask.repeatable else None
    entered, most = (ask.price.typical_usd if ask.price else free), get_most_usd(ask)
    missing = find_pending_reports(source, edition, agent)
    steps = Counter(item.next_step for item in (missing if first is None else missing[:first]))
    n, mean = source.frame(
        "SELECT count(*), avg(usd) FROM (SELECT sum(cost_usd) AS usd FROM jobs WHERE agent = $1 "
        "GROUP BY edition, assignment, attempt HAVING bool_or(state = 'done'))",
        [agent],
    ).row(0)
    each = mean if n >= ENOUGH and mean is not None else entered
    to_ask = steps["ask"]
    return {
        "edition": edition,
        "agent": agent,
        "missing": steps.total(),
        "to_ask": to_ask,
        "under_way": steps["resume"],
        "for_a_person": steps["manual"],
        "usd_each": each,
        "usd": None if each is None else each * to_ask,
        "usd_at_most": None if most is None else most * to_ask,
    }

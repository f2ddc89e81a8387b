"""What asking agents would cost, before anything is spent."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from tasks.jobs.sessions import ask_of
from tasks.pending.reports import unreported
from tasks.warehouse.store import Readable

ENOUGH = 5
"""Reports of an agent from which their mean is trusted more than its entry."""
SCHEMA = {
    "edition": pl.String, "agent": pl.String, "missing": pl.Int64, "to_ask": pl.Int64,
    "under_way": pl.Int64, "for_a_person": pl.Int64, "usd_each": pl.Float64, "usd": pl.Float64,
    "usd_at_most": pl.Float64,
}  # fmt: skip


def estimate_reports(
    source: Readable, editions: Sequence[str], agents: Sequence[str], first: int | None = None
) -> pl.DataFrame:
    """A row per edition and agent (SCHEMA): what is missing, and what the rest would cost.

    usd_each: the mean of the agent's reports so far where there are ENOUGH, else what its entry
    says; null where nobody knows. Jobs under way are paid for already.
    """
    rows = [_row(source, edition, agent, first) for edition in editions for agent in agents]
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(source: Readable, edition: str, agent: str, first: int | None) -> dict[str, object]:
    ask = ask_of(agent)
    price = ask.price
    entered = 0.0 if ask.repeatable and price is None else price.typical_usd if price else None
    missing = unreported(source, edition, agent)
    standing = Counter(item.standing for item in (missing if first is None else missing[:first]))
    n, mean = source.frame(
        "SELECT count(*), avg(usd) FROM (SELECT sum(cost_usd) AS usd FROM jobs WHERE agent = $1 "
        "GROUP BY edition, assignment, attempt HAVING bool_or(state = 'done'))",
        [agent],
    ).row(0)
    each = mean if n >= ENOUGH and mean is not None else entered
    to_ask = standing["ask"]
    return {
        "edition": edition,
        "agent": agent,
        "missing": standing.total(),
        "to_ask": to_ask,
        "under_way": standing["go_on"],
        "for_a_person": standing["person"],
        "usd_each": each,
        "usd": None if each is None else each * to_ask,
        "usd_at_most": price.most_usd * to_ask if price else 0.0 if ask.repeatable else None,
    }

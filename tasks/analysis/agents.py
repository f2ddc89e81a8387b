"""Differences between any two agents of an edition, as computed by the leaderboard stage."""

from collections.abc import Sequence

import polars as pl

from tasks.analysis.protocols import find_headline_metrics
from tasks.editions.names import UnknownName, check_edition, check_scored
from tasks.errors import suggest_names
from tasks.protocols.registry import available_protocols
from tasks.scoring.boards import find_ranking_metric
from tasks.warehouse.store import Readable

PAIRS = """
SELECT p.*, mine.value AS agent_value, yours.value AS other_value,
    mine.provisional OR yours.provisional AS provisional,
    coalesce(p.agent || ': ' || mine.unranked, p.other || ': ' || yours.unranked) AS unranked
FROM agent_pairs AS p
JOIN leaderboard AS mine
    ON mine.edition = p.edition AND mine.protocol = p.protocol AND mine.metric = p.metric
    AND mine.judge = p.judge AND mine.agent = p.agent
JOIN leaderboard AS yours
    ON yours.edition = p.edition AND yours.protocol = p.protocol AND yours.metric = p.metric
    AND yours.judge = p.judge AND yours.agent = p.other
WHERE p.edition = $1 AND p.judge = $2
ORDER BY p.protocol, p.metric, p.agent, p.other
"""
UNRANKED = """
SELECT DISTINCT agent FROM leaderboard
WHERE edition = $1 AND judge = $2 AND unranked IS NOT NULL
"""
COLUMNS = ["edition", "protocol", "metric", "judge", "agent", "other", "n_articles", "difference",
         "low", "high", "effect_size", "better_share", "p", "p_adjusted", "n_pairs", "seed",
         "provisional", "unranked", "reason"]  # fmt: skip


def compare_agents(
    source: Readable,
    edition: str,
    judge: str,
    protocols: Sequence[str] = (),
    metrics: Sequence[str] = (),
    agents: Sequence[str] = (),
) -> pl.DataFrame:
    """Compare agents in pairs, by the named metrics or by the ranking and headline metrics.

    Args:
        protocols: only these; all that compare agents if empty.
        metrics: only these; the ranking and headline metrics if empty.
        agents: one agent: its pairs with all others; several: the pairs among them, in this
            order. If empty, all pairs, with the agent first that leads on the common articles.
            Pairs of an agent without a rank are only returned if it is named.

    Returns:
        The columns of `agent_pairs`, whether one of the two figures is provisional, and why one
        of the two agents has no rank, metric by metric; differences are `agent` minus `other`.

    Raises:
        UnknownName: a name is unknown, or there are no pairs; the message lists the known names.
    """
    check_edition(source, edition)
    check_scored(source, edition, protocols, [judge])
    pairs = source.frame(PAIRS, [edition, judge])
    if pairs.is_empty():
        raise UnknownName(
            f"{edition} compares no agents by the judge {judge!r}: fewer than two are ranked, or "
            f"an earlier version computed them. Run `evergreen evaluate --edition {edition} "
            f"--judge {judge}`."
        )
    if protocols:
        pairs = pairs.filter(pl.col("protocol").is_in(protocols))
    _check_names("metric", metrics, pairs["metric"].to_list(), edition)
    _check_names("agent", agents, [*pairs["agent"], *pairs["other"]], edition)
    apart = set(source.frame(UNRANKED, [edition, judge])["agent"])
    hidden = apart - set(agents)
    if len(set(agents)) > 1 and set(agents) <= apart:
        raise UnknownName(
            f"{edition} does not compare {' with '.join(agents)}: none of them is ranked. Name "
            f"one of them, to compare it with the agents that are."
        )
    wanted = list(metrics) or _choose_metrics(pairs)
    pairs = pairs.filter(
        pl.col("metric").is_in(wanted),
        ~pl.col("agent").is_in(hidden),
        ~pl.col("other").is_in(hidden),
    )
    oriented = _orient_pairs(_select_agents(pairs, agents), agents)
    return oriented.sort(
        "protocol", "metric", "agent_value", "other_value", "agent", "other",
        descending=[False, False, True, True, False, False], nulls_last=True,
    ).select(COLUMNS)  # fmt: skip


def _check_names(kind: str, names: Sequence[str], available: Sequence[str], edition: str) -> None:
    known = sorted(set(available))
    for name in names:
        if name not in known:
            what = f"agents by the metric {name!r}" if kind == "metric" else f"agent {name!r}"
            raise UnknownName(f"{edition} compares no {what}. {suggest_names(name, known)}")


def _choose_metrics(pairs: pl.DataFrame) -> list[str]:
    """Return each protocol's ranking and headline metrics; all its metrics if its definition is
    missing or none of those has pairs."""
    found: list[str] = []
    known = available_protocols(pairs["protocol"].to_list())
    for (name,), rows in pairs.group_by("protocol", maintain_order=True):
        available = set(rows["metric"])
        protocol = known.get(str(name))
        marked = find_headline_metrics(str(name), protocol) if protocol else []
        ranks = find_ranking_metric(str(name), available)
        others = [m.entry.name for m in marked if m.entry.name != ranks]
        chosen = [*([ranks] if ranks else []), *(n for n in others if n in available)]
        found += chosen or sorted(available)
    return found


def _select_agents(pairs: pl.DataFrame, agents: Sequence[str]) -> pl.DataFrame:
    one, other = pl.col("agent").is_in(agents), pl.col("other").is_in(agents)
    if not agents:
        return pairs
    return pairs.filter(one | other if len(set(agents)) == 1 else one & other)


def _orient_pairs(pairs: pl.DataFrame, agents: Sequence[str]) -> pl.DataFrame:
    """Put first the agent that was named first, or that leads on the common articles."""
    place = {agent: n for n, agent in enumerate(agents)}
    if agents:
        first, second = (
            pl.col(name).replace_strict(place, default=len(place)) for name in ("agent", "other")
        )
        turn = first > second
    else:
        turn = pl.col("difference").fill_null(0.0) < 0
    turned = {
        "agent": pl.col("other"),
        "other": pl.col("agent"),
        "agent_value": pl.col("other_value"),
        "other_value": pl.col("agent_value"),
        "difference": -pl.col("difference"),
        "low": -pl.col("high"),
        "high": -pl.col("low"),
        "effect_size": -pl.col("effect_size"),
        "better_share": 1 - pl.col("better_share"),
    }
    return pairs.with_columns(
        pl.when(turn).then(expression).otherwise(pl.col(name)).alias(name)
        for name, expression in turned.items()
    )

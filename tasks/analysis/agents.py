"""How any two agents of an edition differ, as the leaderboard stage has found it."""

from collections.abc import Sequence

import polars as pl

from tasks.analysis.protocols import headlines
from tasks.editions.names import UnknownName, check_known, check_scored
from tasks.protocols.registry import at_hand
from tasks.scoring.boards import ranking_metric
from tasks.warehouse.store import Readable

PAIRS = """
SELECT p.*, mine.value AS agent_value, yours.value AS other_value,
    mine.provisional OR yours.provisional AS provisional
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
SHOWN = ["edition", "protocol", "metric", "judge", "agent", "other", "n_articles", "difference",
         "low", "high", "effect_size", "better_share", "p", "p_adjusted", "n_pairs", "seed",
         "provisional", "reason"]  # fmt: skip


def differences(
    source: Readable,
    edition: str,
    judge: str,
    protocols: Sequence[str] = (),
    metrics: Sequence[str] = (),
    agents: Sequence[str] = (),
) -> pl.DataFrame:
    """Pairs of agents by the metrics named, or by what ranks, and stands for, their protocols.

    Args:
        protocols: only these; all that compare agents if empty.
        metrics: only these; what ranks and the headline metrics if empty.
        agents: one: its pairs with all others, it first; several: the pairs among them, in this
            order. If empty all pairs, each with the agent first that is ahead on the articles
            that both have.

    Returns:
        The columns of `agent_pairs` and whether one of the two figures is provisional, metric by
        metric; differences are `agent` minus `other`.

    Raises:
        UnknownName: a name that nothing is known of, or no pairs at all; says what there is.
    """
    check_known(source, edition)
    check_scored(source, edition, protocols, judge)
    pairs = source.frame(PAIRS, [edition, judge])
    if pairs.is_empty():
        raise UnknownName(
            f"{edition} compares no agents by the judge {judge!r}: fewer than two have figures, or "
            f"an earlier version made them. `evergreen evaluate --edition {edition} --judge "
            f"{judge}` compares them."
        )
    if protocols:
        pairs = pairs.filter(pl.col("protocol").is_in(protocols))
    _check("metric", metrics, pairs["metric"].to_list(), edition)
    _check("agent", agents, [*pairs["agent"], *pairs["other"]], edition)
    wanted = list(metrics) or _headlines(pairs)
    pairs = pairs.filter(pl.col("metric").is_in(wanted))
    return _sorted(_turned(_among(pairs, agents), agents)).select(SHOWN)


def _check(kind: str, names: Sequence[str], there: Sequence[str], edition: str) -> None:
    known = sorted(set(there))
    for name in names:
        if name not in known:
            raise UnknownName(
                f"{edition} compares no agents by the {kind} {name!r}; it does by: "
                f"{', '.join(known)}."
                if kind == "metric"
                else f"{edition} compares {name!r} with nobody; it compares: {', '.join(known)}."
            )


def _headlines(pairs: pl.DataFrame) -> list[str]:
    """What ranks a protocol's board, and the metrics that stand for it; all where a protocol's
    definition is not at hand, or none of those has pairs."""
    found: list[str] = []
    known = at_hand(pairs["protocol"].to_list())
    for (name,), rows in pairs.group_by("protocol", maintain_order=True):
        there = set(rows["metric"])
        marked = headlines(str(name), known[str(name)]) if str(name) in known else []
        ranks = ranking_metric(str(name), there)
        shown = [ranks] if ranks else []
        shown += [m.entry.name for m in marked if m.entry.name in there and m.entry.name != ranks]
        found += shown or sorted(there)
    return found


def _among(pairs: pl.DataFrame, agents: Sequence[str]) -> pl.DataFrame:
    one, other = pl.col("agent").is_in(agents), pl.col("other").is_in(agents)
    if not agents:
        return pairs
    return pairs.filter(one | other if len(set(agents)) == 1 else one & other)


def _turned(pairs: pl.DataFrame, agents: Sequence[str]) -> pl.DataFrame:
    """Each pair with the agent first that was named first, or that is ahead on their common
    articles."""
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


def _sorted(pairs: pl.DataFrame) -> pl.DataFrame:
    """Largest figures first, metric by metric."""
    return pairs.sort(
        "protocol", "metric", "agent_value", "other_value", "agent", "other",
        descending=[False, False, True, True, False, False], nulls_last=True,
    )  # fmt: skip

"""What is said with a board: reports delivered, agents listed apart, ranges, the other figure, and
judges that stand for the judge of a protocol's paper."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import polars as pl

from tasks.base import format_count
from tasks.configuration.leaderboard import load_leaderboard_settings
from tasks.configuration.models import (
    LlmJudgeEntry,
    MetricEntry,
    Missing,
    get_judge_title,
    load_judges,
)
from tasks.metrics.ranks import MIN_ARTICLES, estimate_articles_needed
from tasks.protocols.declarations import INTERVAL, Board
from tasks.protocols.registry import available_protocols, get_protocol_title
from tasks.protocols.wiki_fact.figures import EARLIER_LEAKS
from tasks.scoring.boards import choose_ranking_metric
from tasks.warehouse.store import Readable

NO_NAMES: Mapping[str, str] = MappingProxyType({})
LEAKAGE = "leakage_rate"
EARLIER = """
SELECT agent, count(*) FROM scores WHERE edition = $1 AND judge = $2
    AND metric = 'coverage_wiki' AND reason = $3 AND list_contains($4, protocol)
GROUP BY agent ORDER BY agent
"""
LARGEST = """
SELECT agent, other, effect_size, n_pairs, n_articles FROM agent_pairs
WHERE edition = $1 AND judge = $2 AND metric = $3 AND list_contains($4, protocol)
    AND list_contains($5, agent) AND list_contains($5, other) AND difference <> 0
ORDER BY abs(difference) DESC, agent, other LIMIT 1
"""
"""The largest difference between agents ($5) by a metric ($3)."""
EMPTY_LIST = "‡"
"""The mark of a figure that rests on an empty list that the offline extractor doubts."""
MIXED_MODELS = "§"
"""The mark of a figure over reports by several models that answered for one agent."""
OTHER_FIGURES = {"value_present": "Present", "value_zero": "With 0"}
"""Columns with the figure without missing reports, and with 0 for them, by heading; one of the two
is the figure itself."""
OTHER_NOTES = {
    "value_present": "Present: without the agent's empty answers and refusals, which count 0 in "
    "the figure before it.",
    "value_zero": "With 0: with 0 for the agent's empty answers and refusals, which the figure "
    "before it leaves out, as the paper does.",
}


def list_apart(rows: pl.DataFrame, board: Board) -> dict[str, str]:
    """Return the agents that a board lists apart, without a rank, each with the reason; in the
    board's order: by the ranking metric, then by name."""
    by = choose_ranking_metric(rows, board)
    apart = rows.filter(pl.col("metric") == by, pl.col("unranked").is_not_null())
    apart = apart.sort(pl.col("value").fill_null(-1.0), "agent", descending=[True, False])
    return dict(apart.select("agent", "unranked").iter_rows())


def describe_missing(metric: MetricEntry, missing: Missing) -> str:
    """Return what a missing report counts in a metric."""
    if not metric.zero_if_missing:
        return "no value"
    return "0" if missing == "zero" else "left out"


def format_delivered(row: Mapping[str, Any]) -> str:
    """Format the reports of a leaderboard's row: `97 of 100`, delivered of assignments; their
    number alone in a row of an earlier version."""
    if row.get("n_assignments") is None:
        return f"{row['n_reports']:,}"
    return f"{row['n_delivered']:,} of {row['n_assignments']:,}"


def describe_reports(rows: pl.DataFrame, heading: str, names: Mapping[str, str] = NO_NAMES) -> str:
    """Explain the column with the reports, who is not ranked, and which reports leakage leaves out.

    names: agent → display name; the agent's id if it has none.
    """
    said = f"{heading}: reports with a text, of all assignments. {describe_completeness()}"
    return " ".join(filter(None, (said, _describe_left_out(rows, names))))


def describe_columns_left_out(rows: pl.DataFrame, titles: Mapping[str, str]) -> str | None:
    """Name the metrics in which no agent has a value; None if there are none.

    titles: metric → title of the metrics that the board would show.
    """
    without = set(titles) - {*rows.filter(pl.col("value").is_not_null())["metric"]}
    if not without:
        return None
    pending = rows.filter(pl.col("metric").is_in(without))["provisional"].any()
    named = ", ".join(title for metric, title in titles.items() if metric in without)
    return f"No figures by this judge{' so far' if pending else ''}: {named}."


def describe_empty_lists(rows: pl.DataFrame, names: Mapping[str, str] = NO_NAMES) -> str:
    """Explain the mark of empty lists, with their number by agent; empty if there are none."""
    counted = rows.filter(pl.col("n_empty_lists") > 0).group_by("agent")
    found = counted.agg(pl.col("n_empty_lists").max()).sort("agent").iter_rows()
    named = ", ".join(f"{names.get(agent, agent)} {n:,}" for agent, n in found)
    said = "no claims, or no facts of the article, were extracted, but the offline extractor finds"
    return named and f"{EMPTY_LIST}: {said} some (evergreen explain). Reports: {named}."


def describe_mixed_models(rows: pl.DataFrame, names: Mapping[str, str] = NO_NAMES) -> str:
    """Explain the mark of mixed models, with the models of each agent; empty if there are none."""
    mixed = rows.filter(pl.col("models").is_not_null()).sort("n_reports", descending=True)
    found = mixed.unique("agent", keep="first").sort("agent").select("agent", "models").iter_rows()
    named = "; ".join(f"{names.get(agent, agent)} answered as {models}" for agent, models in found)
    return named and f"{MIXED_MODELS}: {named}."


def describe_earlier_leaks(
    source: Readable, edition: str, judge: str, board: Board, names: Mapping[str, str] = NO_NAMES
) -> str:
    """Say how many of an agent's reports have a coverage that was judged with the leak rule of
    earlier versions; empty if none has, or the board does not show it."""
    given = [edition, judge, EARLIER_LEAKS, sorted(board.protocols)]
    found = source.frame(EARLIER, given).iter_rows()
    named = ", ".join(f"{names.get(agent, agent)} {n:,}" for agent, n in found)
    return named and (
        "Coverage of these reports still counts claims that cite copies of the article, as it was "
        f"judged when these were no leaks; in leakage they are: {named}."
    )


def describe_completeness() -> str:
    """Explain who is not ranked."""
    least = load_leaderboard_settings().completeness
    return (
        f"An agent with reports of fewer than {least * 100:g} % of the assignments is listed "
        "apart, without a rank."
    )


def _describe_left_out(rows: pl.DataFrame, names: Mapping[str, str]) -> str | None:
    """Say how many delivered reports are in no leakage figure, as nobody can tell which of their
    claims cite what; None if there are none."""
    leak = rows.filter(pl.col("metric") == LEAKAGE, pl.col("n_delivered").is_not_null())
    left_out = leak.select("agent", n=pl.col("n_delivered") - pl.col("n_reports"))
    left_out = left_out.filter(pl.col("n") > 0).sort("agent")
    if left_out.is_empty():
        return None
    named = ", ".join(f"{names.get(agent, agent)} {n:,}" for agent, n in left_out.iter_rows())
    return f"Leak leaves out reports whose citations cannot be assigned to their claims: {named}."


def choose_other_figure(rows: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the column with the figure that counts missing reports the other way, if any of these
    rows of the leaderboard differs in it."""
    for name in OTHER_FIGURES:
        if any(row["n_missing"] and row[name] != row["value"] for row in rows):
            return name
    return None


def describe_ranges(rows: pl.DataFrame, board: Board) -> str:
    """Explain rank ranges and intervals, and how many articles or questions they rest on; empty if
    there are none."""
    by = choose_ranking_metric(rows, board)
    ranked = rows.filter(pl.col("metric") == by, pl.col("rank_from").is_not_null())
    if ranked.is_empty():
        return ""
    kinds = {k for p in available_protocols(sorted(board.protocols)).values() for k in p.kinds}
    items = "articles" if kinds == {"write_article"} else "articles or questions"
    counted = ranked["n_articles"].sort().to_list()
    over = f"{counted[0]}" if counted[0] == counted[-1] else f"{counted[0]} to {counted[-1]}"
    note = (
        "#: the places that an agent may have, by its significant differences from others on the "
        f"{items} that both have (evergreen compare agents). Based on {over} {items}."
    )
    if ranked["low"].is_not_null().any():
        note += f" {INTERVAL}: the bootstrap interval of {board.columns[by]} over {items}."
    return note


def _explain_no_ranks(rows: pl.DataFrame) -> str:
    """Say that there are no ranks, as the agents that could have one have too few articles."""
    could = rows.filter(pl.col("value").is_not_null(), pl.col("unranked").is_null())
    counted = could["n_articles"].to_list()
    if not counted or any(n is None or n >= MIN_ARTICLES for n in counted):
        return ""
    return (
        f"No ranks: with fewer than {MIN_ARTICLES} articles no difference between agents can be "
        "significant."
    )


def describe_weak_ranks(
    source: Readable,
    edition: str,
    judge: str,
    rows: pl.DataFrame,
    board: Board,
    names: Mapping[str, str] = NO_NAMES,
) -> str:
    """Say about how many articles the largest difference would need where no two agents can be told
    apart, or why there are no ranks at all; empty on other boards."""
    by = choose_ranking_metric(rows, board)
    ranked = rows.filter(pl.col("metric") == by, pl.col("rank_from").is_not_null())
    if ranked.is_empty():
        return _explain_no_ranks(rows.filter(pl.col("metric") == by))
    agents = ranked["agent"].to_list()
    if not ranked.filter(pl.col("rank_to") - pl.col("rank_from") < len(agents) - 1).is_empty():
        return ""
    given = [edition, judge, by, sorted(board.protocols), agents]
    found = list(source.frame(LARGEST, given).iter_rows())
    if not found or not found[0][2]:
        return ""
    [(agent, other, effect_size, n_pairs, n_articles)] = found
    needed = max(estimate_articles_needed(effect_size, n_pairs), n_articles + 1)
    both = " and ".join(names.get(each, each) for each in (agent, other))
    return (
        f"No two ranked agents can be told apart. The largest difference, of {both}, would need "
        f"about {needed:,} articles."
    )


def describe_ranks(rows: pl.DataFrame, board: Board) -> list[str]:
    """Return a sentence about each group of agents that share a range of ranks, and one about those
    that differ from all others; none if no agent has a rank."""
    by = choose_ranking_metric(rows, board)
    ranked = rows.filter(pl.col("metric") == by, pl.col("rank_from").is_not_null())
    ranked = ranked.sort("rank_from", "rank_to", pl.col("value") * -1)
    said, apart = [], []
    for (first, last), group in ranked.group_by("rank_from", "rank_to", maintain_order=True):
        agents, n_articles = group["agent"].to_list(), max(group["n_articles"].to_list())
        over = f"with {format_count(n_articles, 'article')}"
        if first == last:
            apart.append(f"{agents[0]} ({first})")
        elif len(agents) == last - first + 1:
            said.append(f"{first}–{last}: {_join(agents)} cannot be told apart {over}.")
        else:
            said.append(f"{first}–{last}: {_join(agents)} may have any of these places {over}.")
    if apart:
        others = "every other ranked agent" if list_apart(rows, board) else "every other agent"
        said.append(f"{_join(apart)} {'differs' if len(apart) == 1 else 'differ'} significantly "
                    f"from {others}.")  # fmt: skip
    return said


def _join(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


NOT_MEASURED = "its agreement with that judge and with people is not measured"
ITEM = "edition, protocol, step, agent, assignment, item"
AGREEMENT = f"""
WITH ours AS (SELECT {ITEM}, label FROM current_verdicts
    WHERE judge = $1 AND protocol = $2 AND status = 'ok' AND decided_by IS NULL),
theirs AS (SELECT {ITEM}, label FROM current_verdicts
    WHERE judge = $3 AND protocol = $2 AND status = 'ok' AND decided_by IS NULL),
people AS (SELECT {ITEM}, l.label
    FROM human_labels AS l JOIN annotation_items AS i USING (sheet, item_id))
SELECT 'that judge' AS whom, count(*) AS n, avg((ours.label = theirs.label)::INT) AS alike
FROM ours JOIN theirs USING ({ITEM})
UNION ALL
SELECT 'people', count(*), avg((ours.label = people.label)::INT)
FROM ours JOIN people USING ({ITEM})
"""
"""How often a judge ($1) agrees with its predecessor ($3), and with people, in a protocol ($2)."""


def describe_stand_ins(source: Readable, judge: str, protocols: Collection[str]) -> str:
    """Say in which of these protocols a judge stands for the judge of the paper, and how far the
    warehouse shows the two, or it and people, to agree; empty if it stands for none."""
    return " ".join(_describe_each(source, judge, protocols))


def _describe_each(source: Readable, judge: str, protocols: Collection[str]) -> Iterator[str]:
    for name, entry in load_judges().judges.items():
        if not isinstance(entry, LlmJudgeEntry) or entry.successor != judge or not entry.retires:
            continue
        for protocol in sorted({*protocols} & {*entry.paper_judge_of}):
            rows = source.frame(AGREEMENT, [judge, protocol, name]).iter_rows()
            known = [f"with {whom} on {a:.0%} of {n:,} items" for whom, n, a in rows if n]
            agrees = f"it agrees {' and '.join(known)}" if known else NOT_MEASURED
            yield (
                f"In {get_protocol_title(protocol)} {get_judge_title(judge)} stands for "
                f"{entry.title}, which ends on {entry.retires}; {agrees}."
            )

"""The tables of the leaderboard: which metrics stand in which, and what ranks."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from tasks.protocols.case import Protocol
from tasks.protocols.registry import at_hand, title_of

COLUMNS = {
    "coverage_wiki_soft": "Soft cov.",
    "coverage_wiki": "Cov.",
    "wiki_conflict": "Confl.",
    "ref_acc": "Ref. acc.",
    "ref_acc_strict": "Strict",
    "evaluated_share": "Eval.",
    "leakage_rate": "Leak",
    "writing_overall": "Writing",
}
"""Metrics of the table, in percent; the other formats hold them all."""
CLAIM_COLUMNS = {
    "claim_f1": "F1",
    "claim_precision": "Prec.",
    "claim_recall": "Recall",
    "claim_f1_by_task": "F1 (quest.)",
    "compat_f1": "Publ. F1",
    "compat_precision": "Publ. prec.",
    "compat_recall": "Publ. recall",
    "answered_share": "Answered",
}
"""The same for answers to questions."""
RIGOROUS_COLUMNS = {
    "rigorous_integrated": "Integr.",
    "rigorous_quality": "Quality",
    "rigorous_query_rubrics": "Query r.",
    "rigorous_general_rubrics": "Gen. r.",
    "rigorous_drift": "Drift",
    "rigorous_focus_drift": "Focus d.",
    "rigorous_deviation_drift": "Dev. d.",
    "rigorous_focus_frequency": "Focus kw.",
    "rigorous_deviation_frequency": "Dev. kw.",
    "rigorous_trust_boost": "Boost",
    "rigorous_evaluated_share": "Eval.",
    "rigorous_per_token": "/100 tok.",
}
RIGOROUS_SENSITIVITY = {
    "rigorous_integrated": "Integr.",
    "rigorous_integrated_eps1": "I ε1",
    "rigorous_integrated_eps3": "I ε3",
    "rigorous_integrated_eps5": "I ε5",
    "rigorous_integrated_other_norm": "I N",
    "rigorous_integrated_code": "I code",
    "rigorous_drift": "Drift",
    "rigorous_drift_eps1": "D ε1",
    "rigorous_drift_eps3": "D ε3",
    "rigorous_drift_eps5": "D ε5",
    "rigorous_drift_other_norm": "D N",
    "rigorous_drift_code": "D code",
}
GYM_COLUMNS = {
    "kpr": "KPR",
    "kpc": "KPC",
    "citation_precision": "Cit. prec.",
    "citation_evaluated_share": "Eval.",
    "citation_recall": "Cit. recall",
    "clarity": "Clarity",
    "insight": "Insight",
}
"""The paper's figures of DeepResearchGym; those of the published code are in the other formats."""
COUNTS = {"coverage_wiki": "Facts", "ref_acc": "Claims", "rubric_score": "Items"}
"""Metrics whose number of items stands beside them."""


BENCH_COLUMNS = {
    "rubric_total": "Total",
    "rubric_info_recall": "Recall",
    "rubric_analysis": "Analysis",
    "rubric_presentation": "Present.",
    "rubric_blocked": "Blocked",
    "rubric_total_compat": "Publ.",
    "rubric_evaluated_share": "Graded",
    "rubric_evidence_not_found": "Not found",
    "rubric_cut": "Cut",
}


@dataclass(frozen=True)
class Board:
    """One table of the leaderboard: shown where an edition has any of its protocols' rows."""

    protocols: frozenset[str]
    columns: dict[str, str]
    ranked_by: tuple[str, ...]
    """The metric that ranks; where two agree on it, or have none, the next."""
    counted_by: str
    """The metric whose number of reports stands in the last column."""
    last: str
    """That column's heading."""
    note: str
    title: str = ""
    """What is measured, where an edition may have several boards."""
    only_valued: bool = False
    """It is left out where none of its figures has a value."""
    numbers: frozenset[str] = frozenset()
    """Metrics that are shown as they are, not in percent."""


INTERVAL = "95 %"
"""Heading of the ranking metric's interval."""
OPEN = "*: provisional, items are still open or another version judged them"
"""What a star at a figure says."""

BOARDS = (
    Board(
        frozenset({"wiki_fact", "wiki_writing"}),
        COLUMNS,
        ("coverage_wiki_soft", "coverage_wiki"),
        "coverage_wiki",
        "Rep.",
        f"Percent. –: not assessed, or nothing to assess. {OPEN}. Open: pages never "
        "fetched, cells failed. Rank: by coverage, soft where the judge gives it.",
    ),
    Board(
        frozenset({"claim_discovery"}),
        CLAIM_COLUMNS,
        ("claim_f1", "compat_f1"),
        "answered_share",
        "Quest.",
        "Percent, means over the categories' means; F1 (quest.): over all questions. Publ.: as "
        f"the published code scores each category. –: not assessed. {OPEN}. Rank: by F1.",
    ),
    Board(
        frozenset({"research_gym"}),
        GYM_COLUMNS,
        ("kpr", "citation_recall"),
        "citation_recall",
        "Rep.",
        "Percent, means over reports; for clarity and insight 100 is 10 of 10. KPR, KPC: key "
        "points supported, contradicted. Eval.: cited claims with a fetched page. –: not assessed, "
        f"or nothing to assess. {OPEN}. Rank: by KPR.",
        "DeepResearchGym",
    ),
    Board(
        frozenset({"rubric_bench"}),
        BENCH_COLUMNS,
        ("rubric_total",),
        "rubric_total",
        "Rep.",
        "Percent of a task's items, means over reports: met in all, and by dimension. Blocked: met "
        "only by the blocked work, which counts as not met. Publ.: Total without items that a "
        "rubric holds twice, as published. Graded: items that the judge decided. Not found: "
        "evidence that does not stand in the report. Cut: reports too long to be shown whole. –: "
        f"not assessed. {OPEN}. Rank: by Total.",
        "DeepResearch Bench II",
    ),
    Board(
        frozenset({"rigorous"}),
        RIGOROUS_COLUMNS,
        ("rigorous_integrated", "rigorous_focus_frequency"),
        "rigorous_trust_boost",
        "Rep.",
        "Percent: Integr. (quality × (1 − drift) × boost) is the paper's score of 0 to 120, "
        "Boost 100 to 120. Query r., Gen. r.: share of the points by the query's own and the "
        "general rubrics. Drift (lower is better) is made of Focus d., what the report lacks "
        "of its focus keywords, and Dev. d., what it holds of those it should not drift to; "
        "Focus kw. and Dev. kw. say how often these stand there. /100 tok.: points of Integr. "
        "for 100 tokens of the agent, where it says how many. Eval.: rubrics and keywords that "
        f"the judge decided. –: not assessed. {OPEN}, or rubrics are drafts. Thresholds and "
        "normalisation of the drift are unspecified by the paper. Rank: by Integr., then Focus "
        "kw.",
        "Rigorous Bench",
    ),
    Board(
        frozenset({"rigorous"}),
        RIGOROUS_SENSITIVITY,
        ("rigorous_integrated",),
        "rigorous_trust_boost",
        "Rep.",
        "Integr. (I) and Drift (D) as they would be with other settings of what the paper leaves "
        "unspecified: both thresholds 1, 3 or 5; N: the other normalisation of relevance; code: "
        "all as in the authors' notebook. Rank: by Integr.",
        "Rigorous Bench: sensitivity to what is unspecified by the paper",
        only_valued=True,
    ),
)


def boards_of(rows: pl.DataFrame) -> Iterator[Board]:
    """The boards of these rows of a leaderboard: those above, then one for each other protocol.

    A protocol whose definition is not at hand (a rubric of somebody's own) goes by its metrics'
    names.
    """
    names = rows["protocol"].unique().sort().to_list()
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    yield from (
        board
        for board in BOARDS
        if board.protocols & {*names} and (not board.only_valued or valued & board.columns.keys())
    )
    placed = frozenset[str]().union(*(board.protocols for board in BOARDS))
    known = at_hand(names)
    for name in names:
        if name in placed:
            continue
        there = set(rows.filter(pl.col("protocol") == name)["metric"])
        if name in known:
            metrics = [metric for metric in known[name].metrics if metric.name in there]
            titles = {metric.name: metric.title for metric in metrics}
            numbers = frozenset(metric.name for metric in metrics if metric.unit == "number")
            yield _plain_board(name, title_of(name), titles, numbers)
        else:
            order = sorted(there, key=lambda metric: (metric != "rubric_score", metric))
            titles = {m: m.removeprefix("rubric_").replace("_", " ").capitalize() for m in order}
            yield _plain_board(name, name, titles, frozenset())


def ranking(rows: pl.DataFrame, board: Board) -> str:
    """The metric by which a board's rows are ranked: the first of those it names that anybody has a
    figure of."""
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    return next((metric for metric in board.ranked_by if metric in valued), board.ranked_by[0])


def ranges_note(rows: pl.DataFrame, board: Board) -> str:
    """What ranges and intervals say and how many articles they rest on, after a blank; nothing
    where none have been made."""
    by = ranking(rows, board)
    ranked = rows.filter(pl.col("metric") == by, pl.col("rank_from").is_not_null())
    if ranked.is_empty():
        return ""
    counted = ranked["n_articles"].sort().to_list()
    over = f"{counted[0]}" if counted[0] == counted[-1] else f"{counted[0]} to {counted[-1]}"
    said = (
        " #: the places that an agent may have, by its significant differences from others on the "
        f"articles that both have (evergreen differences). They rest on {over} articles "
        "(questions, where they have none)."
    )
    if ranked["low"].is_not_null().any():
        said += f" {INTERVAL}: the interval of {board.columns[by]}, had other articles been drawn."
    return said


def ranking_metric(protocol: str, valued: Collection[str]) -> str | None:
    """Of these metrics of a protocol, the one that its first board ranks by; None where no board
    of its own says so."""
    for board in BOARDS:
        if protocol in board.protocols:
            return next((metric for metric in board.ranked_by if metric in valued), None)
    return None


def leading(protocol: str, metrics: Sequence[str]) -> list[str]:
    """Those of a protocol's metrics that the first board with any of them shows; all of them where
    it has no board of its own."""
    for board in BOARDS:
        if protocol in board.protocols:
            return [metric for metric in metrics if metric in board.columns]
    return list(metrics)


def headings(protocol: Protocol) -> dict[str, str]:
    """What its metrics are called at the head of a column: as on its boards, or by their titles."""
    short = {
        metric: heading
        for board in BOARDS
        if protocol.name in board.protocols
        for metric, heading in board.columns.items()
    }
    return {entry.name: short.get(entry.name, entry.title) for entry in protocol.metrics}


def _plain_board(name: str, title: str, columns: dict[str, str], numbers: frozenset[str]) -> Board:
    """All metrics of a protocol, the first one first and ranking."""
    first = next(iter(columns))
    counts = [heading for metric, heading in columns.items() if metric in numbers]
    note = (
        f"Percent{''.join(f'; {heading}: a number' for heading in counts)}. –: not assessed, or "
        f"nothing to assess. {OPEN}. Rank: by {columns[first]}."
    )
    if "assessed_share" in columns:
        note += " It rests only on the items that were judged: Assessed says how many of all."
    return Board(frozenset({name}), columns, (first,), first, "Rep.", note, title, numbers=numbers)

"""The tables of the leaderboard: which metrics each one shows and which one ranks."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from tasks.protocols.case import Protocol
from tasks.protocols.registry import available_protocols, get_protocol_title

COLUMNS = {
    "coverage_wiki_soft": "Soft cov.",
    "coverage_wiki": "Cov.",
    "coverage_wiki_all": "All cl.",
    "wiki_conflict": "Confl.",
    "ref_acc": "Ref. acc.",
    "ref_acc_readable": "Readable",
    "evaluated_share": "Eval.",
    "never_existed": "Never ex.",
    "leakage_rate": "Leak",
    "writing_overall": "Writing",
}
"""Metrics of the table, in percent; other formats show all metrics."""
CLAIM_COLUMNS = {
    "claim_f1": "F1",
    "claim_precision": "Prec.",
    "claim_recall": "Recall",
    "claim_f1_printed": "F1 (Σ 1)",
    "claim_f1_by_task": "F1 (quest.)",
    "compat_f1": "Publ. F1",
    "compat_precision": "Publ. prec.",
    "compat_recall": "Publ. recall",
    "answered_share": "Answered",
}
"""Columns for answers to questions."""
SEARCH_COLUMNS = {
    "claim_f1": "F1",
    "query_coverage": "Needed q.",
    "search_count": "Searches",
    "search_opened": "Opened",
    "search_repeated": "Repeated",
    "search_depth": "Depth",
    "search_branching": "Branching",
    "search_returns": "Returns",
}
"""How agents searched for these answers, beside their F1."""
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
    "citation_recall_own": "Own mark.",
    "clarity": "Clarity",
    "insight": "Insight",
}
"""The figures of DeepResearchGym's paper, and recall by the claims' own markers; other formats also
show those of the published code."""
COUNTS = {"coverage_wiki": "Facts", "ref_acc": "Pairs", "rubric_score": "Items"}
"""Metrics shown with their number of items, by its heading."""


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
    """One table of the leaderboard, shown if an edition has rows of any of its protocols."""

    protocols: frozenset[str]
    columns: dict[str, str]
    ranked_by: tuple[str, ...]
    """The ranking metrics; each one breaks the ties of those before it."""
    counted_by: str
    """The metric whose reports and assignments are in the last column."""
    last: str
    """The last column's heading."""
    note: str
    title: str = ""
    """The title, if an edition may have several boards."""
    only_valued: bool = False
    """Whether to omit the board if none of its figures, but for the ranking ones, has a value."""
    numbers: frozenset[str] = frozenset()
    """Metrics that are shown as numbers, not in percent."""
    least_needed: tuple[str, ...] = ()
    """What a narrow terminal leaves out first, in this order; then the other metrics, the last
    first."""


INTERVAL = "95 %"
"""Heading of the interval column."""
OPEN_NOTE = "*: provisional: items are open, reports are missing, or another version judged them"
"""The meaning of the star after a figure."""

BOARDS = (
    Board(
        frozenset({"wiki_fact", "wiki_writing"}),
        COLUMNS,
        ("coverage_wiki_soft", "coverage_wiki"),
        "coverage_wiki",
        "Rep.",
        f"Percent. –: not assessed, or nothing to assess. {OPEN_NOTE}. Cov.: facts of the article "
        "that the report states; All cl.: by claims that cite the article, too. Ref. acc.: pairs "
        "of claim and cited page that the page supports; a page that nobody can read supports "
        "nothing. Readable: claims with a fetched page that a page supports; Eval.: cited claims "
        "with one. Never ex.: cited addresses that never existed. Leak: claims that cite the "
        "article. Open: pages never fetched, cells failed. "
        "Rank: by soft coverage if the judge gives probabilities, else by coverage.",
        least_needed=(
            "never_existed",
            "evaluated_share",
            "coverage_wiki_all",
            "ref_acc_readable",
            "coverage_wiki",
        ),
    ),
    Board(
        frozenset({"claim_discovery"}),
        CLAIM_COLUMNS,
        ("claim_f1", "compat_f1"),
        "answered_share",
        "Quest.",
        "Percent, means over the categories' means; F1 (Σ 1): by the denominator "
        "that the paper prints; F1 (quest.): over all questions. Publ.: as "
        f"the published code scores each category. –: not assessed. {OPEN_NOTE}. Rank: by F1.",
    ),
    Board(
        frozenset({"claim_discovery"}),
        SEARCH_COLUMNS,
        ("claim_f1",),
        "search_count",
        "Quest.",
        "F1 and Needed q. (queries that the question needs and the agent made) in percent, the "
        "others numbers, means over the questions whose trace says them. Opened: different pages. "
        "Repeated: queries made before. Depth: steps of the longest chain. Branching: steps that "
        "follow from one. Returns: steps back to a branch that had been left. –: the trace does "
        "not say. Rank: by F1.",
        "Claim discovery: how the agents searched",
        only_valued=True,
        numbers=frozenset(SEARCH_COLUMNS) - {"claim_f1", "query_coverage"},
    ),
    Board(
        frozenset({"research_gym"}),
        GYM_COLUMNS,
        ("kpr", "citation_recall"),
        "citation_recall",
        "Rep.",
        "Percent, means over reports; for clarity and insight 100 is 10 of 10. KPR, KPC: key "
        "points supported, contradicted. Cit. prec.: 0 for claims whose pages nobody can read; "
        "Eval.: cited claims with a fetched page. –: not assessed, "
        f"or nothing to assess. {OPEN_NOTE}. Rank: by KPR.",
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
        "rubric has twice, as published. Graded: items that the judge decided. Not found: "
        "evidence that is not in the report. Cut: reports too long to be shown whole. –: "
        f"not assessed. {OPEN_NOTE}. Rank: by Total.",
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
        "general rubrics. Drift (lower is better) consists of Focus d., the focus "
        "keywords that the report lacks, and Dev. d., the deviation keywords that it has; Focus "
        "kw. and Dev. kw.: how often these occur. /100 tok.: points of Integr. per 100 tokens of "
        "the agent, if their number is known. Eval.: rubrics and keywords that "
        f"the judge decided. –: not assessed. {OPEN_NOTE}, or rubrics are drafts. Thresholds and "
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
        "Integr. (I) and Drift (D) with other settings of what the paper leaves "
        "unspecified: both thresholds 1, 3 or 5; N: the other normalisation of relevance; code: "
        "keywords as in the authors' notebook. Rank: by Integr.",
        "Rigorous Bench: sensitivity to what is unspecified by the paper",
        only_valued=True,
    ),
)


def select_boards(rows: pl.DataFrame) -> Iterator[Board]:
    """Yield the boards for a leaderboard's rows: BOARDS, then one for each other protocol.

    A protocol without a definition (a deleted rubric) is shown with its metrics' names.
    """
    names = rows["protocol"].unique().sort().to_list()
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    yield from (
        board
        for board in BOARDS
        if board.protocols & {*names}
        and (not board.only_valued or valued & (board.columns.keys() - board.ranked_by))
    )
    placed = frozenset[str]().union(*(board.protocols for board in BOARDS))
    known = available_protocols(names)
    for name in names:
        if name in placed:
            continue
        there = set(rows.filter(pl.col("protocol") == name)["metric"])
        if name in known:
            metrics = [metric for metric in known[name].metrics if metric.name in there]
            titles = {metric.name: metric.title for metric in metrics}
            numbers = frozenset(metric.name for metric in metrics if metric.unit == "number")
            yield _make_plain_board(name, get_protocol_title(name), titles, numbers)
        else:
            order = sorted(there, key=lambda metric: (metric != "rubric_score", metric))
            titles = {m: m.removeprefix("rubric_").replace("_", " ").capitalize() for m in order}
            yield _make_plain_board(name, name, titles, frozenset())


def select_columns(rows: pl.DataFrame, board: Board) -> dict[str, str]:
    """Return metric → heading of those columns of a board in which any agent has a value."""
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    return {metric: heading for metric, heading in board.columns.items() if metric in valued}


def choose_ranking_metric(rows: pl.DataFrame, board: Board) -> str:
    """Return the metric that ranks a board's rows: the first of `ranked_by` with any value."""
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    return next((metric for metric in board.ranked_by if metric in valued), board.ranked_by[0])


def find_ranking_metric(protocol: str, valued: Collection[str]) -> str | None:
    """Return which of these metrics ranks the protocol's first board; None if it has no board."""
    for board in BOARDS:
        if protocol in board.protocols:
            return next((metric for metric in board.ranked_by if metric in valued), None)
    return None


def select_leading_metrics(protocol: str, metrics: Sequence[str]) -> list[str]:
    """Return those of a protocol's metrics that its first board shows; all if it has no board."""
    for board in BOARDS:
        if protocol in board.protocols:
            return [metric for metric in metrics if metric in board.columns]
    return list(metrics)


def get_headings(protocol: Protocol) -> dict[str, str]:
    """Return metric → column heading: from the protocol's boards, else the metric's title."""
    short = {
        metric: heading
        for board in BOARDS
        if protocol.name in board.protocols
        for metric, heading in board.columns.items()
    }
    return {entry.name: short.get(entry.name, entry.title) for entry in protocol.metrics}


def _make_plain_board(
    name: str, title: str, columns: dict[str, str], numbers: frozenset[str]
) -> Board:
    """Make a board of these columns, ranked by the first one."""
    first = next(iter(columns))
    counts = [heading for metric, heading in columns.items() if metric in numbers]
    note = (
        f"Percent{''.join(f'; {heading}: a number' for heading in counts)}. –: not assessed, or "
        f"nothing to assess. {OPEN_NOTE}. Rank: by {columns[first]}."
    )
    if "assessed_share" in columns:
        note += (
            " Based on the judged items only; Assessed is their share of all items. The columns "
            "after it: the score over one group of the rubric's items each."
        )
    return Board(frozenset({name}), columns, (first,), first, "Rep.", note, title, numbers=numbers)

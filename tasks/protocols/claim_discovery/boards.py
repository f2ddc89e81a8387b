"""The boards of claim discovery: the figures, and how agents searched."""

from tasks.protocols.board import OPEN_NOTE, Board

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

SHORT_HEADINGS = {"reports": "Quest."}
BOARDS = (
    Board(
        frozenset({"claim_discovery"}),
        CLAIM_COLUMNS,
        ("claim_f1", "compat_f1"),
        "answered_share",
        "Percent, means over the categories' means; F1 (Σ 1): by the denominator "
        "that the paper prints; F1 (quest.): over all questions. Publ.: as "
        f"the published code scores each category. –: not assessed. {OPEN_NOTE}. Rank: by F1.",
        short_headings=SHORT_HEADINGS,
    ),
    Board(
        frozenset({"claim_discovery"}),
        SEARCH_COLUMNS,
        ("claim_f1",),
        "search_count",
        "F1 and Needed q. (queries that the question needs and the agent made) in percent, the "
        "others numbers, means over the questions whose trace says them. Opened: different pages. "
        "Repeated: queries made before. Depth: steps of the longest chain. Branching: steps that "
        "follow from one. Returns: steps back to a branch that had been left. –: the trace does "
        "not say. Rank: by F1.",
        "Claim discovery: how the agents searched",
        only_valued=True,
        short_headings=SHORT_HEADINGS,
        numbers=frozenset(SEARCH_COLUMNS) - {"claim_f1", "query_coverage"},
    ),
)

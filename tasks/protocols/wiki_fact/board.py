"""The board of Wiki Fact, which also shows the figure of Wiki Writing."""

from tasks.protocols.board import OPEN_NOTE, Board

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

BOARD = Board(
    frozenset({"wiki_fact", "wiki_writing"}),
    COLUMNS,
    ("coverage_wiki_soft", "coverage_wiki"),
    "coverage_wiki",
    f"Percent. –: not assessed, or nothing to assess. {OPEN_NOTE}. Cov.: facts of the article "
    "that the report states; All cl.: by claims that cite the article, too. Ref. acc.: pairs "
    "of claim and cited page that the page supports; a page that nobody can read supports "
    "nothing. Readable: claims with a fetched page that a page supports; Eval.: cited claims "
    "with one. Never ex.: cited addresses that never existed. Leak: claims that cite the "
    "article. Open: pages never fetched, cells failed. "
    "Rank: by soft coverage if the judge gives probabilities, else by coverage.",
    counts={"coverage_wiki": "Facts", "ref_acc": "Pairs"},
    least_needed=(
        "never_existed",
        "evaluated_share",
        "coverage_wiki_all",
        "ref_acc_readable",
        "coverage_wiki",
    ),
)

"""The figures of Wiki Fact: coverage, conflict, reference accuracy, addresses, leakage."""

import polars as pl

from tasks.judges.decisions import CONFLICT as CONTRADICTS
from tasks.judges.decisions import CONSISTENT, INCONSISTENT, SUPPORT, Judge, explain_cannot
from tasks.metrics.ratios import combine_citation_labels
from tasks.protocols.case import JudgedReports
from tasks.protocols.declarations import OPEN_NOTE, Board
from tasks.protocols.figures import add_reasons, build_not_assessed, build_share, find_unreliable
from tasks.warehouse.rows import NO_URL, Status

COVERAGE, COVERAGE_ALL, CONFLICT, CITATION = "coverage", "coverage_all", "conflict", "citation"
"""Steps. `coverage_all`: coverage by all claims; only of reports with claims that cite the
article."""
EARLIER_LEAKS = "it was judged when copies of the article did not count as leaks"
"""The reason of a coverage that still counts all claims, although some leak by today's rule."""
NO_PAGES = "no cited page of this report has been fetched"
NO_ADDRESSES = "the report cites no page whose state is known"
NO_ARCHIVE = (
    "no archive was asked: `evergreen fetch` asks one about addresses that are gone, once an "
    "operator is named (EVERGREEN_OPERATOR, or `operator` in configs/web.yaml)"
)
OTHER_LANGUAGE = "not_assessed: the report is in another language"
"""The beginning of the reason of items that are not compared."""


def compute_coverage(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute coverage without the claims that cite the article, and with all claims: where no
    claim cites it, both rest on the same verdicts."""
    filtered, asked_again = judged.select_step(COVERAGE), judged.select_step(COVERAGE_ALL)
    same = filtered.join(asked_again.select("assignment").unique(), on="assignment", how="anti")
    today = asked_again["assignment"].to_list()
    leaking = judged.claims.filter("leaked", ~pl.col("assignment").is_in(today))["assignment"]
    earlier = (pl.col("n_items") > 0) & pl.col("assignment").is_in(leaking.to_list())
    reason = pl.when(earlier).then(pl.lit(EARLIER_LEAKS)).otherwise("reason")
    return [
        *(
            rows.with_columns(reason=reason)
            for rows in _compute_both_coverages("coverage_wiki", filtered, judged)
        ),
        *_compute_both_coverages("coverage_wiki_all", pl.concat([same, asked_again]), judged),
    ]


def _compute_both_coverages(
    metric: str, verdicts: pl.DataFrame, judged: JudgedReports
) -> list[pl.DataFrame]:
    hit, scored = pl.col("label") == CONSISTENT, verdicts.drop_nulls("score")
    rows = [
        build_share(metric, verdicts, hit, judged, "no reference fact was decided"),
        build_share(
            f"{metric}_soft", scored, pl.col("score"), judged, "the judge gives no probabilities"
        ),
    ]
    return [add_reasons(row, find_other_language(verdicts)) for row in rows]


def find_other_language(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return assignment, because: which reports are not compared for their language."""
    told = verdicts.filter(pl.col("reason").str.starts_with(OTHER_LANGUAGE))
    return told.group_by("assignment").agg(because=pl.col("reason").first()).sort("assignment")


def compute_conflict(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    if not judge.sees_conflict:
        blind = explain_cannot(judge, "see contradiction")
        return build_not_assessed(judged, blind, "wiki_conflict")
    verdicts, hit = judged.select_step(CONFLICT), pl.col("label") == INCONSISTENT
    rows = build_share("wiki_conflict", verdicts, hit, judged, "no claim was decided")
    return [add_reasons(rows, find_other_language(verdicts))]


def compute_references(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    """Compute the figures of citations, by pair and by claim. What nobody could read supports
    nothing in the paper's; what our side has not fetched is open."""
    pairs = _name_pairs(judged.select_step(CITATION))
    claims = _group_by_claim(pairs)
    supported, unread = pl.col("label") == SUPPORT, pl.col("status") == Status.UNFETCHABLE
    as_unsupported = pl.when(unread).then(pl.lit(str(Status.OK))).otherwise("status")
    figures = {
        "ref_acc": (pairs.with_columns(status=as_unsupported), supported),
        "ref_acc_readable": (claims, supported),
        "ref_acc_claims": (claims.with_columns(status=as_unsupported), supported),
        "evaluated_share": (
            claims.with_columns(status=pl.lit("ok")),
            pl.col("label").is_not_null(),
        ),
    }
    blind = []
    if judge.sees_conflict:
        figures["ref_conflict"] = (claims, pl.col("label") == CONTRADICTS)
        figures["ref_disputed"] = (claims, pl.col("disputed"))
    else:
        reason = explain_cannot(judge, "see contradiction")
        blind = build_not_assessed(judged, reason, "ref_conflict", "ref_disputed")
    rows = {
        metric: build_share(metric, *shares, judged, NO_PAGES) for metric, shares in figures.items()
    }
    # An open claim is not evaluated yet: the figure counts it, and is provisional.
    still_open = rows["ref_acc_readable"].select("assignment", "n_open")
    rows["evaluated_share"] = rows["evaluated_share"].update(
        still_open, on="assignment", maintain_order="left"
    )
    return [add_reasons(pl.concat(rows.values()), find_unreliable(judged)), *blind]


def _name_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs with the label (null unless decided); those never tried are open, like failed
    answers of the judge."""
    return pairs.with_columns(
        claim=pl.col("item").str.split(" ").list.first(),
        label=pl.when(pl.col("status") == "ok").then("label"),
        status=pl.when(pl.col("status").is_in([Status.SKIPPED, Status.UNPARSABLE]))
        .then(pl.lit(str(Status.JUDGE_ERROR)))
        .otherwise("status"),
    )


def _group_by_claim(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return, per cited claim, its label (null if no page was decided), whether it is disputed, and
    its status: `ok` if a page was decided, else open if any is, else unanswered if the judge did
    not answer for a page, else unfetchable."""
    unanswered = pl.col("status").is_in([Status.BLOCKED, Status.NOT_ASSESSED]).any()
    return (
        pairs.group_by("assignment", "claim")
        .agg(
            labels=pl.col("label").drop_nulls(),
            status=pl.when(pl.col("label").is_not_null().any())
            .then(pl.lit(str(Status.OK)))
            .when((pl.col("status") == Status.JUDGE_ERROR).any())
            .then(pl.lit(str(Status.JUDGE_ERROR)))
            .when(unanswered)
            .then(pl.lit(str(Status.NOT_ASSESSED)))
            .otherwise(pl.lit(str(Status.UNFETCHABLE))),
        )
        .sort("assignment", "claim")
        .with_columns(
            label=pl.col("labels").map_elements(
                lambda labels: combine_citation_labels(labels.to_list()), return_dtype=pl.String
            ),
            disputed=pl.col("labels").list.contains(SUPPORT)
            & pl.col("labels").list.contains(CONTRADICTS),
        )
    )


def compute_never_existed(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute the share of a report's different addresses that never existed, of those whose state
    is known."""
    if judged.addresses is None:
        return build_not_assessed(judged, NO_ARCHIVE, "never_existed")
    state = pl.col("state")
    known = judged.addresses.with_columns(
        status=pl.when(state == "open")
        .then(pl.lit(str(Status.JUDGE_ERROR)))
        .when(state == "missing")
        .then(pl.lit(str(Status.NOT_ASSESSED)))
        .otherwise(pl.lit(str(Status.OK)))
    )
    rows = build_share("never_existed", known, state == "never_existed", judged, NO_ADDRESSES)
    return [add_reasons(rows, find_unreliable(judged))]


def compute_leakage(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute leakage over the claims of reports with published or reliable claim-URL pairs.

    Published claims count by their published URLs, whether or not these are in the report.
    """
    published = judged.claims.filter(pl.col("published")).select("assignment")
    trusted = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    known = pl.concat([published, trusted]).unique()
    return [
        _build_claim_share(metric, pl.col("leaked"), known, judged)
        for metric in ("leakage_rate", "leakage_rate_by_article")
    ]


def compute_uncited(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute the share of claims without a citation, over reports whose pairs are reliable or that
    cite no URL at all."""
    reliable = pl.col("pairs_reliable") | (pl.col("pairs_reason") == NO_URL)
    known = judged.reports.filter(reliable).select("assignment")
    return [_build_claim_share("uncited_share", ~pl.col("cited"), known, judged)]


def _build_claim_share(
    metric: str, hit: pl.Expr, known: pl.DataFrame, judged: JudgedReports
) -> pl.DataFrame:
    """Return the share of claims for which `hit` holds, of the reports `known` (assignment)."""
    claims = judged.claims.join(known, on="assignment", how="semi")
    claims = claims.with_columns(status=pl.lit("ok"))
    rows = build_share(metric, claims, hit, judged, "the report has no claims")
    return add_reasons(rows, find_unreliable(judged))


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

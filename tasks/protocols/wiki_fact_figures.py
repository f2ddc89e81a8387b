"""The figures of Wiki Fact: coverage, conflict, reference accuracy, leakage."""

import polars as pl

from tasks.judges.decisions import CONSISTENT, INCONSISTENT, SUPPORT, Judge, explain_cannot
from tasks.metrics.ratios import combine_citation_labels
from tasks.protocols.case import JudgedReports
from tasks.protocols.figures import (
    FIGURE_SCHEMA,
    add_reasons,
    build_not_assessed,
    build_share,
    find_unreliable,
)
from tasks.warehouse.rows import Status

COVERAGE, COVERAGE_ALL, CONFLICT, CITATION = "coverage", "coverage_all", "conflict", "citation"
"""Steps. `coverage_all`: coverage by all claims; only of reports with claims that cite the
article."""
EARLIER_LEAKS = "it was judged when copies of the article did not count as leaks"
"""The reason of a coverage that still counts all claims, although some leak by today's rule."""
NO_PAGES = "no cited page of this report has been fetched"
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
    pairs = judged.select_step(CITATION)
    claims = _group_by_claim(pairs)
    evaluated = claims.filter(pl.col("label").is_not_null())
    # Strict: a claim whose pages could all not be fetched counts as not supported. A claim with a
    # page never tried or an answer missing is open. If the judge could not answer for a fetched
    # page, the claim does not count.
    strict = claims.with_columns(
        status=pl.when(pl.col("label").is_not_null())
        .then(pl.lit(Status.OK))
        .when(pl.col("undecided"))
        .then(pl.lit(Status.JUDGE_ERROR))
        .when(pl.col("unanswered"))
        .then(pl.lit(Status.NOT_ASSESSED))
        .otherwise(pl.lit(Status.OK))
    )
    supported = pl.col("label") == SUPPORT
    figures = {
        "ref_acc": (evaluated, supported),
        "ref_acc_strict": (strict, supported),
        "ref_acc_pairs": (pairs, supported),
        "evaluated_share": (claims, pl.col("label").is_not_null()),
    }
    blind = []
    if judge.sees_conflict:
        figures["ref_conflict"] = (evaluated, pl.col("label") == "conflict")
    else:
        reason = explain_cannot(judge, "see contradiction")
        blind = build_not_assessed(judged, reason, "ref_conflict")
    rows = pl.concat(
        [build_share(metric, *shares, judged, NO_PAGES) for metric, shares in figures.items()]
    )
    n_open = claims.group_by("assignment").agg(pl.col("undecided").sum().cast(pl.Int64))
    rows = rows.join(n_open, on="assignment", how="left").select(
        pl.exclude("n_open", "undecided"), n_open=pl.col("undecided").fill_null(0)
    )
    return [add_reasons(rows.select(list(FIGURE_SCHEMA)), find_unreliable(judged)), *blind]


def _group_by_claim(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return, per cited claim, its label (null if no page was decided), whether a page is open, and
    whether the judge could not answer for a fetched page."""
    unanswered = pl.col("status").is_in([Status.BLOCKED, Status.NOT_ASSESSED])
    never = pl.col("status").is_in([Status.SKIPPED, Status.JUDGE_ERROR, Status.UNPARSABLE])
    return (
        pairs.with_columns(claim=pl.col("item").str.split(" ").list.first())
        .group_by("assignment", "claim")
        .agg(
            labels=pl.col("label").filter(pl.col("status") == "ok"),
            undecided=never.any(),
            unanswered=unanswered.any(),
        )
        .sort("assignment", "claim")
        .with_columns(
            label=pl.col("labels").map_elements(
                lambda labels: combine_citation_labels(labels.to_list()), return_dtype=pl.String
            ),
            status=pl.lit("ok"),
        )
        .with_columns(undecided=pl.col("undecided") & pl.col("label").is_null())
    )


def compute_leakage(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute leakage over the claims of reports with published or reliable claim-URL pairs.

    Published claims count by their published URLs, whether or not these are in the report.
    """
    published = judged.claims.filter(pl.col("published")).select("assignment")
    trusted = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    known = pl.concat([published, trusted]).unique()
    claims = judged.claims.join(known, on="assignment", how="semi")
    claims = claims.with_columns(status=pl.lit("ok"))
    rows = [
        build_share(metric, claims, pl.col("leaked"), judged, "the report has no claims")
        for metric in ("leakage_rate", "leakage_rate_by_article")
    ]
    return [add_reasons(pl.concat(rows), find_unreliable(judged))]

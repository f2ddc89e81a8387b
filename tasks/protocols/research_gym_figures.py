"""The figures of DeepResearchGym: the paper's, and beside them what the published code averages.

In the code's averages a report counts 0 that has nothing to be measured: its query has no key
points, it has no claims, it names no URL. In the paper's it has no figure.
"""

import polars as pl

from tasks.judges.decisions import Judge
from tasks.judges.research import (
    CONTRADICTED,
    FULL,
    NONE,
    PARTIAL,
    SUPPORTED,
    CheckPoints,
    ExtractKeyPoints,
    RateReport,
    VerifySupport,
)
from tasks.metrics.shares import shares
from tasks.protocols.case import Judged, figures_of, not_assessed
from tasks.warehouse.rows import OPEN_STATUSES, Status

GIVEN, KEY_POINT, CITATION, QUALITY = "given", "key_point", "citation", "quality"
"""Steps; `given` is decided without a judge."""
POINTS, URLS = "key_points", "urls"
"""Items of `given`."""
CLARITY, INSIGHT = "clarity", "insight"
THERE, WITHOUT, NO_POINTS, NO_TEXT, NOT_MADE, UNKNOWN = (
    "there", "without", "no_points", "no_text", "not_made", "unknown",
)  # fmt: skip
"""Labels of `given`: something is there, or why it is not."""
WHY_NO_POINTS = {
    NO_POINTS: "the query's documents hold no key points",
    NO_TEXT: "the reference article has no text",
    NOT_MADE: "nobody has made key points of the reference article: `evergreen evaluate --protocol "
    "research_gym --judge JUDGE` does, with a judge that calls a model",
    UNKNOWN: "nobody has published key points of this query",
}
SUPPORT_WORTH = {FULL: 1.0, PARTIAL: 0.5, NONE: 0.0}
BEST_RATING = 10
NO_CLAIMS = "the report has no claims"
NO_URL = "the report names no URL"
NO_PAGES = "no cited page of this report has been fetched"
STILL_OPEN = "citations of this report are still to be decided"
AS_ZERO = "0 as in the published code: "


def point_figures(judged: Judged, judge: Judge) -> list[pl.DataFrame]:
    """kpr, kpc and what the published code averages; open where this judge can still make the key
    points."""
    if CheckPoints not in judge.decides:
        return _none_of(judged, _cannot(judge, CheckPoints.asks_to), "kpr", "kpc")
    verdicts = _step(judged, KEY_POINT)
    labels = _given(judged, POINTS)
    why = labels.select(
        "assignment", because=pl.col("label").replace_strict(WHY_NO_POINTS, default=None)
    )
    none = labels.filter(pl.col("label") == NO_POINTS).select(
        "assignment", zero=pl.lit(AS_ZERO + WHY_NO_POINTS[NO_POINTS])
    )
    to_make = labels.filter(
        (pl.col("label") == NOT_MADE) & pl.lit(ExtractKeyPoints in judge.decides)
    ).select("assignment", n_open=pl.lit(1, pl.Int64))

    def figures(metric: str, label: str) -> list[pl.DataFrame]:
        found = shares(verdicts, pl.col("label") == label)
        rows = _because(figures_of(metric, found, judged, "no key point was decided"), why)
        rows = rows.update(to_make, on="assignment", maintain_order="left")
        return [rows, _published(f"{metric}_published", rows, none)]

    if not judge.sees_conflict:
        blind = f"not_assessed: the judge {judge.name} cannot see contradiction"
        return [*figures("kpr", SUPPORTED), *_none_of(judged, blind, "kpc")]
    return [*figures("kpr", SUPPORTED), *figures("kpc", CONTRADICTED)]


def citation_figures(judged: Judged, judge: Judge) -> list[pl.DataFrame]:
    """Recall and precision of citations."""
    no_url = _given(judged, URLS).filter(pl.col("label") == WITHOUT).select("assignment")
    with_claims = judged.claims.select("assignment").unique()
    zeros = judged.reports.join(with_claims, on="assignment", how="anti").select(
        "assignment", zero=pl.lit(AS_ZERO + NO_CLAIMS)
    )
    return [
        *_recall(judged, no_url, zeros),
        *_precision(
            judged,
            judge,
            pl.concat([zeros, no_url.with_columns(zero=pl.lit(AS_ZERO + NO_URL))]).unique(
                "assignment", keep="first", maintain_order=True
            ),
        ),
    ]


def quality_figures(judged: Judged, judge: Judge) -> list[pl.DataFrame]:
    """Clarity and insight as shares of the best rating."""
    if RateReport not in judge.decides:
        reason = _cannot(judge, RateReport.asks_to)
        return [not_assessed(metric, judged, reason) for metric in (CLARITY, INSIGHT)]
    ratings = _step(judged, QUALITY)
    worth = pl.col("label").cast(pl.Float64) / BEST_RATING
    return [
        figures_of(
            metric, shares(ratings.filter(pl.col("item") == metric), worth), judged, "not rated"
        )
        for metric in (CLARITY, INSIGHT)
    ]


def _recall(judged: Judged, no_url: pl.DataFrame, zeros: pl.DataFrame) -> list[pl.DataFrame]:
    """A report without any URL cites nothing; of one whose markers lead nowhere nobody can tell."""
    reliable = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    told = judged.claims.join(pl.concat([reliable, no_url]), on="assignment", how="semi")
    cited = shares(told.with_columns(status=pl.lit("ok")), pl.col("cited"))
    rows = figures_of("citation_recall", cited, judged, NO_CLAIMS)
    claimless = zeros.select("assignment", because=pl.lit(NO_CLAIMS))
    rows = _because(_because(rows, _unreliable(judged)), claimless)
    return [rows, _published("citation_recall_published", rows, zeros)]


def _precision(judged: Judged, judge: Judge, zeros: pl.DataFrame) -> list[pl.DataFrame]:
    names = ("citation_precision", "citation_precision_strict")
    published, evaluated = "citation_precision_published", "citation_evaluated_share"
    if VerifySupport not in judge.decides:
        reason = _cannot(judge, VerifySupport.asks_to)
        return [not_assessed(metric, judged, reason) for metric in (*names, published, evaluated)]
    # What was never tried is open, as is what the judge failed to answer.
    claims = _step(judged, CITATION).with_columns(
        status=pl.when(pl.col("status") == Status.SKIPPED)
        .then(pl.lit(str(Status.JUDGE_ERROR)))
        .otherwise(pl.col("status")),
        worth=pl.col("label").replace_strict(SUPPORT_WORTH, default=0.0, return_dtype=pl.Float64),
    )
    tried = claims.with_columns(
        status=pl.when(pl.col("status") == Status.UNFETCHABLE)
        .then(pl.lit(str(Status.OK)))
        .otherwise(pl.col("status"))
    )
    found = {
        names[0]: shares(claims, pl.col("worth")),
        names[1]: shares(tried, pl.col("worth")),
        evaluated: shares(tried, pl.col("label").is_not_null()),
    }
    to_come = claims.filter(pl.col("status").is_in(OPEN_STATUSES)).select(
        pl.col("assignment").unique(), because=pl.lit(STILL_OPEN)
    )
    rows = {}
    for metric, table in found.items():
        figures = _because(figures_of(metric, table, judged, NO_PAGES), to_come)
        rows[metric] = _because(figures, _unreliable(judged))
    return [*rows.values(), _published(published, rows[names[1]], zeros)]


def _step(judged: Judged, step: str) -> pl.DataFrame:
    return judged.verdicts.filter(pl.col("step") == step)


def _given(judged: Judged, item: str) -> pl.DataFrame:
    return _step(judged, GIVEN).filter(pl.col("item") == item).select("assignment", "label")


def _unreliable(judged: Judged) -> pl.DataFrame:
    """assignment, because: why nothing is known of a report's citations."""
    return judged.reports.filter(~pl.col("pairs_reliable").fill_null(False)).select(
        "assignment", because=pl.col("pairs_reason")
    )


def _because(figures: pl.DataFrame, why: pl.DataFrame) -> pl.DataFrame:
    """The figures with these reasons (assignment, because) where there is no value."""
    reason = pl.when(pl.col("n_items") == 0).then(pl.coalesce("because", "reason"))
    return (
        figures.join(why, on="assignment", how="left", maintain_order="left")
        .with_columns(reason=reason)
        .select(figures.columns)
    )


def _published(metric: str, figures: pl.DataFrame, zeros: pl.DataFrame) -> pl.DataFrame:
    """The same, one value a report, and 0 for those of `zeros` (assignment, zero: why)."""
    zero, some = pl.col("zero").is_not_null(), pl.col("n_items") > 0
    return (
        figures.join(zeros, on="assignment", how="left", maintain_order="left")
        .with_columns(
            metric=pl.lit(metric),
            numerator=pl.when(zero).then(0.0).when(some).then(
                pl.col("numerator") / pl.col("n_items")
            ),
            n_items=(zero | some).cast(pl.Int64),
            reason=pl.coalesce("zero", "reason"),
        )
        .select(figures.columns)
    )  # fmt: skip


def _none_of(judged: Judged, reason: str, *metrics: str) -> list[pl.DataFrame]:
    """Neither these metrics nor what the published code makes of them."""
    names = [name for metric in metrics for name in (metric, f"{metric}_published")]
    return [not_assessed(name, judged, reason) for name in names]


def _cannot(judge: Judge, what: str) -> str:
    return f"not_assessed: the judge {judge.name} cannot {what}"

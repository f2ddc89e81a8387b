"""The figures of DeepResearchGym: the paper's, and those that the published code averages.

The code counts a report as 0 if there is nothing to measure: the query has no key points, the
report no claims or no URL. In the paper such a report has no figure.
"""

import polars as pl

from tasks.judges.decisions import (
    CONTRADICTED,
    FULL,
    NONE,
    PARTIAL,
    SUPPORTED,
    Judge,
    explain_cannot,
)
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.verify_support import VerifySupport
from tasks.protocols.case import JudgedReports
from tasks.protocols.figures import add_reasons, build_not_assessed, build_share, find_unreliable
from tasks.warehouse.rows import OPEN_STATUSES, Status

GIVEN, KEY_POINT, CITATION, QUALITY = "given", "key_point", "citation", "quality"
"""Steps; `given` is decided without a judge."""
POINTS, URLS = "key_points", "urls"
"""Items of `given`."""
CLARITY, INSIGHT = "clarity", "insight"
THERE, WITHOUT = "there", "without"
NO_POINTS, NO_TEXT, NOT_MADE, UNKNOWN = "no_points", "no_text", "not_made", "unknown"
CLICKED = "clicked"
"""Labels of `given`: something exists, or why it does not."""
WHY_NO_POINTS = {
    NO_POINTS: "the query's documents hold no key points",
    NO_TEXT: "the reference article has no text",
    NOT_MADE: "nobody has made key points of the reference article: `evergreen evaluate --protocol "
    "research_gym --judge JUDGE` does, with a judge that calls a model",
    CLICKED: "nobody has made key points of the documents that people clicked: `evergreen fetch` "
    "gets them, and `evergreen evaluate --protocol research_gym --judge JUDGE` makes the points, "
    "with a judge that calls a model",
    UNKNOWN: "nobody has published key points of this query",
}
KPR, KPC = ("kpr", "kpr_published"), ("kpc", "kpc_published")
SUPPORT_WORTH = {FULL: 1.0, PARTIAL: 0.5, NONE: 0.0}
BEST_RATING = 10
NO_CLAIMS = "the report has no claims"
PAIRS_OF_PUBLISHER = "the claims' publisher does not say which of them have markers of their own"
NO_URL = "the report names no URL"
NO_PAGES = "no claim of this report could be judged by a page that it cites"
STILL_OPEN = "citations of this report are still to be decided"
AS_ZERO = "0 as in the published code: "


def compute_point_figures(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    """Compute kpr, kpc and the published code's variants; open if this judge can still extract the
    key points."""
    if CheckPoints not in judge.decides:
        cannot = explain_cannot(judge, CheckPoints.action)
        return build_not_assessed(judged, cannot, *KPR, *KPC)
    verdicts = judged.select_step(KEY_POINT)
    labels = _select_given(judged, POINTS)
    why = labels.select(
        "assignment", because=pl.col("label").replace_strict(WHY_NO_POINTS, default=None)
    )
    none = labels.filter(pl.col("label") == NO_POINTS).select(
        "assignment", zero=pl.lit(AS_ZERO + WHY_NO_POINTS[NO_POINTS])
    )
    to_make = labels.filter(
        pl.col("label").is_in([NOT_MADE, CLICKED]) & pl.lit(ExtractKeyPoints in judge.decides)
    ).select("assignment", n_open=pl.lit(1, pl.Int64))

    def figures(metric: str, published: str, label: str) -> list[pl.DataFrame]:
        hit = pl.col("label") == label
        rows = build_share(metric, verdicts, hit, judged, "no key point was decided")
        rows = add_reasons(rows, why).update(to_make, on="assignment", maintain_order="left")
        return [rows, _to_published(published, rows, none)]

    if not judge.sees_conflict:
        blind = explain_cannot(judge, "see contradiction")
        return [*figures(*KPR, SUPPORTED), *build_not_assessed(judged, blind, *KPC)]
    return [*figures(*KPR, SUPPORTED), *figures(*KPC, CONTRADICTED)]


def compute_citation_figures(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    """Compute recall and precision of citations."""
    # A publisher may know URLs that do not stand in the report.
    theirs = judged.claims.filter("published").select("assignment").unique()
    no_url = _select_given(judged, URLS).filter(pl.col("label") == WITHOUT).select("assignment")
    no_url = no_url.join(theirs, on="assignment", how="anti")
    with_claims = judged.claims.select("assignment").unique()
    zeros = judged.reports.join(with_claims, on="assignment", how="anti").select(
        "assignment", zero=pl.lit(AS_ZERO + NO_CLAIMS)
    )
    return [
        *_compute_recall(judged, no_url, zeros),
        *_compute_precision(
            judged,
            judge,
            pl.concat([zeros, no_url.with_columns(zero=pl.lit(AS_ZERO + NO_URL))]).unique(
                "assignment", keep="first", maintain_order=True
            ),
        ),
    ]


def compute_quality_figures(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    """Compute clarity and insight as shares of the best rating."""
    if RateReport not in judge.decides:
        cannot = explain_cannot(judge, RateReport.action)
        return build_not_assessed(judged, cannot, CLARITY, INSIGHT)
    ratings = judged.select_step(QUALITY)
    worth = pl.col("label").cast(pl.Float64) / BEST_RATING
    return [
        build_share(m, ratings.filter(pl.col("item") == m), worth, judged, "not rated")
        for m in (CLARITY, INSIGHT)
    ]


def _compute_recall(
    judged: JudgedReports, no_url: pl.DataFrame, zeros: pl.DataFrame
) -> list[pl.DataFrame]:
    """Compute recall, also by claims' own markers alone. A report without any URL cites nothing; if
    its markers lead nowhere, its citations are unknown."""
    reliable = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    known = judged.claims.join(pl.concat([reliable, no_url]), on="assignment", how="semi")
    known = known.with_columns(status=pl.lit("ok"))
    claimless = zeros.select("assignment", because=pl.lit(NO_CLAIMS))

    def explain(rows: pl.DataFrame) -> pl.DataFrame:
        return add_reasons(add_reasons(rows, find_unreliable(judged)), claimless)

    rows = explain(build_share("citation_recall", known, pl.col("attributed"), judged, NO_CLAIMS))
    theirs = judged.claims.filter("published").select(
        pl.col("assignment").unique(), because=pl.lit(PAIRS_OF_PUBLISHER)
    )
    ours = known.filter(~pl.col("published"))
    own = explain(build_share("citation_recall_own", ours, pl.col("own"), judged, NO_CLAIMS))
    return [
        rows,
        add_reasons(own, theirs),
        _to_published("citation_recall_published", rows, zeros),
    ]


def _compute_precision(
    judged: JudgedReports, judge: Judge, zeros: pl.DataFrame
) -> list[pl.DataFrame]:
    names = ("citation_precision", "citation_precision_readable")
    published, evaluated = "citation_precision_published", "citation_evaluated_share"
    if VerifySupport not in judge.decides:
        cannot = explain_cannot(judge, VerifySupport.action)
        return build_not_assessed(judged, cannot, *names, published, evaluated)
    # Pages never tried are open, like failed answers of the judge.
    claims = judged.select_step(CITATION).with_columns(
        status=pl.when(pl.col("status") == Status.SKIPPED)
        .then(pl.lit(str(Status.JUDGE_ERROR)))
        .otherwise(pl.col("status")),
        worth=pl.col("label").replace_strict(SUPPORT_WORTH, default=0.0, return_dtype=pl.Float64),
    )
    # In the paper, what nobody could read supports nothing.
    tried = claims.with_columns(
        status=pl.when(pl.col("status") == Status.UNFETCHABLE)
        .then(pl.lit(str(Status.OK)))
        .otherwise(pl.col("status"))
    )
    found = {
        names[0]: (tried, pl.col("worth")),
        names[1]: (claims, pl.col("worth")),
        evaluated: (tried, pl.col("label").is_not_null()),
    }
    still_open = claims.filter(pl.col("status").is_in(OPEN_STATUSES))
    open_reports = still_open.select(pl.col("assignment").unique(), because=pl.lit(STILL_OPEN))
    rows = {}
    for metric, (verdicts, hit) in found.items():
        figures = build_share(metric, verdicts, hit, judged, NO_PAGES)
        rows[metric] = add_reasons(add_reasons(figures, open_reports), find_unreliable(judged))
    return [*rows.values(), _to_published(published, rows[names[0]], zeros)]


def _select_given(judged: JudgedReports, item: str) -> pl.DataFrame:
    given = judged.select_step(GIVEN).filter(pl.col("item") == item)
    return given.select("assignment", "label")


def _to_published(metric: str, figures: pl.DataFrame, zeros: pl.DataFrame) -> pl.DataFrame:
    """Return one value per report, 0 for those of `zeros` (assignment, zero: why)."""
    zero, some = pl.col("zero").is_not_null(), pl.col("n_items") > 0
    return (
        figures.join(zeros, on="assignment", how="left", maintain_order="left")
        .with_columns(
            metric=pl.lit(metric),
            numerator=pl.when(zero)
            .then(0.0)
            .when(some)
            .then(pl.col("numerator") / pl.col("n_items")),
            n_items=(zero | some).cast(pl.Int64),
            reason=pl.coalesce("zero", "reason"),
        )
        .select(figures.columns)
    )

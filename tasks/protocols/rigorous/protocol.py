"""Rigorous Bench: is the report good, does it keep to its query, does it cite trusted sources?

Source: Rigorous Bench (A Rigorous Benchmark with Multidimensional Evaluation for Deep Research
Agents, arXiv 2510.02190). Quality by query-specific and general rubrics, drift by keywords, a
boost for trusted sources, and their product. What the paper leaves open is a parameter; figures are
also computed with other settings, among them those of the authors' notebook, published since
(github.com/EVIGBYEN/DrBench).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from tasks.benchmarks.rigorous import GENERAL, QUERY
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.prose import strip_apparatus
from tasks.judges.decisions import Judge
from tasks.judges.llm.requests import split_batches
from tasks.judges.questions.grade_items import GradeItems, RubricItem
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.protocols.case import (
    Case,
    ItemAnswer,
    JudgedReports,
    Protocol,
    gather_answers,
    name_answers,
)
from tasks.protocols.declarations import (
    ITEM_POINTS,
    OPEN_NOTE,
    RATINGS,
    Board,
    Bounds,
    build_version,
    parse_parameters,
)
from tasks.protocols.figures import FigureValues, VerdictLabels, compute_by_report
from tasks.protocols.rigorous.evidence import build_graded_text, collect_evidence, number_keywords
from tasks.protocols.rigorous.figures import RELEVANCE, RigorousReport, RubricPoints
from tasks.protocols.rigorous.parameters import RigorousParameters
from tasks.warehouse.rows import canonical_values
from tasks.warehouse.rubrics import ALLOWED_VALUES, BundleSettings, Rubric

GRADE_ITEM = "rigorous/grade_item"
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

BOARDS = (
    Board(
        frozenset({"rigorous"}),
        RIGOROUS_COLUMNS,
        ("rigorous_integrated", "rigorous_focus_frequency"),
        "rigorous_trust_boost",
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
        "Integr. (I) and Drift (D) with other settings of what the paper leaves "
        "unspecified: both thresholds 1, 3 or 5; N: the other normalisation of relevance; code: "
        "keywords as in the authors' notebook. Rank: by Integr.",
        "Rigorous Bench: sensitivity to what is unspecified by the paper",
        only_valued=True,
    ),
)


class Rigorous(Protocol):
    """Judges a report by its rubrics, keywords and trusted links."""

    name = "rigorous"
    prompts = "rigorous"
    inputs: tuple[str, ...] = ("query", "report", "rubric", "claims", "trace", "usage")
    kinds: tuple[str, ...] = ("research", "write_article")
    bounds = Bounds(dict.fromkeys((QUERY, GENERAL), ("0", ITEM_POINTS)), none={RELEVANCE: RATINGS})
    boards = BOARDS
    metrics_without: Mapping[str, tuple[str, ...]] = {"claims": ("rigorous_",)}

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.parameters = parse_parameters(entry, RigorousParameters)
        judged_by = canonical_values(self.parameters, {"domains"}, exclude_defaults=True)
        self.version = build_version(entry, judged_by)

    def supports(self, judge: Judge) -> bool:
        """Return True: counting keywords needs no judge."""
        return True

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        if case.bundle is None:
            raise ValueError(f"{case.report.assignment}: the assignment has no rubric")
        settings = BundleSettings.model_validate_json(case.bundle.settings)
        prose = strip_apparatus(case.report.text)
        steps = []
        if GradeItems in judge.decides:
            steps.append(self._grade_rubric(case, judge))
        if RateKeywords in judge.decides:
            keywords = [*number_keywords(settings).items()]
            batches = split_batches(keywords, self.parameters.keywords_per_call)
            rated = (_rate_batch(prose, dict(batch), judge) for batch in batches)
            steps.append(gather_answers(rated))
        return [*collect_evidence(case, prose, settings), *await gather_answers(steps)]

    async def _grade_rubric(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        """Grade the rubric in batches of the configured size; a dimension is a step."""
        text = build_graded_text(case)
        batches = [
            batch
            for dimension in dict.fromkeys(item.dimension for item in case.rubric)
            for batch in split_batches(
                [item for item in case.rubric if item.dimension == dimension],
                self.parameters.rubrics_per_call,
            )
        ]
        graded = (_grade_batch(case.question, text, batch, judge) for batch in batches)
        return await gather_answers(graded)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        items: dict[str, list[RubricPoints]] = {}
        columns = ("assignment", "item", "dimension", "points")
        for assignment, *item in judged.rubrics.select(columns).iter_rows():
            items.setdefault(assignment, []).append(RubricPoints(*item))
        bundles = dict(judged.bundles.select("assignment", "settings").iter_rows())

        def compute(assignment: str, verdicts: VerdictLabels) -> dict[str, FigureValues]:
            report = RigorousReport(
                verdicts=verdicts,
                items=items.get(assignment, ()),
                settings=BundleSettings.model_validate_json(bundles[assignment]),
                judge=judge,
                parameters=self.parameters,
            )
            return {name: figure.to_values() for name, figure in report.compute_figures().items()}

        return compute_by_report(judged, compute)

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        items = judged.count_rubric_items()
        counts = {"rigorous_focus_frequency": items}
        if GradeItems in judge.decides:
            counts["rigorous_quality"] = items
            counts["rigorous_query_rubrics"] = judged.count_rubric_items(QUERY)
            counts["rigorous_general_rubrics"] = judged.count_rubric_items(GENERAL)
        if {GradeItems, RateKeywords} <= judge.decides:
            counts |= {
                metric.name: items
                for metric in self.metrics
                if metric.name.startswith("rigorous_integrated")
            }
        return counts


async def _grade_batch(
    question: str, report: str, batch: Sequence[Rubric], judge: Judge
) -> list[ItemAnswer]:
    items = tuple(
        RubricItem(id=item.item, text=item.text, allowed=ALLOWED_VALUES.validate_json(item.allowed))
        for item in batch
    )
    answers = await judge.decide(
        GradeItems(question=question, report=report, items=items, prompt=GRADE_ITEM)
    )
    return [
        ItemAnswer(step=item.dimension, item=item.item, answer=answer)
        for item, answer in zip(batch, answers, strict=True)
    ]


async def _rate_batch(prose: str, keywords: dict[str, str], judge: Judge) -> list[ItemAnswer]:
    request = RateKeywords(report=prose, keywords=tuple(keywords.values()))
    return name_answers(RELEVANCE, keywords, await judge.decide(request))

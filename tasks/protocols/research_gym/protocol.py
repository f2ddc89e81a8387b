"""DeepResearchGym: does a report cover its query's key points, cite its claims, and read well?

Source: DeepResearchGym (arXiv 2505.19253 and its published code). Each key point is checked
against the report, each cited claim against all its pages together, and clarity and insight are
rated from 0 to 10. Recall and precision of citations use the edition's extraction of claims,
without the pairs that a claim was given across the end of its paragraph. Where paper and code
differ, both figures are computed: see `figures`.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import (
    CONTRADICTED,
    FULL,
    NONE,
    SUPPORTED,
    Criterion,
    Judge,
    JudgeAnswer,
)
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.verify_support import VerifySupport
from tasks.judges.text import URL_PATTERN, has_words, strip_urls
from tasks.protocols.case import (
    Case,
    ItemAnswer,
    JudgedReports,
    Protocol,
    gather_answers,
    name_answers,
)
from tasks.protocols.declarations import (
    OPEN_NOTE,
    RATINGS,
    Board,
    Bounds,
    build_version,
    parse_parameters,
)
from tasks.protocols.research_gym.figures import (
    CITATION,
    CLARITY,
    CLICKED,
    GIVEN,
    INSIGHT,
    KEY_POINT,
    NO_POINTS,
    NO_TEXT,
    NOT_MADE,
    POINTS,
    QUALITY,
    THERE,
    UNKNOWN,
    URLS,
    WITHOUT,
    compute_citation_figures,
    compute_point_figures,
    compute_quality_figures,
)
from tasks.warehouse.rows import Status, canonical_values

PAGE_NEVER_FETCHED = "a page that it cites has never been fetched"
COLUMNS = {
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
BOARD = Board(
    frozenset({"research_gym"}),
    COLUMNS,
    ("kpr", "citation_recall"),
    "citation_recall",
    "Percent, means over reports; for clarity and insight 100 is 10 of 10. KPR, KPC: key "
    "points supported, contradicted. Cit. prec.: 0 for claims whose pages nobody can read; "
    "Eval.: cited claims with a fetched page. –: not assessed, "
    f"or nothing to assess. {OPEN_NOTE}. Rank: by KPR.",
    "DeepResearchGym",
)


class ResearchGymParameters(ConfigModel):
    clarity: str
    """The criterion's description for the judge."""
    insight: str
    quality_calls: Literal["two", "one"] = "two"
    """A call each for clarity and insight, as published, or one for both."""


class ResearchGym(Protocol):
    """Checks a report against the key points of its query and the pages it cites."""

    name = "research_gym"
    prompts = "research_gym"
    inputs: tuple[str, ...] = ("query", "report", "key_points", "claims", "pairs", "claim_pages")
    kinds: tuple[str, ...] = ("write_article", "research")
    bounds = Bounds(
        {KEY_POINT: (CONTRADICTED, SUPPORTED), CITATION: (NONE, FULL)}, none={QUALITY: RATINGS}
    )
    boards = (BOARD,)
    marks_claims = "whole"
    partly_supported = ("citation_precision", "as half in DeepResearchGym")
    metrics_without: Mapping[str, tuple[str, ...]] = {"claims": ("kpr", "kpc", CLARITY, INSIGHT)}

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.parameters = parse_parameters(entry, ResearchGymParameters)
        self.version = build_version(entry, canonical_values(self.parameters))

    def supports(self, judge: Judge) -> bool:
        return bool({CheckPoints, VerifySupport, RateReport} & judge.decides)

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        steps = []
        if CheckPoints in judge.decides:
            steps.append(_check_points(case, judge))
        if VerifySupport in judge.decides:
            steps.append(_check_citations(case, judge))
        if RateReport in judge.decides:
            steps.append(self._rate_quality(case, judge))
        return [*_describe_inputs(case), *await gather_answers(steps)]

    async def _rate_quality(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        texts = {CLARITY: self.parameters.clarity, INSIGHT: self.parameters.insight}
        criteria = tuple(Criterion(id=name, text=text) for name, text in texts.items())

        async def rate(asked: tuple[Criterion, ...]) -> list[ItemAnswer]:
            answers = await judge.decide(
                RateReport(question=case.question, report=case.report.text, criteria=asked)
            )
            return name_answers(QUALITY, [criterion.id for criterion in asked], answers)

        if self.parameters.quality_calls == "one":
            return await rate(criteria)
        # One after the other: the second finds the report in the provider's cache.
        return [item for criterion in criteria for item in await rate((criterion,))]

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        return pl.concat(
            [
                *compute_point_figures(judged, judge),
                *compute_citation_figures(judged, judge),
                *compute_quality_figures(judged, judge),
            ]
        )

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        """The code's figures have a value for every report: 0 where there is nothing to measure."""
        once = dict.fromkeys(judged.missing, 1)
        counts = {"citation_recall_published": once}
        if CheckPoints in judge.decides:
            counts |= {"kpr": judged.count_asked("n_points"), "kpr_published": once}
        if VerifySupport in judge.decides:
            counts["citation_precision_published"] = once
        if RateReport in judge.decides:
            counts |= {CLARITY: once, INSIGHT: once}
        return counts


def _describe_inputs(case: Case) -> list[ItemAnswer]:
    """Record which inputs exist: the published rules depend on it, and it needs no judge."""
    if case.key_points:
        points = THERE
    elif case.point_set:
        points = NO_POINTS
    elif case.query is None:
        points = NOT_MADE if case.article and case.article.text else NO_TEXT
    else:
        points = CLICKED if case.clicked_documents else UNKNOWN
    urls = THERE if URL_PATTERN.search(case.report.text) else WITHOUT
    return [
        ItemAnswer(step=GIVEN, item=item, answer=JudgeAnswer(status=Status.OK, label=label))
        for item, label in ((POINTS, points), (URLS, urls))
    ]


async def _check_points(case: Case, judge: Judge) -> list[ItemAnswer]:
    if not case.key_points:
        return []
    points = sorted(case.key_points, key=lambda point: point.number)
    answers = await judge.decide(
        CheckPoints(
            question=case.question,
            report=case.report.text,
            points=tuple(point.text for point in points),
        )
    )
    return name_answers(KEY_POINT, (f"point:{point.number}" for point in points), answers)


async def _check_citations(case: Case, judge: Judge) -> list[ItemAnswer]:
    """Judge each cited claim by all its fetched pages, once all were tried; claims with the same
    pages are judged together."""
    cited: dict[int, list[str]] = {}
    for url, pairs in case.attributed_by_url.items():
        for pair in pairs:
            cited.setdefault(pair.number, []).append(url)
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, urls in sorted(cited.items()):
        groups.setdefault(tuple(urls), []).append(number)
    verified = (_verify_support(case, some, urls, judge) for urls, some in groups.items())
    decided = await gather_answers(verified)
    return sorted(decided, key=lambda one: int(one.item.removeprefix("claim:")))


async def _verify_support(
    case: Case, claims: Sequence[int], urls: Sequence[str], judge: Judge
) -> list[ItemAnswer]:
    """Judge the claims with these numbers, which cite the same pages."""
    items = [f"claim:{number}" for number in claims]
    pages = case.pages_by_url
    found = [pages[url] for url in urls if url in pages]
    if len(found) < len(urls):  # a missing page would change the question: do not pay for this one
        missing = JudgeAnswer(status=Status.SKIPPED, reason=PAGE_NEVER_FETCHED)
        return name_answers(CITATION, items, [missing] * len(items))
    # Addresses on the pages say nothing; the published code removes them too.
    texts_fetched = [page.text for page in found if page.status == "ok" and page.text]
    texts = [strip_urls(text) for text in texts_fetched if has_words(text)]
    if not texts:
        reason = "; ".join(f"{page.status}: {page.error or 'no text'}" for page in found)
        unfetchable = JudgeAnswer(status=Status.UNFETCHABLE, reason=reason[:500])
        return name_answers(CITATION, items, [unfetchable] * len(items))
    request = VerifySupport(
        claims=tuple(case.claim_texts[number] for number in claims),
        pages=tuple(dict.fromkeys(texts)),  # two addresses of one page are one page
    )
    return name_answers(CITATION, items, await judge.decide(request))

"""DeepResearchGym: does a report make its query's key points, cite its claims, and read well?

Source: DeepResearchGym (arXiv 2505.19253 and its published code). Each key point is checked
against the report, each cited claim against all its pages together, and clarity and insight are
rated from 0 to 10. One extraction of claims, the edition's own, feeds recall and precision of
citations. Where paper and code differ both figures are published: see `research_gym_figures`.
"""

import asyncio
from collections.abc import Sequence

import polars as pl

from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import Answer, Criterion, Judge
from tasks.judges.research import CheckPoints, RateReport, VerifySupport
from tasks.judges.text import ADDRESS, has_words, without_addresses
from tasks.protocols.case import Case, Decided, Judged
from tasks.protocols.research_gym_figures import (
    CITATION,
    CLARITY,
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
    citation_figures,
    point_figures,
    quality_figures,
)
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import Claim, Page, Status, canonical_values

UNTRIED = "a page that it cites has never been fetched"


class ResearchGymParameters(Configured):
    clarity: str
    """What the judge is told of it."""
    insight: str


class ResearchGym:
    """One report against the key points of its query and the pages it cites."""

    name = "research_gym"
    prompts = "research_gym"
    inputs: tuple[str, ...] = ("query", "report", "key_points", "claims", "claim_pages")
    kinds: tuple[str, ...] = ("write_article", "research")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, ResearchGymParameters)
        self.version = version_of(entry, canonical_values(self.parameters))

    def assesses(self, judge: Judge) -> bool:
        return bool({CheckPoints, VerifySupport, RateReport} & judge.decides)

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        steps = []
        if CheckPoints in judge.decides:
            steps.append(_points(case, judge))
        if VerifySupport in judge.decides:
            steps.append(_citations(case, judge))
        if RateReport in judge.decides:
            steps.append(self._quality(case, judge))
        decided = [item for items in await asyncio.gather(*steps) for item in items]
        return [*_given(case), *decided]

    async def _quality(self, case: Case, judge: Judge) -> list[Decided]:
        texts = {CLARITY: self.parameters.clarity, INSIGHT: self.parameters.insight}
        answers = await judge.decide(
            RateReport(
                question=case.question,
                report=case.report.text,
                criteria=tuple(Criterion(id=name, text=text) for name, text in texts.items()),
            )
        )
        return [
            Decided(step=QUALITY, item=name, answer=answer)
            for name, answer in zip(texts, answers, strict=True)
        ]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        return pl.concat(
            [
                *point_figures(judged, judge),
                *citation_figures(judged, judge),
                *quality_figures(judged, judge),
            ]
        )


def _given(case: Case) -> list[Decided]:
    """What there is to measure: facts that no judge decides, on which the published rules rest."""
    if case.key_points:
        points = THERE
    elif case.point_set:
        points = NO_POINTS
    elif case.query is None:
        points = NOT_MADE if case.article and case.article.text else NO_TEXT
    else:
        points = UNKNOWN
    urls = THERE if ADDRESS.search(case.report.text) else WITHOUT
    return [
        Decided(step=GIVEN, item=item, answer=Answer(status=Status.OK, label=label))
        for item, label in ((POINTS, points), (URLS, urls))
    ]


async def _points(case: Case, judge: Judge) -> list[Decided]:
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
    return [
        Decided(step=KEY_POINT, item=f"point:{point.number}", answer=answer)
        for point, answer in zip(points, answers, strict=True)
    ]


async def _citations(case: Case, judge: Judge) -> list[Decided]:
    """One decision per cited claim, over all its pages that came, once all have been tried; claims
    that cite the same ones are put to the judge together."""
    if case.extraction is None or not case.extraction.pairs_reliable:
        return []
    cited: dict[int, list[str]] = {}
    for pair in sorted(case.citations, key=lambda pair: (pair.number, pair.url)):
        cited.setdefault(pair.number, []).append(pair.url)
    texts = {claim.number: claim for claim in case.claims}
    pages = {page.url: page for page in case.pages}
    groups: dict[tuple[str, ...], list[Claim]] = {}
    for number, urls in cited.items():
        groups.setdefault(tuple(urls), []).append(texts[number])
    answered = await asyncio.gather(
        *(_supported(claims, urls, pages, judge) for urls, claims in groups.items())
    )
    decided = [
        Decided(step=CITATION, item=f"claim:{claim.number}", answer=answer)
        for claims, answers in zip(groups.values(), answered, strict=True)
        for claim, answer in zip(claims, answers, strict=True)
    ]
    return sorted(decided, key=lambda one: int(one.item.removeprefix("claim:")))


async def _supported(
    claims: Sequence[Claim], urls: Sequence[str], pages: dict[str, Page], judge: Judge
) -> Sequence[Answer]:
    found = [pages[url] for url in urls if url in pages]
    if len(found) < len(urls):  # another page makes it another question: nothing is paid for this
        return [Answer(status=Status.SKIPPED, reason=UNTRIED)] * len(claims)
    # Addresses on the pages themselves say nothing; the published code leaves them out as well.
    came = [page.text for page in found if page.status == "ok" and page.text]
    texts = [without_addresses(text) for text in came if has_words(text)]
    if not texts:
        said = "; ".join(f"{page.status}: {page.error or 'no text'}" for page in found)
        return [Answer(status=Status.UNFETCHABLE, reason=said[:500])] * len(claims)
    return await judge.decide(
        VerifySupport(
            claims=tuple(claim.text for claim in claims),
            pages=tuple(dict.fromkeys(texts)),  # two addresses of one page are one page
        )
    )

"""FACT: how many of a report's citations hold, and how many does it have that do?

Source: DeepResearch Bench (arXiv 2506.11763 and its published code). A citation is a claim with
one address; it is supported where the page holds a part of what the claim says, so it is more
lenient than Wiki Fact and DeepResearchGym, and not to be compared with them. Statements that are
the same but for case, spacing and how they end are one citation of a page; the published code asks
a model which are.
"""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from unicodedata import normalize

import polars as pl

from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import Answer, Judge
from tasks.judges.research import SUPPORTED, UNSUPPORTED, CheckCitations
from tasks.judges.text import has_words, one_line
from tasks.metrics.shares import SHARES, shares
from tasks.protocols.case import Case, Decided, Judged, figures_of
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import OPEN_STATUSES, Citation, Page, Status

CITATION, DOUBLE = "citation", "double"
UNTRIED = "the page has never been fetched"
NO_CITATIONS = "the report cites nothing"
NOT_DECIDED = "no citation of this report was decided"
STILL_OPEN = "citations of this report are still to be decided"
_FINAL = " .,;:!?…。！？"


class FactParameters(Configured):
    """It has none."""


class Fact:
    """One report against the pages that it cites."""

    name = "fact"
    prompts = "fact"
    inputs: tuple[str, ...] = ("claims", "pages")
    kinds: tuple[str, ...] = ("write_article", "research")

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, FactParameters)
        self.version = version_of(entry)

    def assesses(self, judge: Judge) -> bool:
        return CheckCitations in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        """A page is put to the judge with all the different statements that cite it."""
        if case.extraction is None or not case.extraction.pairs_reliable:
            return []
        pages = {page.url: page for page in case.pages}
        texts = {claim.number: claim.text for claim in case.claims}
        pairs = sorted(case.citations, key=lambda pair: (pair.url, pair.number))
        by_url = {url: list(group) for url, group in groupby(pairs, key=lambda pair: pair.url)}
        found = await asyncio.gather(
            *(_of_page(each, texts, pages.get(url), judge) for url, each in by_url.items())
        )
        return [decided for of_page in found for decided in of_page]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        citations = _citations(judged.verdicts.filter(pl.col("step") == CITATION))
        decided = pl.col("label").is_in([SUPPORTED, UNSUPPORTED])
        supported = pl.col("label") == SUPPORTED
        valid = shares(citations.filter(decided | pl.col("open")), supported)
        figures = {
            "valid_rate": (valid, NOT_DECIDED),
            "effective_citations": (_counts(citations, supported), NO_CITATIONS),
            "decided_citations": (_counts(citations, decided), NO_CITATIONS),
            "citation_evaluated_share": (shares(citations, decided), NO_CITATIONS),
        }
        rows = [figures_of(m, table, judged, empty) for m, (table, empty) in figures.items()]
        return pl.concat([_explained(frame, judged) for frame in rows])


async def _of_page(
    pairs: Sequence[Citation], texts: dict[int, str], page: Page | None, judge: Judge
) -> list[Decided]:
    """The citations of one page; doubles are kept apart, and count nowhere."""
    first: dict[str, Citation] = {}
    doubles = []
    for pair in pairs:
        same = first.setdefault(_said(texts[pair.number]), pair)
        if same is not pair:
            answer = Answer(status=Status.SKIPPED, reason=f"says the same as claim {same.number}")
            doubles.append(Decided(step=DOUBLE, item=_item(pair), answer=answer))
    kept = list(first.values())
    answers = await _answers([texts[pair.number] for pair in kept], kept[0].url, page, judge)
    decided = [
        Decided(step=CITATION, item=_item(pair), answer=answer)
        for pair, answer in zip(kept, answers, strict=True)
    ]
    return decided + doubles


async def _answers(
    claims: Sequence[str], url: str, page: Page | None, judge: Judge
) -> Sequence[Answer]:
    if page is None:
        return [Answer(status=Status.SKIPPED, reason=UNTRIED)] * len(claims)
    if page.status != "ok" or not page.text or not has_words(page.text):
        reason = f"{page.status}: {page.error or 'its text is missing'}"
        return [Answer(status=Status.UNFETCHABLE, reason=reason)] * len(claims)
    return await judge.decide(CheckCitations(claims=tuple(claims), url=url, page=page.text))


def _item(pair: Citation) -> str:
    return f"claim:{pair.number} {pair.url}"


def _said(text: str) -> str:
    """What makes two statements the same: all they say, in any case and spacing, but for the
    punctuation at their ends. Signs within them count: `-5.3` is not `5.3`, nor `C++` `C`."""
    said = one_line(normalize("NFC", text).casefold())
    return said.rstrip(_FINAL) or said


def _citations(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Citations with their label (null unless decided), and whether they may still be: answers
    that failed, and pages that nobody has tried. The others have the status `ok`: they are final,
    as decided or as what cannot be."""
    still_open = pl.col("status").is_in([*OPEN_STATUSES, Status.SKIPPED])
    return verdicts.with_columns(
        label=pl.when(pl.col("status") == "ok").then(pl.col("label")),
        open=still_open,
        status=pl.when(still_open)
        .then(pl.lit(str(Status.JUDGE_ERROR)))
        .otherwise(pl.lit(str(Status.OK))),
    )


def _counts(citations: pl.DataFrame, hit: pl.Expr) -> pl.DataFrame:
    """Per report that cites anything, how many of its citations are such; of a report with open
    ones nothing: a part of its citations would count fewer than it has."""
    return (
        citations.group_by("assignment")
        .agg(
            numerator=hit.fill_null(False).sum().cast(pl.Float64),
            n_items=(~pl.col("open").any()).cast(pl.Int64),
            n_open=pl.col("open").sum().cast(pl.Int64),
        )
        .select(list(SHARES))
        .sort("assignment")
    )


def _explained(figures: pl.DataFrame, judged: Judged) -> pl.DataFrame:
    """Say why there is nothing, where the report's citations cannot be told or are open."""
    told = judged.reports.select("assignment", "pairs_reliable", "pairs_reason")
    nothing = pl.col("n_items") == 0
    return (
        figures.join(told, on="assignment", how="left")
        .with_columns(
            reason=pl.when(nothing & ~pl.col("pairs_reliable").fill_null(False))
            .then("pairs_reason")
            .when(nothing & (pl.col("n_open") > 0))
            .then(pl.lit(STILL_OPEN))
            .otherwise("reason")
        )
        .select(figures.columns)
    )

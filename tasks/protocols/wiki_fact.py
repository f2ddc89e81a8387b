"""Wiki Fact: does the report cover the reference, contradict it, and do its citations hold?

Source: Wiki Live Challenge (paper and published code). Coverage asks for each reference fact
whether the report's claims support it; conflict asks the opposite direction; reference
accuracy asks each cited page. Where paper and code differ both figures are published.
"""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import polars as pl
from pydantic import PositiveInt

from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.urls import same_page
from tasks.judges.decisions import (
    CONSISTENT,
    INCONSISTENT,
    SUPPORT,
    Answer,
    Judge,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.offline.fused import Fused
from tasks.judges.offline.retrieval import Bm25
from tasks.metrics.shares import resolve_citations, shares
from tasks.protocols.case import Case, Decided, Judged, figures_of, not_assessed
from tasks.protocols.redirects import Redirects, addresses, redirects_of
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import Citation, Page, Status, canonical_values

COVERAGE, CONFLICT, CITATION = "coverage", "conflict", "citation"
REFERENCE_METRICS = ("ref_acc", "ref_acc_strict", "ref_acc_pairs", "evaluated_share")
NO_PAGES = "no cited page of this report has been fetched"


class WikiFactParameters(Configured):
    top_k: PositiveInt = 10
    """Sentences retrieved as evidence for one item."""
    retriever: Literal["bm25", "fused"] = "bm25"
    """How they are found: by words, or by words and meaning (the optional extra `fused`)."""


class WikiFact:
    """One report against its reference article and the pages it cites."""

    name = "wiki_fact"
    prompts = "wiki_fact"
    inputs: tuple[str, ...] = ("facts", "claims", "pages")
    kinds: tuple[str, ...] = ("write_article",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, WikiFactParameters)
        self.version = version_of(entry, canonical_values(self.parameters, exclude_defaults=True))

    def assesses(self, judge: Judge) -> bool:
        return VerifyClaims in judge.decides or VerifyAgainstPage in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        steps = []
        if VerifyClaims in judge.decides:
            steps.append(self._coverage(case, judge))
        if VerifyClaims in judge.decides and judge.sees_conflict:
            steps.append(self._conflict(case, judge))
        if VerifyAgainstPage in judge.decides:
            steps.append(_citations(case, judge))
        return [item for items in await asyncio.gather(*steps) for item in items]

    async def _coverage(self, case: Case, judge: Judge) -> list[Decided]:
        leaked = leaked_claims(case.reference.url, case.citations, redirects_of(case.pages))
        pool = [claim.text for claim in case.claims if claim.number not in leaked]
        answers = await self._verified([fact.text for fact in case.facts], pool, judge)
        return [
            Decided(step=COVERAGE, item=f"fact:{fact.number}", answer=answer)
            for fact, answer in zip(case.facts, answers, strict=True)
        ]

    async def _conflict(self, case: Case, judge: Judge) -> list[Decided]:
        pool = [fact.text for fact in case.facts]
        answers = await self._verified([claim.text for claim in case.claims], pool, judge)
        return [
            Decided(step=CONFLICT, item=f"claim:{claim.number}", answer=answer)
            for claim, answer in zip(case.claims, answers, strict=True)
        ]

    async def _verified(
        self, statements: Sequence[str], pool: Sequence[str], judge: Judge
    ) -> Sequence[Answer]:
        if not statements:
            return []
        if self.parameters.retriever == "fused":
            retrieved = await asyncio.to_thread(self._by_meaning, statements, pool)
        else:
            retrieved = Bm25(pool).top_many(statements, self.parameters.top_k)
        return await judge.decide(
            VerifyClaims(claims=tuple(statements), pool=tuple(pool), retrieved=tuple(retrieved))
        )

    def _by_meaning(
        self, statements: Sequence[str], pool: Sequence[str]
    ) -> tuple[tuple[int, ...], ...]:
        return Fused(pool).top_many(statements, self.parameters.top_k)

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        return pl.concat(
            [
                *_coverage_figures(judged),
                _conflict_figures(judged, judge),
                *_reference_figures(judged, judge),
                *_leakage_figures(judged),
            ]
        )


def leaked_claims(
    article_url: str, citations: Sequence[Citation], redirects: Redirects
) -> frozenset[int]:
    """Numbers of the claims that cite the target article itself (any-URL rule), be it by an
    address that redirects to it."""
    return frozenset(
        citation.number
        for citation in citations
        if any(same_page(each, article_url) for each in addresses(citation.url, redirects))
    )


async def _citations(case: Case, judge: Judge) -> list[Decided]:
    """One decision per (claim, URL) pair; a page is put to the judge with all claims that cite it.
    Two URLs that led to the same page are two pairs, as in the published code."""
    if case.extraction is None or not case.extraction.pairs_reliable:
        return []
    pages = {page.url: page for page in case.pages}
    texts = {claim.number: claim.text for claim in case.claims}
    by_url = sorted(case.citations, key=lambda pair: (pair.url, pair.number))
    cited = {url: list(group) for url, group in groupby(by_url, key=lambda pair: pair.url)}
    answered = await asyncio.gather(
        *(
            _against_page(url, pages.get(url), tuple(texts[p.number] for p in pairs), judge)
            for url, pairs in cited.items()
        )
    )
    return [
        Decided(step=CITATION, item=f"claim:{pair.number} {url}", answer=answer)
        for (url, pairs), answers in zip(cited.items(), answered, strict=True)
        for pair, answer in zip(pairs, answers, strict=True)
    ]


async def _against_page(
    url: str, page: Page | None, claims: tuple[str, ...], judge: Judge
) -> Sequence[Answer]:
    if page is None:
        reason = "the page has never been fetched"
        return [Answer(status=Status.SKIPPED, reason=reason)] * len(claims)
    if page.status != "ok" or page.text is None:
        return [Answer(status=Status.UNFETCHABLE, reason=_why_not(page))] * len(claims)
    return await judge.decide(VerifyAgainstPage(claims=claims, url=url, page=page.text))


def _why_not(page: Page) -> str:
    """Why a page is not judged: `bot_wall: …`."""
    missing = "its text is missing" if page.status == "ok" else "nothing more is known of it"
    return f"{page.status}: {page.error or missing}"


def _step(judged: Judged, step: str) -> pl.DataFrame:
    return judged.verdicts.filter(pl.col("step") == step)


def _coverage_figures(judged: Judged) -> list[pl.DataFrame]:
    verdicts = _step(judged, COVERAGE)
    empty = "no reference fact was decided"
    hard = shares(verdicts, pl.col("label") == CONSISTENT)
    soft = shares(verdicts.filter(pl.col("score").is_not_null()), pl.col("score"))
    return [
        figures_of("coverage_wiki", hard, judged, empty),
        figures_of("coverage_wiki_soft", soft, judged, "the judge gives no probabilities"),
    ]


def _conflict_figures(judged: Judged, judge: Judge) -> pl.DataFrame:
    if not judge.sees_conflict:
        return not_assessed("wiki_conflict", judged, _blind(judge))
    conflict = shares(_step(judged, CONFLICT), pl.col("label") == INCONSISTENT)
    return figures_of("wiki_conflict", conflict, judged, "no claim was decided")


def _blind(judge: Judge) -> str:
    return f"not_assessed: the judge {judge.name} cannot see contradiction"


def _reference_figures(judged: Judged, judge: Judge) -> list[pl.DataFrame]:
    pairs = _step(judged, CITATION)
    claims = _cited_claims(pairs)
    evaluated = claims.filter(pl.col("label").is_not_null())
    # Strict: a claim whose pages were all tried in vain counts as not supported. One with a
    # page that was never tried, or an answer that is still missing, is not decided yet; one
    # that the judge could not answer for a page that came is no fault of the report's.
    strict = claims.with_columns(
        status=pl.when(pl.col("label").is_not_null())
        .then(pl.lit(Status.OK))
        .when(pl.col("undecided"))
        .then(pl.lit(Status.JUDGE_ERROR))
        .when(pl.col("unanswered"))
        .then(pl.lit(Status.NOT_ASSESSED))
        .otherwise(pl.lit(Status.OK))
    )
    figures = {
        "ref_acc": shares(evaluated, pl.col("label") == SUPPORT),
        "ref_acc_strict": shares(strict, pl.col("label").fill_null("") == SUPPORT),
        "ref_acc_pairs": shares(pairs, pl.col("label") == SUPPORT),
        "evaluated_share": shares(
            claims.with_columns(status=pl.lit("ok")), pl.col("label").is_not_null()
        ),
    }
    open_claims = claims.group_by("assignment").agg(open_claims=pl.col("undecided").sum())
    rows = [
        _explained(figures_of(metric, table, judged, NO_PAGES), judged, open_claims)
        for metric, table in figures.items()
    ]
    if not judge.sees_conflict:
        return [*rows, not_assessed("ref_conflict", judged, _blind(judge))]
    conflict = shares(evaluated, pl.col("label") == "conflict")
    return [*rows, _explained(figures_of("ref_conflict", conflict, judged, NO_PAGES), judged,
                              open_claims)]  # fmt: skip


def _cited_claims(pairs: pl.DataFrame) -> pl.DataFrame:
    """Per cited claim its label (null if no page of it was decided), whether one may be, and
    whether one cannot be though its page came."""
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
                lambda labels: resolve_citations(labels.to_list()), return_dtype=pl.String
            ),
            status=pl.lit("ok"),
        )
        .with_columns(undecided=pl.col("undecided") & pl.col("label").is_null())
    )


def _explained(figures: pl.DataFrame, judged: Judged, open_claims: pl.DataFrame) -> pl.DataFrame:
    """Say why a reference figure is null, and count the claims that pages may still decide."""
    reliable = judged.reports.select("assignment", "pairs_reliable", "pairs_reason")
    return (
        figures.join(reliable, on="assignment", how="left")
        .join(open_claims, on="assignment", how="left")
        .with_columns(
            n_open=pl.col("open_claims").fill_null(0).cast(pl.Int64),
            reason=pl.when((pl.col("n_items") == 0) & ~pl.col("pairs_reliable").fill_null(False))
            .then(pl.col("pairs_reason"))
            .otherwise(pl.col("reason")),
        )
        .select(figures.columns)
    )


def _leakage_figures(judged: Judged) -> list[pl.DataFrame]:
    """Over all claims of reports whose claim-URL pairs can be trusted."""
    trusted = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    claims = judged.claims.join(trusted, on="assignment", how="semi")
    leaked = shares(claims.with_columns(status=pl.lit("ok")), pl.col("leaked"))
    none = pl.lit(None, pl.DataFrame({"open_claims": [0]}).schema["open_claims"])
    no_open = leaked.select("assignment", open_claims=none)
    empty = "the report has no claims"
    return [
        _explained(figures_of(metric, leaked, judged, empty), judged, no_open)
        for metric in ("leakage_rate", "leakage_rate_by_article")
    ]

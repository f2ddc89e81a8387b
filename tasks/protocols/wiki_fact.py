"""Wiki Fact: does the report cover the reference, contradict it, and do its citations hold?

Source: Wiki Live Challenge (paper and published code). Coverage checks each reference fact against
the report's claims, conflict each claim against the reference facts, and reference accuracy each
claim against its cited pages. Where paper and code differ, both figures are computed.
"""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import polars as pl
from pydantic import PositiveInt

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.extraction.urls import is_same_page
from tasks.judges.decisions import (
    CONSISTENT,
    INCONSISTENT,
    SUPPORT,
    Judge,
    JudgeAnswer,
    VerifyAgainstPage,
    VerifyClaims,
)
from tasks.judges.offline.fusion import FusedIndex
from tasks.judges.offline.retrieval import Bm25
from tasks.metrics.ratios import combine_citation_labels, compute_shares
from tasks.protocols.case import Case, ItemAnswer, JudgedReports, build_figures, build_not_assessed
from tasks.protocols.redirects import Redirects, collect_redirects, redirect_chain
from tasks.protocols.versions import build_version, parse_parameters
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Citation, Status, canonical_values

COVERAGE, CONFLICT, CITATION = "coverage", "conflict", "citation"
REFERENCE_METRICS = ("ref_acc", "ref_acc_strict", "ref_acc_pairs", "evaluated_share")
NO_PAGES = "no cited page of this report has been fetched"


class WikiFactParameters(ConfigModel):
    top_k: PositiveInt = 10
    """Sentences retrieved as evidence for one item."""
    retriever: Literal["bm25", "fused"] = "bm25"
    """How to retrieve them: by words, or by words and meaning (the optional extra `fused`)."""


class WikiFact:
    """Checks a report against its reference article and the pages it cites."""

    name = "wiki_fact"
    prompts = "wiki_fact"
    inputs: tuple[str, ...] = ("facts", "claims", "pages")
    kinds: tuple[str, ...] = ("write_article",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = parse_parameters(entry, WikiFactParameters)
        self.version = build_version(
            entry, canonical_values(self.parameters, exclude_defaults=True)
        )

    def supports(self, judge: Judge) -> bool:
        return VerifyClaims in judge.decides or VerifyAgainstPage in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        steps = []
        if VerifyClaims in judge.decides:
            steps.append(self._check_coverage(case, judge))
        if VerifyClaims in judge.decides and judge.sees_conflict:
            steps.append(self._check_conflict(case, judge))
        if VerifyAgainstPage in judge.decides:
            steps.append(_check_citations(case, judge))
        return [item for items in await asyncio.gather(*steps) for item in items]

    async def _check_coverage(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        leaked = find_leaked_claims(
            case.reference.url, case.citations, collect_redirects(case.pages)
        )
        pool = [claim.text for claim in case.claims if claim.number not in leaked]
        answers = await self._verify([fact.text for fact in case.facts], pool, judge)
        return [
            ItemAnswer(step=COVERAGE, item=f"fact:{fact.number}", answer=answer)
            for fact, answer in zip(case.facts, answers, strict=True)
        ]

    async def _check_conflict(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        pool = [fact.text for fact in case.facts]
        answers = await self._verify([claim.text for claim in case.claims], pool, judge)
        return [
            ItemAnswer(step=CONFLICT, item=f"claim:{claim.number}", answer=answer)
            for claim, answer in zip(case.claims, answers, strict=True)
        ]

    async def _verify(
        self, statements: Sequence[str], pool: Sequence[str], judge: Judge
    ) -> Sequence[JudgeAnswer]:
        if not statements:
            return []
        if self.parameters.retriever == "fused":
            retrieved = await asyncio.to_thread(self._retrieve_fused, statements, pool)
        else:
            retrieved = Bm25(pool).top_many(statements, self.parameters.top_k)
        return await judge.decide(
            VerifyClaims(claims=tuple(statements), pool=tuple(pool), retrieved=tuple(retrieved))
        )

    def _retrieve_fused(
        self, statements: Sequence[str], pool: Sequence[str]
    ) -> tuple[tuple[int, ...], ...]:
        return FusedIndex(pool).top_many(statements, self.parameters.top_k)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        return pl.concat(
            [
                *_compute_coverage(judged),
                _compute_conflict(judged, judge),
                *_compute_references(judged, judge),
                *_compute_leakage(judged),
            ]
        )


def find_leaked_claims(
    article_url: str, citations: Sequence[Citation], redirects: Redirects
) -> frozenset[int]:
    """Return the numbers of the claims that cite the target article (any-URL rule), also by a
    redirect to it."""
    return frozenset(
        citation.number
        for citation in citations
        if any(is_same_page(each, article_url) for each in redirect_chain(citation.url, redirects))
    )


async def _check_citations(case: Case, judge: Judge) -> list[ItemAnswer]:
    """Judge every (claim, URL) pair, a page together with all claims that cite it. As in the
    published code, two URLs of the same page are two pairs."""
    if case.extraction is None or not case.extraction.pairs_reliable:
        return []
    pages = {page.url: page for page in case.pages}
    texts = {claim.number: claim.text for claim in case.claims}
    by_url = sorted(case.citations, key=lambda pair: (pair.url, pair.number))
    cited = {url: list(group) for url, group in groupby(by_url, key=lambda pair: pair.url)}
    answered = await asyncio.gather(
        *(
            _check_page(url, pages.get(url), tuple(texts[p.number] for p in pairs), judge)
            for url, pairs in cited.items()
        )
    )
    return [
        ItemAnswer(step=CITATION, item=f"claim:{pair.number} {url}", answer=answer)
        for (url, pairs), answers in zip(cited.items(), answered, strict=True)
        for pair, answer in zip(pairs, answers, strict=True)
    ]


async def _check_page(
    url: str, page: Page | None, claims: tuple[str, ...], judge: Judge
) -> Sequence[JudgeAnswer]:
    if page is None:
        reason = "the page has never been fetched"
        return [JudgeAnswer(status=Status.SKIPPED, reason=reason)] * len(claims)
    if page.status != "ok" or page.text is None:
        return [JudgeAnswer(status=Status.UNFETCHABLE, reason=_explain_unfetchable(page))] * len(
            claims
        )
    return await judge.decide(VerifyAgainstPage(claims=claims, url=url, page=page.text))


def _explain_unfetchable(page: Page) -> str:
    """Return why a page is not judged: `bot_wall: …`."""
    missing = "its text is missing" if page.status == "ok" else "nothing more is known of it"
    return f"{page.status}: {page.error or missing}"


def _select_step(judged: JudgedReports, step: str) -> pl.DataFrame:
    return judged.verdicts.filter(pl.col("step") == step)


def _compute_coverage(judged: JudgedReports) -> list[pl.DataFrame]:
    verdicts = _select_step(judged, COVERAGE)
    empty = "no reference fact was decided"
    hard = compute_shares(verdicts, pl.col("label") == CONSISTENT)
    soft = compute_shares(verdicts.filter(pl.col("score").is_not_null()), pl.col("score"))
    return [
        build_figures("coverage_wiki", hard, judged, empty),
        build_figures("coverage_wiki_soft", soft, judged, "the judge gives no probabilities"),
    ]


def _compute_conflict(judged: JudgedReports, judge: Judge) -> pl.DataFrame:
    if not judge.sees_conflict:
        return build_not_assessed("wiki_conflict", judged, _explain_blind(judge))
    conflict = compute_shares(_select_step(judged, CONFLICT), pl.col("label") == INCONSISTENT)
    return build_figures("wiki_conflict", conflict, judged, "no claim was decided")


def _explain_blind(judge: Judge) -> str:
    return f"not_assessed: the judge {judge.name} cannot see contradiction"


def _compute_references(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    pairs = _select_step(judged, CITATION)
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
    figures = {
        "ref_acc": compute_shares(evaluated, pl.col("label") == SUPPORT),
        "ref_acc_strict": compute_shares(strict, pl.col("label").fill_null("") == SUPPORT),
        "ref_acc_pairs": compute_shares(pairs, pl.col("label") == SUPPORT),
        "evaluated_share": compute_shares(
            claims.with_columns(status=pl.lit("ok")), pl.col("label").is_not_null()
        ),
    }
    open_claims = claims.group_by("assignment").agg(open_claims=pl.col("undecided").sum())
    rows = [
        _add_reasons(build_figures(metric, table, judged, NO_PAGES), judged, open_claims)
        for metric, table in figures.items()
    ]
    if not judge.sees_conflict:
        return [*rows, build_not_assessed("ref_conflict", judged, _explain_blind(judge))]
    conflict = compute_shares(evaluated, pl.col("label") == "conflict")
    return [*rows, _add_reasons(build_figures("ref_conflict", conflict, judged, NO_PAGES), judged,
                              open_claims)]  # fmt: skip


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


def _add_reasons(
    figures: pl.DataFrame, judged: JudgedReports, open_claims: pl.DataFrame
) -> pl.DataFrame:
    """Add why a reference figure is null, and the number of open claims."""
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


def _compute_leakage(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute leakage over all claims of reports with reliable claim-URL pairs."""
    trusted = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    claims = judged.claims.join(trusted, on="assignment", how="semi")
    leaked = compute_shares(claims.with_columns(status=pl.lit("ok")), pl.col("leaked"))
    none = pl.lit(None, pl.DataFrame({"open_claims": [0]}).schema["open_claims"])
    no_open = leaked.select("assignment", open_claims=none)
    empty = "the report has no claims"
    return [
        _add_reasons(build_figures(metric, leaked, judged, empty), judged, no_open)
        for metric in ("leakage_rate", "leakage_rate_by_article")
    ]

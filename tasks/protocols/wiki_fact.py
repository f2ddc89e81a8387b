"""Wiki Fact: does the report cover the reference, contradict it, and do its citations hold?

Source: Wiki Live Challenge (paper and published code). Coverage checks each reference fact against
the report's claims, conflict each claim against the reference facts, and reference accuracy each
claim against its cited pages. Where paper and code differ, both figures are computed.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal

import polars as pl
from pydantic import PositiveInt

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import (
    CONSISTENT,
    INCONSISTENT,
    SUPPORT,
    Judge,
    JudgeAnswer,
    VerifyAgainstPage,
    VerifyClaims,
    explain_cannot,
)
from tasks.judges.offline.fusion import FusedIndex
from tasks.judges.offline.retrieval import Bm25
from tasks.metrics.ratios import combine_citation_labels
from tasks.protocols.case import Case, ItemAnswer, JudgedReports, gather_answers, name_answers
from tasks.protocols.figures import (
    FIGURE_SCHEMA,
    add_reasons,
    build_not_assessed,
    build_share,
    find_unreliable,
)
from tasks.protocols.redirects import Redirects, cites_page, collect_redirects
from tasks.protocols.versions import build_version, parse_parameters
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Citation, Status, canonical_values

COVERAGE, CONFLICT, CITATION = "coverage", "conflict", "citation"
"""Steps."""
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
        self.metrics, self.missing = entry.metrics, entry.missing
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
        return await gather_answers(steps)

    async def _check_coverage(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        leaked = find_leaked_claims(
            case.reference.url, case.citations, collect_redirects(case.pages)
        )
        pool = [claim.text for claim in case.claims if claim.number not in leaked]
        answers = await self._verify([fact.text for fact in case.facts], pool, judge)
        return name_answers(COVERAGE, (f"fact:{fact.number}" for fact in case.facts), answers)

    async def _check_conflict(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        pool = [fact.text for fact in case.facts]
        answers = await self._verify([claim.text for claim in case.claims], pool, judge)
        return name_answers(CONFLICT, (f"claim:{claim.number}" for claim in case.claims), answers)

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
                *_compute_conflict(judged, judge),
                *_compute_references(judged, judge),
                *_compute_leakage(judged),
            ]
        )

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        if VerifyClaims not in judge.decides:
            return {}
        facts, scored = judged.count_asked("n_facts"), judged.select_step(COVERAGE)["score"]
        return {
            metric.name: facts
            for metric in self.metrics
            if metric.zero_if_missing
            and (not metric.name.endswith("_soft") or scored.is_not_null().any())
        }


def find_leaked_claims(
    article_url: str, citations: Sequence[Citation], redirects: Redirects
) -> frozenset[int]:
    """Return the numbers of the claims that cite the target article (any-URL rule), also by a
    redirect to it."""
    return frozenset(
        citation.number
        for citation in citations
        if cites_page([citation.url], article_url, redirects)
    )


async def _check_citations(case: Case, judge: Judge) -> list[ItemAnswer]:
    """Judge every (claim, URL) pair, a page together with all claims that cite it. As in the
    published code, two URLs of the same page are two pairs."""
    texts, pages = case.claim_texts, case.pages_by_url
    return await gather_answers(
        _check_page(pairs, texts, pages.get(url), judge)
        for url, pairs in case.citations_by_url.items()
    )


async def _check_page(
    pairs: Sequence[Citation], texts: dict[int, str], page: Page | None, judge: Judge
) -> list[ItemAnswer]:
    items = [f"claim:{pair.number} {pair.url}" for pair in pairs]
    claims = tuple(texts[pair.number] for pair in pairs)
    return name_answers(CITATION, items, await _ask_judge(claims, pairs[0].url, page, judge))


async def _ask_judge(
    claims: tuple[str, ...], url: str, page: Page | None, judge: Judge
) -> Sequence[JudgeAnswer]:
    if page is None:
        reason = "the page has never been fetched"
        return [JudgeAnswer(status=Status.SKIPPED, reason=reason)] * len(claims)
    if page.status != "ok" or page.text is None:
        reason = _explain_unfetchable(page)
        return [JudgeAnswer(status=Status.UNFETCHABLE, reason=reason)] * len(claims)
    return await judge.decide(VerifyAgainstPage(claims=claims, url=url, page=page.text))


def _explain_unfetchable(page: Page) -> str:
    """Return why a page is not judged: `bot_wall: …`."""
    missing = "its text is missing" if page.status == "ok" else "nothing more is known of it"
    return f"{page.status}: {page.error or missing}"


def _compute_coverage(judged: JudgedReports) -> list[pl.DataFrame]:
    verdicts, hit = judged.select_step(COVERAGE), pl.col("label") == CONSISTENT
    scored, no_scores = verdicts.drop_nulls("score"), "the judge gives no probabilities"
    return [
        build_share("coverage_wiki", verdicts, hit, judged, "no reference fact was decided"),
        build_share("coverage_wiki_soft", scored, pl.col("score"), judged, no_scores),
    ]


def _compute_conflict(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
    if not judge.sees_conflict:
        blind = explain_cannot(judge, "see contradiction")
        return build_not_assessed(judged, blind, "wiki_conflict")
    verdicts, hit = judged.select_step(CONFLICT), pl.col("label") == INCONSISTENT
    return [build_share("wiki_conflict", verdicts, hit, judged, "no claim was decided")]


def _compute_references(judged: JudgedReports, judge: Judge) -> list[pl.DataFrame]:
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


def _compute_leakage(judged: JudgedReports) -> list[pl.DataFrame]:
    """Compute leakage over all claims of reports with reliable claim-URL pairs."""
    trusted = judged.reports.filter(pl.col("pairs_reliable")).select("assignment")
    claims = judged.claims.join(trusted, on="assignment", how="semi")
    claims = claims.with_columns(status=pl.lit("ok"))
    rows = [
        build_share(metric, claims, pl.col("leaked"), judged, "the report has no claims")
        for metric in ("leakage_rate", "leakage_rate_by_article")
    ]
    return [add_reasons(pl.concat(rows), find_unreliable(judged))]

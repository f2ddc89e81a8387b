"""Wiki Fact: does the report cover the reference, contradict it, and do its citations hold?

Source: Wiki Live Challenge (paper and published code). Coverage checks each reference fact against
the report's claims, conflict each claim against the reference facts, and reference accuracy each
claim against its cited pages. Where paper and code differ, both figures are computed. Coverage is
asked twice of reports with claims that cite the article itself: without these, as in the paper's
text, and with all claims, as the published figures evidently were.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl
from pydantic import NonNegativeInt, PositiveInt

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import CONFLICT as CONTRADICTED
from tasks.judges.decisions import (
    CONSISTENT,
    INCONSISTENT,
    NOT_SUPPORT,
    SUPPORT,
    Judge,
    JudgeAnswer,
)
from tasks.judges.offline.retrieval import EvidenceRetriever, FusedIndex
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.text import identify_language
from tasks.protocols.case import (
    Case,
    ItemAnswer,
    JudgedReports,
    Protocol,
    gather_answers,
    name_answers,
)
from tasks.protocols.declarations import Bounds, build_version, parse_parameters
from tasks.protocols.redirects import Redirects, cites_page, collect_redirects
from tasks.protocols.wiki_fact.figures import (
    BOARD,
    CITATION,
    CONFLICT,
    COVERAGE,
    COVERAGE_ALL,
    OTHER_LANGUAGE,
    compute_conflict,
    compute_coverage,
    compute_leakage,
    compute_never_existed,
    compute_references,
    compute_uncited,
)
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Citation, Status, canonical_values


class WikiFactParameters(ConfigModel):
    top_k: PositiveInt = 10
    """Sentences retrieved as evidence for one item; all, if there are fewer."""
    retriever: Literal["bm25", "fused"] = "bm25"
    """How to retrieve them: by words, or by words and meaning (the optional extra `fused`)."""
    whole_text_chars: NonNegativeInt = 8_000
    """If a report is in another language than the article: the most characters of the claims (of
    the facts, where conflict is looked for) that a model is shown whole with each item."""


class WikiFact(Protocol):
    """Checks a report against its reference article and the pages it cites."""

    name = "wiki_fact"
    prompts = "wiki_fact"
    inputs: tuple[str, ...] = ("facts", "claims", "pages")
    kinds: tuple[str, ...] = ("write_article",)
    bounds = Bounds(
        {
            COVERAGE: (NOT_SUPPORT, CONSISTENT),
            COVERAGE_ALL: (NOT_SUPPORT, CONSISTENT),
            CONFLICT: (INCONSISTENT, CONSISTENT),
            CITATION: (CONTRADICTED, SUPPORT),
        },
        none={"ref_disputed": "a refused page may be either of the two that disagree"},
    )
    boards = (BOARD,)
    marks_claims = "pairs"
    partly_supported = ("ref_acc", "as not supported in Wiki Fact")
    metrics_without: Mapping[str, tuple[str, ...]] = {"facts": ("ref_", "evaluated_", "leakage_")}

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
            other_language = await asyncio.to_thread(_explain_language, case)
            steps.append(self._check_coverage(case, judge, other_language))
            if judge.sees_conflict:
                steps.append(self._check_conflict(case, judge, other_language))
        if VerifyAgainstPage in judge.decides:
            steps.append(_check_citations(case, judge))
        return await gather_answers(steps)

    async def _check_coverage(
        self, case: Case, judge: Judge, other_language: str | None
    ) -> list[ItemAnswer]:
        """Check each fact against the claims without the leaked ones and, if there are any, against
        all. A model that would see the same evidence again is not asked again."""
        facts = [fact.text for fact in case.facts]
        items = [f"fact:{fact.number}" for fact in case.facts]
        leaked = find_leaked_claims(
            case.reference.url, case.citations, collect_redirects(case.pages)
        )
        pool = [claim.text for claim in case.claims if claim.number not in leaked]
        evidence = await self._retrieve(facts, pool, other_language)
        title = case.reference.title
        asking = self._verify(_ask(title, facts, pool, evidence), judge, other_language)
        if not leaked:
            return name_answers(COVERAGE, items, await asking)
        everything = [claim.text for claim in case.claims]
        evidence_of_all = await self._retrieve(facts, everything, other_language)
        others = [
            index
            for index, (kept, found) in enumerate(zip(evidence, evidence_of_all, strict=True))
            if judge.lexical
            # Whatever their order: ranks move when sentences are left out.
            or sorted(pool[i] for i in kept) != sorted(everything[i] for i in found)
        ]
        # At the same time: a batch may take a day.
        answers, asked = await asyncio.gather(
            asking,
            self._verify(
                _ask(
                    title,
                    [facts[index] for index in others],
                    everything,
                    [evidence_of_all[index] for index in others],
                ),
                judge,
                other_language,
            ),
        )
        of_all = dict(enumerate(answers)) | dict(zip(others, asked, strict=True))
        return name_answers(COVERAGE, items, answers) + name_answers(
            COVERAGE_ALL, items, of_all.values()
        )

    async def _check_conflict(
        self, case: Case, judge: Judge, other_language: str | None
    ) -> list[ItemAnswer]:
        pool = [fact.text for fact in case.facts]
        claims = [claim.text for claim in case.claims]
        evidence = await self._retrieve(claims, pool, other_language)
        request = _ask(case.reference.title, claims, pool, evidence)
        answers = await self._verify(request, judge, other_language)
        return name_answers(CONFLICT, (f"claim:{claim.number}" for claim in case.claims), answers)

    async def _retrieve(
        self, statements: Sequence[str], pool: Sequence[str], other_language: str | None
    ) -> Sequence[tuple[int, ...]]:
        """Return the indices of the evidence for each statement, best first: `top_k`; of a text in
        another language all, in its order."""
        if other_language:
            return [tuple(range(len(pool)))] * len(statements)
        if self.parameters.retriever == "fused":
            return await asyncio.to_thread(
                lambda: FusedIndex(pool).top_many(statements, self.parameters.top_k)
            )
        return EvidenceRetriever(pool).top_many(statements, self.parameters.top_k)

    async def _verify(
        self, request: VerifyClaims, judge: Judge, other_language: str | None
    ) -> Sequence[JudgeAnswer]:
        if not request.claims:
            return []
        few = len(request.pool) <= self.parameters.top_k
        is_shown_whole = few or sum(map(len, request.pool)) <= self.parameters.whole_text_chars
        # Words find no evidence across languages, nor does the extra's MiniLM, trained on English:
        # only a model that is shown everything can compare.
        if other_language and (judge.lexical or not is_shown_whole):
            unread = JudgeAnswer(status=Status.NOT_ASSESSED, reason=other_language)
            return [unread] * request.n_items
        return await judge.decide(request)

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        return pl.concat(
            [
                *compute_coverage(judged),
                *compute_conflict(judged, judge),
                *compute_references(judged, judge),
                *compute_never_existed(judged),
                *compute_leakage(judged),
                *compute_uncited(judged),
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


def _ask(
    title: str,
    claims: Sequence[str],
    pool: Sequence[str],
    retrieved: Sequence[tuple[int, ...]],
) -> VerifyClaims:
    return VerifyClaims(
        claims=tuple(claims), pool=tuple(pool), retrieved=tuple(retrieved), subject=title
    )


def find_leaked_claims(
    article_url: str, citations: Sequence[Citation], redirects: Redirects
) -> frozenset[int]:
    """Return the numbers of the claims that cite the target article (any-URL rule), also by a
    redirect to it."""
    leaking = {
        url for url in {citation.url for citation in citations}
        if cites_page([url], article_url, redirects)
    }  # fmt: skip
    return frozenset(citation.number for citation in citations if citation.url in leaking)


def _explain_language(case: Case) -> str | None:
    """Return why a report is not compared with an article in another language; None if the
    languages are the same, or one is not certain."""
    texts = ([claim.text for claim in case.claims], [fact.text for fact in case.facts])
    of_report, of_article = (identify_language("\n".join(of)) for of in texts)
    if of_report is None or of_article is None or of_report == of_article:
        return None
    return f"{OTHER_LANGUAGE} ({of_report}) than the article ({of_article})"


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
        missing = "its text is missing" if page.status == "ok" else "nothing more is known of it"
        reason = f"{page.status}: {page.error or missing}"
        return [JudgeAnswer(status=Status.UNFETCHABLE, reason=reason)] * len(claims)
    return await judge.decide(VerifyAgainstPage(claims=claims, url=url, page=page.text))

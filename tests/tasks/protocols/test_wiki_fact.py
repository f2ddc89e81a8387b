"""Wiki Fact on small cases whose figures can be counted by hand."""

import asyncio
from collections.abc import Sequence
from typing import get_args

import polars as pl
import pytest

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer, VerifyAgainstPage, VerifyClaims
from tasks.protocols.case import Case, ItemAnswer, JudgedReports
from tasks.protocols.redirects import collect_redirects
from tasks.protocols.wiki_fact import WikiFact, find_leaked_claims
from tasks.warehouse.pages import Page, PageStatus
from tasks.warehouse.rows import Article, Citation, Claim, Extraction, Fact, Report, Status
from tests.scripted_judge import ScriptedJudge

URL = "https://en.wikipedia.org/wiki/Red_Lighthouse"
PROTOCOL = WikiFact(load_protocol("wiki_fact"))


def case(
    facts: Sequence[str] = (),
    claims: Sequence[tuple[str, Sequence[str]]] = (),
    pages: dict[str, str | None] | None = None,
    *,
    reliable: bool = True,
) -> Case:
    key = {"edition": "e", "agent": "a", "assignment": "x"}
    return Case(
        article=Article(edition="e", article="x", title="X", url=URL, text="t", text_sha="0"),
        report=Report(**key, text="r", text_sha="1", source_path="x.md"),
        facts=tuple(
            Fact(edition="e", article="x", number=n, text=text, source="published")
            for n, text in enumerate(facts)
        ),
        claims=tuple(
            Claim(**key, number=n, text=text, source="offline")
            for n, (text, _) in enumerate(claims)
        ),
        citations=tuple(
            Citation(**key, number=n, url=url, raw_url=url, kind="explicit")
            for n, (_, urls) in enumerate(claims)
            for url in urls
        ),
        pages=tuple(
            Page(
                edition="e",
                url=url,
                status="unfetchable" if text is None else "ok",
                text=text,
                error="404" if text is None else None,
            )
            for url, text in (pages or {}).items()
        ),
        extraction=Extraction(
            **key,
            source="offline",
            extractor_version="1",
            input_sha="1",
            output_sha="2",
            n_items=len(claims),
            pairs_reliable=reliable,
            pairs_reason=None if reliable else "no list",
        ),
    )


def redirected(of: Case, **final_urls: str) -> Case:
    """The case with pages that led elsewhere, by the first letter of their hosts."""
    pages = [
        page.model_copy(update={"final_url": final_urls.get(page.url[8])}) for page in of.pages
    ]
    return of.model_copy(update={"pages": tuple(pages)})


def judged(of: Case, decided: Sequence[ItemAnswer]) -> JudgedReports:
    assert of.extraction
    leaked = find_leaked_claims(of.reference.url, of.citations, collect_redirects(of.pages))
    cited = {citation.number for citation in of.citations}
    return JudgedReports(
        reports=pl.DataFrame(
            {
                "assignment": ["x"],
                "state": ["done"],
                "state_reason": [None],
                "pairs_reliable": [of.extraction.pairs_reliable],
                "pairs_reason": [of.extraction.pairs_reason],
            },
            schema_overrides={"pairs_reason": pl.String, "state_reason": pl.String},
        ),
        verdicts=pl.DataFrame(
            [
                {
                    "assignment": "x",
                    "step": d.step,
                    "item": d.item,
                    "status": d.answer.status.value,
                    "label": d.answer.label,
                    "score": d.answer.score,
                    "reason": d.answer.reason,
                }
                for d in decided
            ],
            schema={
                "assignment": pl.String,
                "step": pl.String,
                "item": pl.String,
                "status": pl.String,
                "label": pl.String,
                "score": pl.Float64,
                "reason": pl.String,
            },
        ),
        claims=pl.DataFrame(
            [
                {
                    "assignment": "x",
                    "number": claim.number,
                    "attributed": claim.number in cited,
                    "own": claim.number in cited,
                    "leaked": claim.number in leaked,
                    "published": claim.source == "published",
                }
                for claim in of.claims
            ],
            schema={
                "assignment": pl.String,
                "number": pl.Int64,
                "attributed": pl.Boolean,
                "own": pl.Boolean,
                "leaked": pl.Boolean,
                "published": pl.Boolean,
            },
        ),
    )


def figures(of: Case, judge: ScriptedJudge | None = None) -> dict[str, tuple[float | None, int]]:
    """metric → (value, items), as scored after judging the case."""
    judge = judge or ScriptedJudge()
    decided = asyncio.run(PROTOCOL.judge(of, judge))
    frame = PROTOCOL.compute_figures(judged(of, decided), judge)
    return {
        row["metric"]: (
            None if row["numerator"] is None else row["numerator"] / row["n_items"],
            row["n_items"],
        )
        for row in frame.iter_rows(named=True)
    }


def test_coverage_is_the_share_of_facts_the_claims_support() -> None:
    found = figures(case(["red tower", "blue door"], [("red tower", [])]))
    assert found["coverage_wiki"] == (0.5, 2)


def test_a_claim_that_cites_the_article_itself_covers_nothing() -> None:
    leaky = case(["red tower"], [("red tower", [URL])], {URL: "red tower"})
    assert figures(leaky)["coverage_wiki"] == (0.0, 1)
    assert figures(leaky)["leakage_rate"] == (1.0, 1)
    assert figures(leaky)["ref_acc"] == (1.0, 1)  # the filter is for coverage only


def test_a_mobile_or_encoded_address_of_the_article_is_a_leak_as_well() -> None:
    for url in ("https://en.m.wikipedia.org/wiki/Red_Lighthouse#History",
                "http://en.wikipedia.org/wiki/Red%20Lighthouse?x=1"):  # fmt: skip
        from tasks.extraction.urls import normalise_url

        key = normalise_url(url)
        assert key
        assert figures(case([], [("red tower", [key])]))["leakage_rate"] == (1.0, 1)


def test_a_claim_that_cites_a_redirect_to_the_article_leaks_as_well() -> None:
    pages: dict[str, str | None] = {"https://a.org/r/1": "red tower", "https://b.org": "red tower"}
    claims = [("red tower", ["https://a.org/r/1"]), ("blue door", ["https://b.org"])]
    of = case(["red tower", "blue door"], claims, pages)
    plain = figures(of)
    assert (plain["coverage_wiki"], plain["leakage_rate"]) == ((1.0, 2), (0.0, 2))
    seen_through = figures(redirected(of, a=URL, b="https://b.org/elsewhere"))
    assert (seen_through["coverage_wiki"], seen_through["leakage_rate"]) == ((0.5, 2), (0.5, 2))
    assert seen_through["ref_acc"] == plain["ref_acc"]


def test_a_redirect_leaks_also_where_the_page_behind_it_could_not_be_read() -> None:
    of = case(["red tower"], [("red tower", ["https://a.org/r"])], {"https://a.org/r": None})
    assert figures(redirected(of, a=URL))["leakage_rate"] == (1.0, 1)


def test_two_addresses_that_lead_to_one_page_are_two_pairs() -> None:
    pages: dict[str, str | None] = {"https://a.org": "red tower", "https://b.org": "red tower"}
    of = redirected(case([], [("red tower", list(pages))], pages), a="https://b.org")
    assert figures(of)["ref_acc_pairs"] == (1.0, 2)


def test_a_report_without_claims_covers_nothing_and_leaks_nothing() -> None:
    found = figures(case(["red tower"]))
    assert found["coverage_wiki"] == (0.0, 1)
    assert found["leakage_rate"] == (None, 0)


def test_an_article_without_facts_has_no_coverage_rather_than_zero() -> None:
    assert figures(case([], [("red tower", [])]))["coverage_wiki"] == (None, 0)


def test_conflict_is_counted_over_the_reports_claims() -> None:
    found = figures(case(["red tower"], [("not red tower", []), ("blue door", [])]))
    assert found["wiki_conflict"] == (0.5, 2)


def test_an_unfetchable_page_leaves_ref_acc_and_counts_in_the_strict_variant() -> None:
    pages = {"https://a.org": "red tower", "https://b.org": None}
    claims = [("red tower", ["https://a.org"]), ("blue door", ["https://b.org"])]
    found = figures(case([], claims, pages))
    assert found["ref_acc"] == (1.0, 1)
    assert found["ref_acc_strict"] == (0.5, 2)
    assert found["evaluated_share"] == (0.5, 2)
    assert found["ref_acc_pairs"] == (1.0, 1)


@pytest.mark.parametrize("status", [s for s in get_args(PageStatus) if s != "ok"])
def test_only_what_a_page_says_is_judged_and_the_reason_names_what_it_was(
    status: PageStatus,
) -> None:
    of = case([], [("red tower", ["https://a.org"])], {"https://a.org": "red tower"})
    walled = of.pages[0].model_copy(update={"status": status, "error": "as its server said"})
    of = of.model_copy(update={"pages": (walled,)})
    judge = ScriptedJudge()
    (decided,) = asyncio.run(PROTOCOL.judge(of, judge))[-1:]
    assert (decided.step, decided.answer.status) == ("citation", "unfetchable")
    assert decided.answer.reason == f"{status}: as its server said"
    assert not any(isinstance(request, VerifyAgainstPage) for request in judge.asked)
    found = figures(of)
    assert found["ref_acc"] == (None, 0)
    assert found["ref_acc_strict"] == (0.0, 1)
    assert found["evaluated_share"] == (0.0, 1)


def test_an_ok_page_without_text_is_no_evidence() -> None:
    of = case([], [("red tower", ["https://a.org"])], {"https://a.org": "red tower"})
    of = of.model_copy(update={"pages": (of.pages[0].model_copy(update={"text": None}),)})
    (decided,) = asyncio.run(PROTOCOL.judge(of, ScriptedJudge()))[-1:]
    assert decided.answer.status == "unfetchable"
    assert decided.answer.reason == "ok: its text is missing"


def test_a_page_that_was_never_fetched_is_open_not_wrong() -> None:
    of = case([], [("red tower", ["https://a.org"])])
    decided = asyncio.run(PROTOCOL.judge(of, ScriptedJudge()))
    frame = PROTOCOL.compute_figures(judged(of, decided), ScriptedJudge())
    strict = frame.row(by_predicate=pl.col("metric") == "ref_acc_strict", named=True)
    assert (strict["numerator"], strict["n_items"], strict["n_open"]) == (None, 0, 1)


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.NOT_ASSESSED])
def test_a_claim_that_its_judge_could_not_answer_is_in_no_figure(status: Status) -> None:
    class Silent(ScriptedJudge):
        async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[JudgeAnswer]:
            return [JudgeAnswer(status=status, reason="too much")] * len(request.claims)

    pages: dict[str, str | None] = {"https://a.org": "red tower", "https://b.org": None}
    of = case([], [("red tower", list(pages)), ("blue door", ["https://b.org"])], pages)
    decided = asyncio.run(PROTOCOL.judge(of, Silent()))
    frame = PROTOCOL.compute_figures(judged(of, decided), Silent())
    strict = frame.row(by_predicate=pl.col("metric") == "ref_acc_strict", named=True)
    assert (strict["numerator"], strict["n_items"], strict["n_open"]) == (0.0, 1, 0)


def test_one_supporting_page_is_enough_for_a_claim_but_not_for_its_pairs() -> None:
    pages: dict[str, str | None] = {"https://a.org": "red tower", "https://b.org": "nothing"}
    found = figures(case([], [("red tower", list(pages))], pages))
    assert found["ref_acc"] == (1.0, 1)
    assert found["ref_acc_pairs"] == (0.5, 2)
    assert found["ref_conflict"] == (0.0, 1)


def test_a_judges_failure_is_in_no_denominator_and_stays_open() -> None:
    of = case(["red tower", "blue door"], [("red tower", [])])
    judge = ScriptedJudge(failing=frozenset({"blue door"}))
    assert figures(of, judge)["coverage_wiki"] == (1.0, 1)
    decided = asyncio.run(PROTOCOL.judge(of, judge))
    frame = PROTOCOL.compute_figures(judged(of, decided), judge)
    row = frame.row(by_predicate=pl.col("metric") == "coverage_wiki", named=True)
    assert row["n_open"] == 1


def test_pairs_that_cannot_be_trusted_give_null_with_the_reason() -> None:
    of = case([], [("red tower", ["https://a.org"])], {"https://a.org": "x"}, reliable=False)
    decided = asyncio.run(PROTOCOL.judge(of, ScriptedJudge()))
    frame = PROTOCOL.compute_figures(judged(of, decided), ScriptedJudge())
    for metric in ("ref_acc", "ref_acc_strict", "ref_acc_pairs", "evaluated_share"):
        row = frame.row(by_predicate=pl.col("metric") == metric, named=True)
        assert (row["numerator"], row["reason"]) == (None, "no list")


def test_a_judge_that_cannot_see_contradiction_gives_no_conflict_figures() -> None:
    judge = ScriptedJudge()
    judge.sees_conflict = False
    of = case(["red tower"], [("not red tower", ["https://a.org"])], {"https://a.org": "red tower"})
    decided = asyncio.run(PROTOCOL.judge(of, judge))
    assert {d.step for d in decided} == {"coverage", "citation"}
    frame = PROTOCOL.compute_figures(judged(of, decided), judge)
    for metric in ("wiki_conflict", "ref_conflict"):
        row = frame.row(by_predicate=pl.col("metric") == metric, named=True)
        assert row["numerator"] is None
        assert row["reason"].startswith("not_assessed")


def test_every_configured_metric_is_given_for_every_report() -> None:
    of = case(["red tower"], [("red tower", ["https://a.org"])], {"https://a.org": "red tower"})
    assert sorted(figures(of)) == sorted(metric.name for metric in PROTOCOL.metrics)


def test_a_page_is_put_to_the_judge_once_for_all_claims_that_cite_it() -> None:
    judge = ScriptedJudge()
    claims = [(f"claim {n}", ["https://a.org"]) for n in range(5)]
    asyncio.run(PROTOCOL.judge(case([], claims, {"https://a.org": "text"}), judge))
    pages = [request for request in judge.asked if not isinstance(request, VerifyClaims)]
    assert len(pages) == 1


@pytest.mark.parametrize("n_claims", [0, 1, 25])
def test_at_most_ten_sentences_are_evidence(n_claims: int) -> None:
    judge = ScriptedJudge()
    claims: list[tuple[str, list[str]]] = [
        (f"the tower was repainted in {1900 + n}", []) for n in range(n_claims)
    ]
    asyncio.run(PROTOCOL.judge(case(["the tower is red"], claims), judge))
    request = judge.asked[0]
    assert isinstance(request, VerifyClaims)
    assert len(request.retrieved[0]) == min(10, n_claims)


FACTS_IN_ENGLISH = [
    "The lighthouse was designed by James Douglass and first lit on 18 May 1882.",
    "It stands on a reef south of the city and can be seen from a distance of 22 nautical miles.",
]
CLAIMS_IN_FRENCH = [
    "Le phare a été conçu par James Douglass et allumé pour la première fois le 18 mai 1882.",
    "Il se dresse sur un récif au sud de la ville, et sa lumière se voit à 22 milles nautiques.",
]


def asked_about(judge: ScriptedJudge) -> list[VerifyClaims]:
    return [request for request in judge.asked if isinstance(request, VerifyClaims)]


def test_a_judge_that_reads_is_asked_also_where_no_word_is_shared() -> None:
    judge = ScriptedJudge()
    of = case(["Construction finished late in the seventeenth century"], [("Completed 1698", [])])
    asyncio.run(PROTOCOL.judge(of, judge))
    assert asked_about(judge)[0].retrieved == ((0,),)


def test_a_report_in_another_language_is_not_assessed_where_words_choose_the_evidence() -> None:
    claims = [(f"{text} {n}", list[str]()) for n in range(60) for text in CLAIMS_IN_FRENCH]
    of = case([f"{text} {n}" for n in range(60) for text in FACTS_IN_ENGLISH], claims)
    judge = ScriptedJudge()
    frame = PROTOCOL.compute_figures(judged(of, asyncio.run(PROTOCOL.judge(of, judge))), judge)
    rows = {row["metric"]: row for row in frame.iter_rows(named=True)}
    for metric in ("coverage_wiki", "coverage_wiki_soft", "coverage_wiki_all", "wiki_conflict"):
        assert rows[metric]["numerator"] is None
        assert rows[metric]["n_open"] == 0
        assert "another language (fr) than the article (en)" in rows[metric]["reason"]
    assert not asked_about(judge)


def test_a_model_is_shown_a_short_report_in_another_language_whole() -> None:
    claims = [(f"{text} {n}", list[str]()) for n in range(6) for text in CLAIMS_IN_FRENCH]
    of = case(FACTS_IN_ENGLISH, claims)
    judge = ScriptedJudge()
    asyncio.run(PROTOCOL.judge(of, judge))
    about_facts, about_claims = asked_about(judge)
    assert about_facts.retrieved == (tuple(range(12)),) * 2
    assert about_claims.retrieved == ((0, 1),) * 12
    entry = load_protocol("wiki_fact")
    parameters = entry.parameters | {"whole_text_chars": 0}
    never = WikiFact(entry.model_copy(update={"parameters": parameters}))
    assert never.version != PROTOCOL.version
    silent = ScriptedJudge()
    decided = asyncio.run(never.judge(of, silent))
    assert [request.n_items for request in asked_about(silent)] == [12]  # the two facts fit
    assert {d.answer.status for d in decided if d.step == "coverage"} == {Status.NOT_ASSESSED}


def test_the_leaked_claims_of_a_report_in_another_language_are_shown_for_all_claims() -> None:
    claims = [(f"{text} {n}", list[str]()) for n in range(6) for text in CLAIMS_IN_FRENCH]
    leaked = "Une phrase qui ne partage rien avec les faits."
    judge = ScriptedJudge()
    asyncio.run(PROTOCOL.judge(case(FACTS_IN_ENGLISH, [*claims, (leaked, [URL])]), judge))
    filtered, everything = (asked for asked in asked_about(judge) if asked.n_items == 2)
    assert filtered.retrieved == (tuple(range(12)),) * 2
    assert everything.retrieved == (tuple(range(13)),) * 2
    assert leaked in everything.pool
    assert leaked not in filtered.pool


def test_a_report_whose_language_cannot_be_told_is_judged() -> None:
    judge = ScriptedJudge()
    of = case(FACTS_IN_ENGLISH, [("Le phare, 1882", []), ("Douglass", [])])
    decided = asyncio.run(PROTOCOL.judge(of, judge))
    assert {d.answer.status for d in decided} == {Status.OK}


def test_both_coverages_are_asked_at_the_same_time() -> None:
    waiting = 0

    class Slow(ScriptedJudge):
        async def verify_claims(self, request: VerifyClaims) -> Sequence[JudgeAnswer]:
            nonlocal waiting
            waiting += request.claims == ("red tower",)
            for _ in range(100):
                await asyncio.sleep(0)
            assert waiting == 2, "a batch would take a day for each of them"
            return await super().verify_claims(request)

    asyncio.run(PROTOCOL.judge(case(["red tower"], [("blue door", [URL])]), Slow()))


def test_a_model_that_is_shown_all_of_it_judges_a_report_in_another_language() -> None:
    of = case(FACTS_IN_ENGLISH, [(text, []) for text in CLAIMS_IN_FRENCH])
    judge = ScriptedJudge()
    asyncio.run(PROTOCOL.judge(of, judge))
    assert asked_about(judge)[0].retrieved == ((0, 1), (0, 1))
    lexical = ScriptedJudge()
    lexical.lexical = True
    asyncio.run(PROTOCOL.judge(of, lexical))
    assert not asked_about(lexical)


def test_coverage_by_all_claims_counts_also_those_that_cite_the_article() -> None:
    leaky = case(["red tower", "blue door"], [("red tower", [URL]), ("blue door", [])])
    found = figures(leaky)
    assert found["coverage_wiki"] == (0.5, 2)
    assert found["coverage_wiki_all"] == (1.0, 2)


def test_coverage_by_all_claims_rests_on_the_same_verdicts_where_none_cites_the_article() -> None:
    judge = ScriptedJudge()
    clean = case(["red tower"], [("red tower", [])])
    found = figures(clean, judge)
    assert found["coverage_wiki"] == found["coverage_wiki_all"] == (1.0, 1)
    assert [request.claims for request in asked_about(judge)] == [("red tower",), ("red tower",)]


def test_a_fact_with_the_same_evidence_either_way_is_asked_about_once() -> None:
    many = [(f"red tower {n}", list[str]()) for n in range(12)]
    leaky = case(["red tower", "blue door"], [*many, ("blue door", [URL])])
    judge = ScriptedJudge()
    decided = asyncio.run(PROTOCOL.judge(leaky, judge))
    by_step = {
        step: [item.item for item in decided if item.step == step]
        for step in ("coverage", "coverage_all")
    }
    assert by_step["coverage"] == by_step["coverage_all"] == ["fact:0", "fact:1"]
    of_facts = [request.claims for request in asked_about(judge) if request.n_items < 13]
    assert of_facts == [("red tower", "blue door"), ("blue door",)]


def test_published_claims_count_in_leakage_though_their_pairs_cannot_be_told() -> None:
    of = case([], [("red tower", [URL]), ("blue door", [])], reliable=False)
    assert figures(of)["leakage_rate_by_article"] == (None, 0)
    published = [claim.model_copy(update={"source": "published"}) for claim in of.claims]
    found = figures(of.model_copy(update={"claims": tuple(published)}))
    assert found["leakage_rate_by_article"] == found["leakage_rate"] == (0.5, 2)
    uncited = case([], [("red tower", [])], reliable=False)
    published = [claim.model_copy(update={"source": "published"}) for claim in uncited.claims]
    found = figures(uncited.model_copy(update={"claims": tuple(published)}))
    assert found["leakage_rate_by_article"] == (0.0, 1)


def test_a_lexical_judge_is_asked_again_with_the_same_evidence_since_it_reads_passages() -> None:
    many = [(f"red tower {n}", list[str]()) for n in range(12)]
    leaky = case(["red tower", "blue door"], [*many, ("blue door", [URL])])
    judge = ScriptedJudge()
    judge.lexical = True
    asyncio.run(PROTOCOL.judge(leaky, judge))
    of_facts = [request for request in asked_about(judge) if request.n_items == 2]
    assert [len(request.pool) for request in of_facts] == [12, 13]
    assert of_facts[0].retrieved[0] == of_facts[1].retrieved[0]

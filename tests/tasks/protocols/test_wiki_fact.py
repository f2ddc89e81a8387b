"""Wiki Fact on small cases whose figures can be counted by hand."""

import asyncio
from collections.abc import Sequence
from typing import Any, get_args

import pytest

from tasks.configuration.models import load_protocol
from tasks.extraction.urls import normalise_url
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.protocols.case import Case
from tasks.protocols.wiki_fact.protocol import WikiFact
from tasks.warehouse.pages import PageStatus
from tasks.warehouse.rows import NO_URL, Article, CitationKind, Fact, Status
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import Claims, citing, decided, scored, value_of

URL = "https://en.wikipedia.org/wiki/Red_Lighthouse"
PROTOCOL = WikiFact(load_protocol("wiki_fact"))
A, B, C, D = "https://a.org", "https://b.org", "https://c.org", "https://d.org"
Pages = dict[str, str | None]
Figures = dict[str, tuple[float | None, int]]


def case(
    facts: Sequence[str] = (), claims: Claims = (), pages: Pages | None = None, **more: Any
) -> Case:
    return citing(
        claims,
        pages,
        article=Article(edition="e", article="x", title="X", url=URL, text="t", text_sha="0"),
        facts=tuple(
            Fact(edition="e", article="x", number=n, text=text, source="published")
            for n, text in enumerate(facts)
        ),
        **more,
    )


def redirected(of: Case, **final_urls: str) -> Case:
    """The case with pages that led elsewhere, by the first letter of their hosts."""
    pages = [
        page.model_copy(update={"final_url": final_urls.get(page.url[8])}) for page in of.pages
    ]
    return of.model_copy(update={"pages": tuple(pages)})


def figures(of: Case, judge: ScriptedJudge | None = None) -> Figures:
    """metric → (value, items), as scored after judging the case."""
    rows = scored(PROTOCOL, of, judge or ScriptedJudge())
    return {metric: (value_of(row), row["n_items"]) for metric, row in rows.items()}


def judged_by(judge: ScriptedJudge, of: Case) -> list[VerifyClaims]:
    """What is asked about claims and facts while this is judged."""
    decided(PROTOCOL, of, judge)
    return [request for request in judge.asked if isinstance(request, VerifyClaims)]


RED: Claims = [("red tower", [])]
RED_AND_BLUE: Claims = [("red tower", [A]), ("blue door", [B])]
REDIRECT = case(["red tower", "blue door"], RED_AND_BLUE, {A: "red tower", B: "red tower"})


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        pytest.param(
            case(["red tower", "blue door"], RED),
            {"coverage_wiki": (0.5, 2)},
            id="coverage is the share of facts that the claims support",
        ),
        pytest.param(
            case(["red tower"], [("red tower", [URL])], {URL: "red tower"}),
            # Only coverage leaves out what cites the article.
            {"coverage_wiki": (0, 1), "leakage_rate": (1, 1), "ref_acc": (1, 1)},
            id="a claim that cites the article itself covers nothing",
        ),
        pytest.param(
            case(["red tower", "blue door"], [("red tower", [URL]), ("blue door", [])]),
            {"coverage_wiki": (0.5, 2), "coverage_wiki_all": (1, 2)},
            id="coverage by all claims counts also those that cite the article",
        ),
        pytest.param(
            REDIRECT,
            {"coverage_wiki": (1, 2), "leakage_rate": (0, 2), "ref_acc": (0.5, 2)},
            id="pages that lead nowhere else leak nothing",
        ),
        pytest.param(
            redirected(REDIRECT, a=URL, b="https://b.org/elsewhere"),
            {"coverage_wiki": (0.5, 2), "leakage_rate": (0.5, 2), "ref_acc": (0.5, 2)},
            id="a claim that cites a redirect to the article leaks as well",
        ),
        pytest.param(
            redirected(case(["red tower"], RED_AND_BLUE[:1], {A: None}), a=URL),
            {"leakage_rate": (1, 1)},
            id="a redirect leaks also where the page behind it could not be read",
        ),
        pytest.param(
            redirected(case([], [("red tower", [A, B])], {A: "red tower", B: "red tower"}), a=B),
            {"ref_acc": (1, 2)},
            id="two addresses that lead to one page are two pairs",
        ),
        pytest.param(
            case(["red tower"]),
            {"coverage_wiki": (0, 1), "leakage_rate": (None, 0)},
            id="a report without claims covers nothing and leaks nothing",
        ),
        pytest.param(
            case([], RED),
            {"coverage_wiki": (None, 0)},
            id="an article without facts has no coverage rather than zero",
        ),
        pytest.param(
            case(["red tower"], [("not red tower", []), ("blue door", [])]),
            {"wiki_conflict": (0.5, 2)},
            id="conflict is counted over the report's claims",
        ),
        pytest.param(
            case([], RED_AND_BLUE, {A: "red tower", B: None}),
            {"ref_acc_readable": (1, 1), "ref_acc_claims": (0.5, 2), "evaluated_share": (0.5, 2),
             "ref_acc": (0.5, 2)},
            id="an unfetchable page supports nothing, and is left out of readable pages alone",
        ),
        pytest.param(
            case(
                [], [*RED_AND_BLUE, ("green roof", [C, D])],
                {A: "red tower", B: "nothing", C: None, D: None},
            ),
            {"ref_acc": (0.25, 4), "ref_acc_readable": (0.5, 2), "ref_acc_claims": (1 / 3, 3)},
            id="four pairs of three claims, one supported, one not, two unreadable: a quarter",
        ),
        pytest.param(
            case(
                [], [("not red tower", [A, B]), ("not red tower", [A]), ("blue door", [C])],
                {A: "red tower", B: "not red tower", C: None},
            ),
            {"ref_disputed": (0.5, 2), "ref_conflict": (0.5, 2), "ref_acc_readable": (0.5, 2)},
            id="a claim that one page supports and another contradicts is disputed",
        ),
        pytest.param(
            case([], [("red tower", [A, B])], {A: "red tower", B: "nothing"}),
            {"ref_acc_readable": (1, 1), "ref_acc": (0.5, 2), "ref_conflict": (0, 1)},
            id="one supporting page is enough for a claim but not for its pairs",
        ),
    ],
)  # fmt: skip
def test_figures_counted_by_hand(of: Case, expected: Figures) -> None:
    found = figures(of)
    assert {metric: found[metric] for metric in expected} == expected
    assert sorted(found) == sorted(metric.name for metric in PROTOCOL.metrics)


@pytest.mark.parametrize(
    "url",
    ["https://en.m.wikipedia.org/wiki/Red_Lighthouse#History",
     "http://en.wikipedia.org/wiki/Red%20Lighthouse?x=1",
     "https://www.google.com/url?q=https://en.wikipedia.org/wiki/Red_Lighthouse",
     "https://web.archive.org/web/2020id_/https://en.wikipedia.org/wiki/Red_Lighthouse"],
)  # fmt: skip
def test_another_address_of_the_article_or_of_a_copy_is_a_leak_as_well(url: str) -> None:
    key = normalise_url(url)
    assert key
    assert figures(case([], [("red tower", [key])]))["leakage_rate"] == (1.0, 1)


@pytest.mark.parametrize("status", [s for s in get_args(PageStatus) if s != "ok"])
def test_only_what_a_page_says_is_judged_and_the_reason_names_what_it_was(
    status: PageStatus,
) -> None:
    of = case([], RED_AND_BLUE[:1], {A: "red tower"})
    walled = of.pages[0].model_copy(update={"status": status, "error": "as its server said"})
    of = of.model_copy(update={"pages": (walled,)})
    judge = ScriptedJudge()
    last = decided(PROTOCOL, of, judge)[-1]
    assert (last.step, last.answer.status) == ("citation", "unfetchable")
    assert last.answer.reason == f"{status}: as its server said"
    assert not any(isinstance(request, VerifyAgainstPage) for request in judge.asked)
    found = figures(of)
    assert found["ref_acc_readable"] == (None, 0)
    assert found["ref_acc"] == found["ref_acc_claims"] == (0.0, 1)
    assert found["evaluated_share"] == (0.0, 1)


def test_an_ok_page_without_text_is_no_evidence() -> None:
    of = case([], RED_AND_BLUE[:1], {A: "red tower"})
    of = of.model_copy(update={"pages": (of.pages[0].model_copy(update={"text": None}),)})
    last = decided(PROTOCOL, of, ScriptedJudge())[-1]
    assert (last.answer.status, last.answer.reason) == ("unfetchable", "ok: its text is missing")


class Silent(ScriptedJudge):
    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status

    async def verify_against_page(self, request: VerifyAgainstPage) -> Sequence[JudgeAnswer]:
        return [JudgeAnswer(status=self.status, reason="too much")] * len(request.claims)


@pytest.mark.parametrize(
    ("of", "judge", "metric", "row"),
    [
        pytest.param(
            case([], RED_AND_BLUE[:1]), ScriptedJudge(),
            "ref_acc_claims", (None, 0, 1),
            id="a page that was never fetched is open, not wrong",
        ),
        pytest.param(
            case([], [("red tower", [A, B, C])], {A: "red tower", B: None}), ScriptedJudge(),
            "ref_acc", (1, 2, 1),
            id="a pair whose page was never fetched is open, whatever the claim's others say",
        ),
        *(
            pytest.param(
                case([], [("red tower", [A, B]), ("blue door", [B])], {A: "red tower", B: None}),
                Silent(status), "ref_acc", (0, 2, 0),
                id=f"a pair that its judge could not answer is in no figure: {status}",
            )
            for status in (Status.BLOCKED, Status.NOT_ASSESSED)
        ),
        *(
            pytest.param(
                case([], [("red tower", [A, B]), ("blue door", [B])], {A: "red tower", B: None}),
                Silent(status), "ref_acc_claims", (0, 1, 0),
                id=f"a claim that its judge could not answer is in no figure: {status}",
            )
            for status in (Status.BLOCKED, Status.NOT_ASSESSED)
        ),
        pytest.param(
            case(["red tower", "blue door"], RED), ScriptedJudge(frozenset({"blue door"})),
            "coverage_wiki", (1, 1, 1),
            id="a judge's failure is in no denominator and stays open",
        ),
    ],
)  # fmt: skip
def test_what_is_open_and_what_never_comes_is_in_no_figure(
    of: Case, judge: ScriptedJudge, metric: str, row: tuple[Any, ...]
) -> None:
    found = scored(PROTOCOL, of, judge)[metric]
    assert (found["numerator"], found["n_items"], found["n_open"]) == row


def test_pairs_that_cannot_be_trusted_give_null_with_the_reason() -> None:
    rows = scored(PROTOCOL, case([], RED_AND_BLUE[:1], {A: "x"}, reliable=False), ScriptedJudge())
    for metric in ("ref_acc", "ref_acc_readable", "ref_acc_claims", "evaluated_share",
                   "uncited_share"):  # fmt: skip
        assert (rows[metric]["numerator"], rows[metric]["reason"]) == (None, "no list of sources")


def test_a_judge_that_cannot_see_contradiction_gives_no_conflict_figures() -> None:
    judge = ScriptedJudge()
    judge.sees_conflict = False
    of = case(["red tower"], [("not red tower", [A])], {A: "red tower"})
    assert {d.step for d in decided(PROTOCOL, of, judge)} == {"coverage", "citation"}
    rows = scored(PROTOCOL, of, judge)
    for metric in ("wiki_conflict", "ref_conflict", "ref_disputed"):
        assert rows[metric]["numerator"] is None
        assert rows[metric]["reason"].startswith("not_assessed")


def test_a_page_is_put_to_the_judge_once_for_all_claims_that_cite_it() -> None:
    judge = ScriptedJudge()
    decided(PROTOCOL, case([], [(f"claim {n}", [A]) for n in range(5)], {A: "text"}), judge)
    pages = [request for request in judge.asked if not isinstance(request, VerifyClaims)]
    assert len(pages) == 1


@pytest.mark.parametrize("n_claims", [0, 1, 25])
def test_at_most_ten_sentences_are_evidence(n_claims: int) -> None:
    claims = [(f"the tower was repainted in {1900 + n}", list[str]()) for n in range(n_claims)]
    request = judged_by(ScriptedJudge(), case(["the tower is red"], claims))[0]
    assert len(request.retrieved[0]) == min(10, n_claims)


FACTS_IN_ENGLISH = [
    "The lighthouse was designed by James Douglass and first lit on 18 May 1882.",
    "It stands on a reef south of the city and can be seen from a distance of 22 nautical miles.",
]
CLAIMS_IN_FRENCH = [
    "Le phare a été conçu par James Douglass et allumé pour la première fois le 18 mai 1882.",
    "Il se dresse sur un récif au sud de la ville, et sa lumière se voit à 22 milles nautiques.",
]


def in_french(times: int) -> Claims:
    return [(f"{text} {n}", []) for n in range(times) for text in CLAIMS_IN_FRENCH]


def test_a_judge_that_reads_is_asked_also_where_no_word_is_shared() -> None:
    of = case(["Construction finished late in the seventeenth century"], [("Completed 1698", [])])
    assert judged_by(ScriptedJudge(), of)[0].retrieved == ((0,),)


def test_a_report_in_another_language_is_not_assessed_where_words_choose_the_evidence() -> None:
    of = case([f"{text} {n}" for n in range(60) for text in FACTS_IN_ENGLISH], in_french(60))
    judge = ScriptedJudge()
    rows = scored(PROTOCOL, of, judge)
    for metric in ("coverage_wiki", "coverage_wiki_soft", "coverage_wiki_all", "wiki_conflict"):
        assert rows[metric]["numerator"] is None
        assert rows[metric]["n_open"] == 0
        assert "another language (fr) than the article (en)" in rows[metric]["reason"]
    assert judge.asked == []


def test_a_model_is_shown_a_short_report_in_another_language_whole() -> None:
    of = case(FACTS_IN_ENGLISH, in_french(6))
    about_facts, about_claims = judged_by(ScriptedJudge(), of)
    assert about_facts.retrieved == (tuple(range(12)),) * 2
    assert about_claims.retrieved == ((0, 1),) * 12
    entry = load_protocol("wiki_fact")
    parameters = entry.parameters | {"whole_text_chars": 0}
    never = WikiFact(entry.model_copy(update={"parameters": parameters}))
    silent = ScriptedJudge()
    found = decided(never, of, silent)
    [request] = silent.asked
    assert isinstance(request, VerifyClaims)
    assert request.n_items == 12  # the two facts fit
    assert {d.answer.status for d in found if d.step == "coverage"} == {Status.NOT_ASSESSED}


def test_the_leaked_claims_of_a_report_in_another_language_are_shown_for_all_claims() -> None:
    leaked = "Une phrase qui ne partage rien avec les faits."
    asked = judged_by(ScriptedJudge(), case(FACTS_IN_ENGLISH, [*in_french(6), (leaked, [URL])]))
    filtered, everything = (request for request in asked if request.n_items == 2)
    assert filtered.retrieved == (tuple(range(12)),) * 2
    assert everything.retrieved == (tuple(range(13)),) * 2
    assert leaked in everything.pool
    assert leaked not in filtered.pool


def test_a_report_whose_language_cannot_be_told_is_judged() -> None:
    of = case(FACTS_IN_ENGLISH, [("Le phare, 1882", []), ("Douglass", [])])
    assert {d.answer.status for d in decided(PROTOCOL, of, ScriptedJudge())} == {Status.OK}


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

    decided(PROTOCOL, case(["red tower"], [("blue door", [URL])]), Slow())


def test_a_model_that_is_shown_all_of_it_judges_a_report_in_another_language() -> None:
    of = case(FACTS_IN_ENGLISH, [(text, []) for text in CLAIMS_IN_FRENCH])
    assert judged_by(ScriptedJudge(), of)[0].retrieved == ((0, 1), (0, 1))
    lexical = ScriptedJudge()
    lexical.lexical = True
    assert judged_by(lexical, of) == []


def test_coverage_by_all_claims_rests_on_the_same_verdicts_where_none_cites_the_article() -> None:
    clean = case(["red tower"], RED)
    found = figures(clean)
    assert found["coverage_wiki"] == found["coverage_wiki_all"] == (1.0, 1)
    asked = judged_by(ScriptedJudge(), clean)
    assert [request.claims for request in asked] == [("red tower",), ("red tower",)]


DOZEN: Claims = [(f"red tower {n}", []) for n in range(12)]
LEAKY = case(["red tower", "blue door"], [*DOZEN, ("blue door", [URL])])


def test_a_fact_with_the_same_evidence_either_way_is_asked_about_once() -> None:
    judge = ScriptedJudge()
    found = decided(PROTOCOL, LEAKY, judge)
    for step in ("coverage", "coverage_all"):
        assert [item.item for item in found if item.step == step] == ["fact:0", "fact:1"]
    asked = [r.claims for r in judge.asked if isinstance(r, VerifyClaims) and r.n_items < 13]
    assert asked == [("red tower", "blue door"), ("blue door",)]


def test_a_lexical_judge_is_asked_again_with_the_same_evidence_since_it_reads_passages() -> None:
    judge = ScriptedJudge()
    judge.lexical = True
    of_facts = [request for request in judged_by(judge, LEAKY) if request.n_items == 2]
    assert [len(request.pool) for request in of_facts] == [12, 13]
    assert of_facts[0].retrieved[0] == of_facts[1].retrieved[0]


@pytest.mark.parametrize(("cited", "share"), [([URL], (0.5, 2)), ([], (0.0, 2))])
def test_published_claims_count_in_leakage_though_their_pairs_cannot_be_told(
    cited: list[str], share: tuple[float, int]
) -> None:
    of = case([], [("red tower", cited), ("blue door", [])], reliable=False)
    assert figures(of)["leakage_rate_by_article"] == (None, 0)
    published = [claim.model_copy(update={"source": "published"}) for claim in of.claims]
    found = figures(of.model_copy(update={"claims": tuple(published)}))
    assert found["leakage_rate_by_article"] == share
    assert not cited or found["leakage_rate"] == share


@pytest.mark.parametrize(
    ("kind", "share"),
    [("explicit", 1 / 3), ("paragraph", 1 / 3), ("attributed", 1 / 3), ("published", 1 / 3),
     ("inferred", 1.0)],
)  # fmt: skip
def test_a_claim_that_only_borrows_a_marker_beyond_its_paragraph_is_uncited(
    kind: CitationKind, share: float
) -> None:
    of = case([], [("red tower", [A]), ("blue door", [A, B]), ("a view", [])], kind=kind)
    value, n_items = figures(of)["uncited_share"]
    assert value == pytest.approx(share)
    assert n_items == 3


@pytest.mark.parametrize(("reason", "found"), [(NO_URL, (1.0, 2)), ("a list alone", (None, 0))])
def test_a_report_that_cites_no_url_is_uncited_and_one_that_cannot_be_told_is_null(
    reason: str, found: tuple[float | None, int]
) -> None:
    of = case([], [("red tower", []), ("blue door", [])], reliable=False)
    assert of.extraction
    extraction = of.extraction.model_copy(update={"pairs_reason": reason})
    of = of.model_copy(update={"extraction": extraction})
    assert figures(of)["uncited_share"] == found


def test_without_an_archive_nothing_is_said_of_addresses_that_never_existed() -> None:
    row = scored(PROTOCOL, case([], RED_AND_BLUE, {A: "x", B: None}), ScriptedJudge())
    assert (row["never_existed"]["numerator"], row["never_existed"]["n_items"]) == (None, 0)
    assert row["never_existed"]["reason"].startswith("no archive was asked: `evergreen fetch`")

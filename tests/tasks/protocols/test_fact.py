"""FACT on small cases whose figures can be counted by hand."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.questions.check_citations import CheckCitations
from tasks.protocols.case import Case, ItemAnswer
from tasks.protocols.fact import NO_CITATIONS, NOT_DECIDED, STILL_OPEN, FactFramework
from tasks.warehouse.rows import OPEN_STATUSES, CitationKind, Status
from tests.tasks.protocols.framed import Told, decided, failed, ok, scored, value_of
from tests.tasks.protocols.framed import citing as case

PROTOCOL = FactFramework(load_protocol("fact"))
A, B, C = "https://a.org/", "https://b.org/", "https://c.org/"


def said(request: CheckCitations) -> list[JudgeAnswer]:
    """Supported where the claim stands on the page; a page "?" is unknown, `!` fails."""
    if request.page == "?":
        return [ok("unknown")] * request.n_items
    return [
        failed() if claim == "!" else ok("supported" if claim in request.page else "unsupported")
        for claim in request.claims
    ]


def judge() -> Told:
    return Told({CheckCitations: said})


def figures(of: Case, by: Any = None) -> dict[str, tuple[Any, ...]]:
    """By metric: numerator, items, open items, reason."""
    return {
        metric: (row["numerator"], row["n_items"], row["n_open"], row["reason"])
        for metric, row in scored(PROTOCOL, of, by or judge()).items()
    }


def test_figures_by_hand() -> None:
    # Six citations: three supported, one not, one of a page without content, one of none.
    of = case(
        [("one", [A, B]), ("two", [A]), ("three", [A]), ("four", [B]), ("five", [C])],
        {A: "one two", B: "?", C: None},
    )
    assert figures(of) == {
        "valid_rate": (2, 3, 0, None),
        "effective_citations": (2, 1, 0, None),
        "decided_citations": (3, 1, 0, None),
        "citation_evaluated_share": (3, 6, 0, None),
    }


def of_kind(kind: CitationKind, of: Case) -> Case:
    pairs = tuple(pair.model_copy(update={"kind": kind}) for pair in of.citations)
    return of.model_copy(update={"citations": pairs})


def test_a_pair_beyond_the_claims_paragraph_is_neither_judged_nor_counted() -> None:
    of = case([("one", [A]), ("two", [A])], {A: "one two"})
    first, far = of.citations[0], of_kind("inferred", of).citations[1]
    by = judge()
    found = figures(of.model_copy(update={"citations": (first, far)}), by)
    assert found["valid_rate"][:2] == (1, 1)
    assert [request.claims for request in by.asked] == [("one",)]
    assert figures(of_kind("inferred", of))["effective_citations"] == (None, 0, 0, NO_CITATIONS)


@pytest.mark.parametrize("kind", ["published", "attributed", "paragraph"])
def test_pairs_that_somebody_attributes_count_as_own_markers_do(kind: CitationKind) -> None:
    of = case([("one", [A]), ("two", [A])], {A: "one"})
    assert figures(of_kind(kind, of)) == figures(of)
    assert figures(of)["effective_citations"] == (1, 1, 0, None)


def test_a_page_is_put_to_the_judge_with_all_different_statements_that_cite_it() -> None:
    by = judge()
    of = case([("One.", [A]), ("two", [A, B]), ("ONE", [A]), ("one", [B])], {A: "One.", B: "two"})
    found = decided(PROTOCOL, of, by)
    assert {request.url: request.claims for request in by.asked} == {
        A: ("One.", "two"), B: ("two", "one"),
    }  # fmt: skip
    [double] = [d for d in found if d.step == "double"]
    assert double.item == f"claim:2 {A}"
    assert (double.answer.status, double.answer.reason) == (
        Status.SKIPPED, "says the same as claim 0",
    )  # fmt: skip


def test_a_double_counts_nowhere() -> None:
    once = figures(case([("one", [A]), ("two", [A])], {A: "one"}))
    assert figures(case([("one", [A]), ("two", [A]), ("One!", [A])], {A: "one"})) == once


def test_a_claims_redirects_to_one_page_are_one_citation() -> None:
    there, *moved = [f"https://a.org/{n}" for n in range(3)]
    cited = [("one", [there, *moved]), ("two", [there])]
    of = case(cited, dict.fromkeys([there, *moved], "one two"))
    led = {there: None, **dict.fromkeys(moved, there)}
    pages = tuple(page.model_copy(update={"final_url": led[page.url]}) for page in of.pages)
    found = figures(of.model_copy(update={"pages": pages}))
    assert found["valid_rate"][:2] == found["decided_citations"][:1] * 2 == (2, 2)
    assert figures(of)["decided_citations"][0] == 4


def test_what_is_still_to_come_is_open_and_in_no_figure() -> None:
    of = case([("one", [A]), ("!", [A]), ("three", [B])], {A: "one"})
    assert figures(of) == {
        "valid_rate": (1, 1, 2, None),
        "effective_citations": (None, 0, 2, STILL_OPEN),
        "decided_citations": (None, 0, 2, STILL_OPEN),
        "citation_evaluated_share": (1, 1, 2, None),
    }
    untried = figures(case([("one", [A]), ("two", [A, B])], {}))
    assert {*untried.values()} == {(None, 0, 3, STILL_OPEN)}


@pytest.mark.parametrize("text", [" \n\t", "https://x.org/foo\n\n<www.y.org/a> ()\n"])
def test_a_page_of_nothing_but_addresses_is_no_page(text: str) -> None:
    by = judge()
    [found] = decided(PROTOCOL, case([("one", [A])], {A: text}), by)
    assert (found.answer.status, found.answer.reason, by.asked) == (
        Status.UNFETCHABLE, "ok: its text is missing", [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Prices rose by 5.3%.", "prices  rose by 5.3%", True),
        ("Is it\u00a0red?", "is it red", True),
        ("Caf\u00e9!", "Cafe\u0301", True),
        ("Prices rose by 5.3%", "Prices rose by -5.3 %", False),
        ("C++ is fast", "C is fast", False),
        ("a < b", "a > b", False),
        ("It is C", "It is C++", False),
        ("10\u2075 came", "105 came", False),
        ("?", "!", False),
    ],
)
def test_statements_are_the_same_only_by_all_that_they_say(
    one: str, other: str, same: bool
) -> None:
    found = decided(PROTOCOL, case([(one, [A]), (other, [A])], {A: "text"}), judge())
    assert [d.step for d in found] == ["citation", "double" if same else "citation"]


def test_a_report_without_citations_is_in_no_mean_and_one_whose_pages_did_not_come_is() -> None:
    nothing = figures(case([("one", [])], {}))
    assert nothing["valid_rate"] == (None, 0, 0, NOT_DECIDED)
    assert nothing["effective_citations"] == (None, 0, 0, NO_CITATIONS)
    lost = figures(case([("one", [A])], {A: None}))
    assert lost["valid_rate"] == (None, 0, 0, NOT_DECIDED)
    assert lost["effective_citations"] == (0, 1, 0, None)
    assert lost["citation_evaluated_share"] == (0, 1, 0, None)


def test_a_report_whose_citations_cannot_be_told_says_so() -> None:
    of = case([("one", [A])], {A: "one"}, reliable=False)
    assert decided(PROTOCOL, of, judge()) == []
    assert {row["reason"] for row in scored(PROTOCOL, of, judge()).values()} == {
        "no list of sources"
    }


def test_the_offline_judge_says_supported_or_not_and_never_by_a_part() -> None:
    page = "The lighthouse was built in 1882 by James Douglass. It stands on a reef."
    of = case([("The lighthouse was built in 1882.", [A]), ("It sank in 1901.", [A])], {A: page})
    found = [d.answer for d in decided(PROTOCOL, of, OfflineJudge())]
    assert [answer.label for answer in found] == ["supported", "unsupported"]
    assert all("supported as a whole or not" in str(answer.reason) for answer in found)


STATUSES = st.lists(
    st.tuples(st.sampled_from(list(Status)),
              st.sampled_from(["supported", "unsupported", "unknown"])),
    max_size=8,
)  # fmt: skip


def rate(answers: list[tuple[Status, str]]) -> tuple[Any, ...]:
    found = [
        ItemAnswer(step="citation", item=f"claim:{n} {A}",
                answer=JudgeAnswer(status=status, label=label if status is Status.OK else None))
        for n, (status, label) in enumerate(answers)
    ]  # fmt: skip
    rows = scored(PROTOCOL, case([]), judge(), found)
    return value_of(rows["valid_rate"]), rows["effective_citations"]["numerator"]


@settings(max_examples=25, deadline=None)
@given(STATUSES)
def test_accuracy_is_a_share_of_what_was_decided_whatever_else_there_is(
    answers: list[tuple[Status, str]],
) -> None:
    share, effective = rate(answers)
    known = [a for a in answers if a[0] is Status.OK and a[1] != "unknown"]
    assert (share is None) == (not known)
    assert rate(known)[0] == share == rate(answers[::-1])[0]
    to_come = {*OPEN_STATUSES, Status.SKIPPED} & {status for status, _ in answers}
    assert (effective is None) == (not answers or bool(to_come))
    if share is not None:
        assert 0 <= share <= 1
        more = rate([*answers, (Status.OK, "supported")])
        assert more[0] >= share
        if not to_come:
            assert effective == pytest.approx(share * len(known))
            assert more[1] == effective + 1

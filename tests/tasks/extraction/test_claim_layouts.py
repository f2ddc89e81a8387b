"""Published truths and answers as nested claims, and back as rows."""

from typing import Any

import pytest

from tasks.extraction.answers import AgentAnswer, AnsweredClaim
from tasks.extraction.claim_layouts import (
    TEXT_KEY,
    TruthLayout,
    TruthValue,
    build_answered_claims,
    build_answered_rows,
    build_truth_claims,
    build_truth_items,
    derive_layout,
    normalise_key,
)
from tasks.warehouse.truths import EvalInfo, TruthClaim, TruthSettings
from tests.tasks.benchmarks.questions_builder import QUESTIONS

BY_KEY = {key: (category, truths, info) for key, category, truths, info in QUESTIONS}


def settings_of(key: str) -> tuple[str, TruthSettings]:
    category, truths, info = BY_KEY[key]
    return category, TruthSettings(
        published=tuple(truths), eval_info=EvalInfo.model_validate(info or {})
    )


def shape(claim: Any) -> tuple[Any, ...]:
    return (claim.name, claim.value, *(shape(below) for below in claim.sub_claims))


PAPER = ("paper", "A set of lakes")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        # The other keys of a row are sub-claims, and so are those of a dict with a main claim.
        ("peer", [("name", "Peer One", ("year", "2020")), ("name", "Peer Two", ("year", "2021"))]),
        ("ident", [("dataset", "LakeSet", PAPER)]),
        # Ignored keys are no claims.
        ("extract", [("dataset", "LakeSet", PAPER), ("model", "m1", ("acc", "0.9")),
                     ("model", "m2", ("acc", "0.8"))]),
        # Texts have no name.
        ("entities", [("", name) for name in BY_KEY["entities"][1][0]]),
    ],
)  # fmt: skip
def test_truths_of_each_form_become_nested_claims(key: str, expected: list[Any]) -> None:
    assert [shape(claim) for claim in build_truth_claims(*settings_of(key))] == expected


def test_a_list_of_equivalents_is_one_value_with_others() -> None:
    first = build_truth_claims(*settings_of("mat"))[0]
    assert (first.value, first.also) == ("zinc oxide", ("ZnO",))
    assert shape(first.sub_claims[0]) == ("paper_title", "Paper on zinc")


def test_a_dict_without_a_main_claim_is_a_claim_per_key() -> None:
    plain = TruthSettings(published=({"a": 1, "b": [2, 3]},))
    assert [shape(c) for c in build_truth_claims("flights", plain)] == [("a", "1"), ("b", "2; 3")]


def test_several_keys_together_tell_rows_apart() -> None:
    info = EvalInfo(primary_keys=("date", "airline"))
    row = {"airline": "Air A", "date": "May", "n": 3}
    settings = TruthSettings(published=([row],), eval_info=info)
    assert [shape(c) for c in build_truth_claims("flights", settings)] == [
        ("date, airline", "May, Air A", ("n", "3"))
    ]


def form(key: str) -> TruthLayout:
    return derive_layout(*settings_of(key))


def test_a_published_answer_is_laid_out_as_the_truth_is() -> None:
    answer = AgentAnswer(groups=({"Dataset": "LakeSet"}, [{"model": "m1", "acc": 0.9, "URL": "x"}]))
    assert [shape(c) for c in build_answered_claims(answer, form("extract"))] == [
        ("dataset", "LakeSet"),
        ("model", "m1", ("acc", "0.9")),
    ]


def test_a_nested_answer_is_taken_as_it_stands_and_becomes_rows() -> None:
    below = AnsweredClaim(name="Year", value="2020")
    answer = AgentAnswer(claims=(AnsweredClaim(value="Peer One", sub_claims=(below,)),))
    assert build_answered_claims(answer, form("peer")) == answer.claims
    assert build_answered_rows(answer, form("peer")) == (({"name": "Peer One", "year": "2020"},),)


def test_named_claims_are_the_keys_of_a_dict_that_has_no_main_claim() -> None:
    plain = derive_layout("flights", TruthSettings(published=({"a": 1, "b": 2},)))
    named = tuple(AnsweredClaim(name=name, value=name * 2) for name in "ab")
    assert build_answered_rows(AgentAnswer(claims=named), plain) == (({"a": "aa", "b": "bb"},),)


def test_an_answer_with_another_number_of_items_is_read_all_the_same() -> None:
    more = AgentAnswer(groups=(["A"], ["B"], ["C"]))
    assert build_answered_rows(more, form("entities")) == (
        ({TEXT_KEY: "A"}, {TEXT_KEY: "B"}, {TEXT_KEY: "C"}),
    )
    fewer = AgentAnswer(groups=({"dataset": "LakeSet"},))
    assert build_answered_rows(fewer, form("extract")) == (({"dataset": "LakeSet"},), ())
    assert build_answered_rows(AgentAnswer(), form("extract")) == ((), ())


def test_a_truth_that_nobody_published_has_a_published_form_too() -> None:
    truths = (
        TruthClaim(value="A", also=("AA",), sub_claims=(TruthClaim(name="year", value="1"),)),
    )
    [item] = build_truth_items("entities", TruthSettings(), truths)
    assert item.rows == ({"answer": TruthValue("A", ("AA",)), "year": TruthValue("1")},)
    [texts] = build_truth_items("entities", TruthSettings(), (TruthClaim(value="A"),))
    assert (texts.form, texts.rows) == ("texts", ({TEXT_KEY: TruthValue("A")},))


def test_keys_are_compared_without_case_and_separators() -> None:
    assert (
        normalise_key("Paper Title")
        == normalise_key("paper-title")
        == normalise_key("_paper_title_")
    )

"""Claim discovery: what is asked, what is not, and what the decisions make."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import load_protocol
from tasks.extraction.bans import InvalidBan
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.questions.grade_values import GradeValues
from tasks.judges.questions.match_claims import MatchClaims
from tasks.protocols.cell import list_requests
from tasks.protocols.claim_discovery.protocol import ClaimDiscovery
from tasks.warehouse.rows import Status
from tasks.warehouse.truths import GroundTruth, TruthClaim
from tests.scripted_judge import ScriptedJudge
from tests.tasks.benchmarks.questions_builder import ERRING
from tests.tasks.protocols.posed import BY_KEY, PERFECT, case, inverted, judged_by, prf, published


@pytest.mark.parametrize("key", list(BY_KEY))
def test_a_perfect_answer_scores_1_both_ways_without_asking_anybody(key: str) -> None:
    judge = ScriptedJudge()
    _, found = judged_by(judge, case(published(key), {"key": key, "preds": PERFECT[key]}))
    assert judge.asked == []
    assert prf(found, "claim") == prf(found, "compat") == (1, 1, 1)
    assert found["answered_share"][0] == 1


Prf = tuple[float, ...]
WORKED: dict[str, tuple[Prf, Prf]] = {
    "mat": ((0, 0, 0), (4 / 9, 1 / 4, 16 / 49)),
    "geo": ((1 / 3, 1 / 2, 2 / 5), (2 / 3, 1 / 2, 4 / 7)),
    "ident": ((0, 0, 0), (1 / 2, 1 / 2, 1 / 2)),
    "extract": ((1 / 4, 0, 0), (3 / 7, 1 / 2, 6 / 13)),
    "prior-1": ((1 / 3, 1 / 2, 2 / 5), (1 / 3, 1 / 2, 2 / 5)),
    "entities": ((1 / 2, 1 / 3, 2 / 5), (1 / 2, 1 / 3, 2 / 5)),
    "flight": ((0, 0, 0), (0, 0, 0)),
}
"""Recursive and published, worked by hand, where the judge finds nothing but the same words."""
ROWS_OF_MODELS = [{"model": "m1", "acc": "0.9"}]
TOWERS = inverted(TruthClaim(value="Tower A"), TruthClaim(value="Tower B"))
INVENTED = [{"value": "Tower A", "sub_claims": {"year": "1889"}}, {"value": "Tower B"}]
CAFE = inverted(TruthClaim(value="Café  Noir", also=("Black Coffee",)))
ANSWERED: dict[str, tuple[GroundTruth, Any, Prf | None, Prf | None]] = {
    **{
        f"errors in {key}": (published(key), {"preds": ERRING[key]}, *expected)
        for key, expected in WORKED.items()
    },
    "a true claim is matched once and the rest counts as wrong": (
        published("entities"), ["~Ada", "Ada Lovelace", "~Ada L"], (1 / 3,) * 3, (1 / 3,) * 3
    ),
    "what is invented below an atomic truth costs precision": (
        TOWERS, {"claims": INVENTED}, (1 / 2, 1, 2 / 3), None
    ),
    "another form of the letters": (CAFE, ["Cafe\u0301 noir"], (1, 1, 1), None),
    "what else is accepted": (CAFE, [" BLACK coffee "], (1, 1, 1), None),
    "an answer without claims": (published("flight"), {"claims": []}, (0, 0, 0), (0, 0, 0)),
    "a main claim graded 1 zeroes the whole task": (
        published("extract"), {"preds": [{"dataset": "~LakeSet"}, ROWS_OF_MODELS]},
        None, (0, 0, 0),
    ),
    "a main claim graded 2 does not": (
        published("extract"), {"preds": [{"dataset": "~~LakeSet"}, ROWS_OF_MODELS]},
        None, (1, 3 / 6, 2 / 3),
    ),
    "who leaves out the dict with the main claim gets nothing": (
        published("extract"), {"preds": [{}, ROWS_OF_MODELS]}, None, (0, 0, 0)
    ),
    "so does who gives a list for it": (
        published("extract"), {"preds": [[], ROWS_OF_MODELS]}, None, (0, 0, 0)
    ),
}  # fmt: skip
"""A truth, an answer, and the figures: ours and the published ones, where they are the subject."""


@pytest.mark.parametrize(
    ("truth", "answer", "claim", "compat"), ANSWERED.values(), ids=list(ANSWERED)
)
def test_an_answer_has_the_figures_worked_by_hand(
    truth: GroundTruth, answer: Any, claim: Prf | None, compat: Prf | None
) -> None:
    judge = ScriptedJudge()
    _, found = judged_by(judge, case(truth, answer))
    assert claim is None or prf(found, "claim") == pytest.approx(claim)
    assert compat is None or prf(found, "compat") == pytest.approx(compat)
    assert found["answered_share"][0] == (answer != {"claims": []})
    if truth in (TOWERS, CAFE):
        assert judge.asked == []


def test_other_words_are_for_the_judge_all_of_a_level_in_one_call() -> None:
    judge = ScriptedJudge()
    answer = ["Ada Lovelace", "~Mary", "Somebody", "~Emmy"]
    decided, found = judged_by(judge, case(published("entities"), answer))
    asked = [request for request in judge.asked if isinstance(request, MatchClaims)]
    assert {request.answered for request in asked} == {("~Mary", "Somebody", "~Emmy")}
    assert {len(request.truths) for request in asked} == {3}
    labels = {d.item: d.answer.label for d in decided if d.step == "match"}
    assert labels == {"0": "truth:0", "1": "truth:1", "2": "none", "3": "truth:2"}
    assert prf(found, "claim") == prf(found, "compat") == pytest.approx((3 / 4, 1, 6 / 7))


def test_sub_claims_are_matched_below_their_pair_alone() -> None:
    truth = inverted(
        TruthClaim(value="Tower A", sub_claims=(TruthClaim(name="year", value="1889"),)),
        TruthClaim(value="Tower B", sub_claims=(TruthClaim(name="year", value="1900"),)),
    )
    claims = [
        {"value": "Tower A", "sub_claims": [{"name": "year", "value": "1900"}]},
        {"value": "~Tower B", "sub_claims": {"year": "1900", "height": "3 m"}},
    ]
    judge = ScriptedJudge()
    decided, found = judged_by(judge, case(truth, {"claims": claims}))
    labels = {d.item: d.answer.label for d in decided if d.step == "match"}
    assert labels == {"0": "truth:0", "1": "truth:1", "0.0": "none", "1.0": "truth:1.0",
                      "1.1": "none"}  # fmt: skip
    assert prf(found, "claim") == pytest.approx((1 / 4, 1 / 2, 1 / 3))


def test_the_figures_by_the_printed_denominator_stand_beside_ours() -> None:
    truth = inverted(TruthClaim(value="Tower A", weight=3.0), TruthClaim(value="Tower B"))
    _, found = judged_by(ScriptedJudge(), case(truth, ["Tower A", "Tower C"]))
    assert prf(found, "claim") == (3 / 4, 3 / 4, 3 / 4)
    printed = [found[f"claim_{name}_printed"][0] for name in ("precision", "recall", "f1")]
    assert printed == [3 / 2, 3 / 2, 3 / 2]


@pytest.mark.parametrize("text", ["", "I found nothing.", '{"claims": ['])
def test_an_answer_that_cannot_be_read_scores_0_and_is_counted(text: str) -> None:
    judge = ScriptedJudge()
    decided, found = judged_by(judge, case(published("entities"), text))
    assert judge.asked == []
    [form] = decided
    assert form.answer.label == "unreadable"
    assert str(form.answer.reason).startswith("unreadable_answer: ")
    assert prf(found, "claim") == prf(found, "compat") == (0, 0, 0)
    assert found["answered_share"] == (0, 0, None)


def test_without_a_truth_there_is_no_figure() -> None:
    _, found = judged_by(ScriptedJudge(), case(inverted(), ["A"]))
    assert prf(found, "claim") == prf(found, "compat") == (None, None, None)
    assert found["claim_f1"] == (None, 0, "nothing is known to be true here")


def test_while_a_claim_is_undecided_there_is_no_figure_and_its_items_are_open() -> None:
    judge = ScriptedJudge(failing=frozenset({"~Mary"}))
    _, found = judged_by(judge, case(published("entities"), ["Ada Lovelace", "~Mary", "~Emmy"]))
    reason = "judge_error: not every claim has been decided"
    for kind in ("claim", "compat"):
        assert found[f"{kind}_f1"] == found[f"{kind}_recall"] == (None, 1, reason)
    assert found["answered_share"] == (1, 0, None)


class Blocked(ScriptedJudge):
    async def match_claims(self, request: MatchClaims) -> Sequence[JudgeAnswer]:
        return [JudgeAnswer(status=Status.BLOCKED, reason="safety")] * len(request.answered)


def test_what_is_blocked_is_final_and_leaves_no_figure_and_nothing_open() -> None:
    _, found = judged_by(Blocked(), case(published("entities"), ["Ada Lovelace", "~Mary"]))
    for kind in ("claim", "compat"):
        assert found[f"{kind}_f1"] == (None, 0, "blocked: not every claim has been decided")


def test_what_an_answer_would_ask_can_be_counted_beforehand() -> None:
    of = case(published("entities"), ["Ada Lovelace", "Mary"])
    asked = list_requests("claim_discovery", "gemini-3.8-flash", of, None)
    assert {(request.step, request.n_items) for request in asked} == {
        ("claim_discovery/match_claims", 1)
    }


def test_below_an_undecided_level_nothing_is_asked() -> None:
    judge = ScriptedJudge(failing=frozenset({"name: ~x"}))
    rows = [{"name": "Peer One", "year": "~2020"}, {"name": "~x", "year": "1"}]
    decided, found = judged_by(judge, case(published("peer"), rows))
    assert not [d for d in decided if d.step == "match" and "." in d.item]
    assert found["claim_f1"][1] == 1


def test_values_are_graded_but_for_those_in_the_same_words_or_absent() -> None:
    judge = ScriptedJudge()
    answer = {"flight": "~~X1", "airline": "AIR  A"}
    _, found = judged_by(judge, case(published("flight"), answer))
    [request] = [r for r in judge.asked if isinstance(r, GradeValues)]
    assert [v.name for v in request.values] == ["flight"]
    assert prf(found, "compat") == pytest.approx((1, 2 / 3, 4 / 5))


def test_rows_are_told_apart_by_their_primary_keys_alone() -> None:
    judge = ScriptedJudge()
    judged_by(judge, case(published("peer"), [{"name": "~Peer", "year": "2021"}]))
    [rows] = {
        (r.truths, r.answered)
        for r in judge.asked
        if isinstance(r, MatchClaims) and "Peer One" in r.truths
    }
    assert rows == (("Peer One", "Peer Two"), ("~Peer",))


def test_the_publisher_s_note_goes_to_the_judge() -> None:
    judge = ScriptedJudge()
    answer = {"preds": [{"dataset": "x"}, [{"model": "m"}]]}
    judged_by(judge, case(published("extract"), answer))
    assert judge.asked
    for request in judge.asked:
        assert isinstance(request, MatchClaims | GradeValues)
        assert "Sizes may be left out." in request.note
        assert request.question == "What?"


def test_the_published_figures_can_be_switched_off() -> None:
    entry = load_protocol("claim_discovery")
    plain = ClaimDiscovery(entry.model_copy(update={"parameters": {"compat_profiles": False}}))
    _, found = judged_by(ScriptedJudge(), case(published("entities"), ["Ada Lovelace"]), plain)
    assert prf(found, "claim")[0] == 1
    assert found["compat_f1"][0] is None
    assert found["compat_f1"][2].startswith("not_assessed: switched off")


VALUES = st.sampled_from(["Ada Lovelace", "Mary Somerville", "Emmy Noether", "~Ada", "~Mary", "No"])


@settings(deadline=None, max_examples=60)
@given(st.lists(VALUES, min_size=1, max_size=6), st.data())
def test_the_order_of_an_answer_changes_no_figure(said: list[str], data: Any) -> None:
    turned = data.draw(st.permutations(said))
    figures = [judged_by(ScriptedJudge(), case(published("entities"), a))[1]
               for a in (said, turned)]  # fmt: skip
    assert figures[0] == figures[1]
    for kind in ("claim", "compat"):
        assert all(0 <= value <= 1 for value in prf(figures[0], kind) if value is not None)


@settings(deadline=None, max_examples=40)
@given(st.lists(VALUES, min_size=1, max_size=5), st.data())
def test_a_duplicate_or_a_wrong_claim_more_never_raises_anything(
    said: list[str], data: Any
) -> None:
    more = data.draw(st.sampled_from([*said, "No"]))
    before, after = (judged_by(ScriptedJudge(), case(published("entities"), a))[1]
                     for a in (said, [*said, more]))  # fmt: skip
    for kind in ("claim", "compat"):
        for was, now in zip(prf(before, kind), prf(after, kind), strict=True):
            assert was is not None
            assert now is not None
            assert now <= was


ROWS = st.lists(
    st.dictionaries(st.sampled_from(["name", "year", "Name", "x"]), st.text(max_size=4)),
    max_size=4,
)


@settings(deadline=None, max_examples=60)
@given(ROWS | st.text(max_size=30), st.sampled_from(sorted(BY_KEY)))
def test_any_answer_gets_figures_between_0_and_1(answer: Any, key: str) -> None:
    _, found = judged_by(ScriptedJudge(), case(published(key), answer))
    for kind in ("claim", "compat"):
        assert all(value is not None and 0 <= value <= 1 for value in prf(found, kind))


def test_a_ban_that_cannot_be_read_names_its_question() -> None:
    answer = [{"value": "Ada Lovelace", "sources": ["https://a.example/x"]}]
    truth = published("entities", banned=("the encyclopedia",))
    with pytest.raises(InvalidBan, match="assignment 'entities': 'the encyclopedia' is to be"):
        judged_by(ScriptedJudge(), case(truth, {"claims": answer}))

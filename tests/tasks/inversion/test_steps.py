"""A judge that breaks one check, and nothing else, gets its question rejected for that reason."""

from typing import Any

import pytest

from tasks.judges.questions.answer_question import FoundAnswer
from tasks.judges.questions.find_others import OtherAnswer
from tasks.judges.questions.find_targets import SubClaim, TargetProperty
from tests.tasks.inversion.scripted import (
    DIED,
    HARD,
    LAMPS,
    NAMED,
    QUESTION,
    REFERENCE,
    RIGHT,
    SHED,
    STRIKE,
    TARGET,
    WRONG,
    ScriptedInverter,
    drafted,
    once,
    target,
)

ALIKE = (FoundAnswer(value="Mrs Oakshot of Venn"),)
SHOWN_TRUTH = "Marguerite Oakeshott (also accepted: M. Oakeshott)"
FOREIGN = "She was knighted by the king for her services to the harbour."


def others(n: int) -> tuple[OtherAnswer, ...]:
    return tuple(OtherAnswer(value=f"Someone {i}", reason="It fits.") for i in range(n))


def without(*sentences: str) -> tuple[TargetProperty, ...]:
    return tuple(p for p in TARGET.properties if p.sentence not in sentences)


def test_a_question_that_breaks_nothing_is_accepted() -> None:
    inverter = ScriptedInverter()
    draft = drafted(inverter)
    assert (draft.state, draft.reason) == ("accepted", None)
    assert draft.question == QUESTION
    assert draft.dropped == ()
    assert draft.closed_book_f1 == 0
    assert [(probe.url, probe.f1) for probe in draft.page_probes or ()] == [(REFERENCE, 0)]
    (truth,) = draft.truths
    assert (truth.value, truth.also, truth.sentence) == (TARGET.answer, TARGET.also, NAMED)
    assert [(c.name, c.value, c.sentence) for c in truth.sub_claims] == [
        ("year of death", "1891", DIED)
    ]
    assert inverter.steps() == [
        "find_targets", "pose_question", "find_others", "answer_closed_book",
        "answer_from_page", "estimate_difficulty",
    ]  # fmt: skip
    assert len(draft.call_ids) == 6


def asks(more: str) -> dict[str, Any]:
    """A question that says this as well."""
    return {"pose_question": f"{QUESTION} {more}"}


def finds(**changes: Any) -> dict[str, Any]:
    return {"find_targets": target(**changes)}


def takes(**less: Any) -> dict[str, Any]:
    return {"estimate_difficulty": HARD.model_copy(update=less)}


INVENTED = tuple(
    p.model_copy(update={"sentence": FOREIGN}) if p.sentence in (SHED, LAMPS) else p
    for p in TARGET.properties
)
OTHERWISE = {"match_claims": ((ALIKE[0].value, SHOWN_TRUTH),)}
BROKEN: dict[str, dict[str, dict[str, Any]]] = {
    "no_answer": {"the answer has no words": finds(answer="…")},
    "is_the_article": {"the answer is the article's subject": finds(answer="Port Ellery")},
    "sentence_not_in_article": {
        "the answer's sentence is made up": finds(
            sentence="Marguerite Oakeshott built the harbour of Ellery alone."
        ),
        "the answer's sentence is a scrap": finds(sentence="Marguerite Oakeshott"),
    },
    "value_not_in_sentence": {"the answer's sentence names somebody else": finds(sentence=LAMPS)},
    "too_few_properties": {
        "too few properties": finds(properties=without(SHED, LAMPS)),
        "two properties' sentences are made up": finds(properties=INVENTED),
    },
    "names_answer": {
        "the question names the answer": asks("Was it MARGUERITE OAKESHOTT’s work?"),
        "the question names a part of the answer": asks(
            "The Oakeshotts were a family of engineers."
        ),
        "the question names the answer otherwise": (
            finds(also=("Queen of Mud",)) | asks("They said: queen-of-mud.")
        ),
    },
    "names_article": {
        "the question names the article": asks("It is the port ellery harbour railway."),
        "the question names a part of the title": asks("It happened in Ellery."),
    },
    "names_sub_claim": {"the question tells what it asks for": asks("It was in 1891.")},
    "length": {
        "the question is too short": {"pose_question": "Which engineer is it, then?"},
        "the question is empty": {"pose_question": ""},
        "the question is too long": {"pose_question": QUESTION * 8},
    },
    "ngram_overlap": {
        "the question repeats the article": {
            "pose_question": "Who lit the quay with forty lamps fed by gas? "
            "Who roofed the engine shed with timber taken from boats? Who paid?"
        }
    },
    "not_unique": {"others fit and are too many": {"find_others": others(3)}},
    "known_without_search": {
        "the judge knows it": {"answer_closed_book": RIGHT},
        "the judge knows it by another name": {"answer_closed_book": ALIKE} | OTHERWISE,
        "the judge knows it and little about it": {
            "answer_closed_book": (FoundAnswer(value="M. Oakeshott"),)
        },
    },
    "single_page": {
        "one page answers it": {"answer_from_page": RIGHT},
        "one page answers it by another name": {"answer_from_page": ALIKE} | OTHERWISE,
    },
    "too_easy": {
        "it takes few queries": takes(queries=HARD.queries[:9]),
        "it takes few pieces of information": takes(units=HARD.units[:14]),
        "it takes ten minutes": takes(minutes=10),
    },
}
"""By the reason that is given: what breaks the check."""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param(changes, reason, id=what)
        for reason, of_reason in BROKEN.items()
        for what, changes in of_reason.items()
    ],
)
def test_one_broken_check_rejects_the_question(changes: dict[str, Any], reason: str) -> None:
    draft = drafted(ScriptedInverter(**changes))
    assert (draft.state, draft.reason) == ("rejected", reason), draft.detail
    assert draft.detail


def test_a_long_run_of_the_article_s_words_rejects_it_where_its_share_is_small() -> None:
    said = f"{QUESTION} Someone lit the quay with forty lamps fed by gas."
    draft = drafted(ScriptedInverter(pose_question=said), most_ngram_share=0.5)
    assert (draft.state, draft.reason) == ("rejected", "longest_run")
    assert draft.figures is not None
    assert draft.figures.longest_run == 9
    assert drafted(
        ScriptedInverter(pose_question=said), most_ngram_share=0.5, longest_common_run=9
    ).state == "accepted"  # fmt: skip


def test_a_question_with_a_problem_is_posed_again_with_the_problem_named() -> None:
    bad = f"{QUESTION} It happened in Ellery."
    inverter = ScriptedInverter(pose_question=once(bad, QUESTION))
    draft = drafted(inverter)
    assert (draft.state, draft.pose_rounds) == ("accepted", 2)
    first, second = inverter.requests("pose_question")
    assert (first.previous, first.problem) == (None, None)
    assert second.previous == bad
    assert "ellery" in second.problem


def test_a_question_that_stays_bad_is_posed_no_more_than_the_bound_allows() -> None:
    inverter = ScriptedInverter(pose_question="Too short.")
    assert drafted(inverter, pose_rounds=2).pose_rounds == 2
    assert inverter.steps() == ["find_targets", "pose_question", "pose_question"]


def test_what_fails_a_check_is_left_out_where_enough_is_left() -> None:
    made_up = SubClaim(name="honour", value="knighted", sentence=FOREIGN)
    unstated = SubClaim(name="age", value="57", sentence=DIED)
    given_away = SubClaim(name="lamps", value="gas", sentence=LAMPS)
    naming = TargetProperty(text="is called Oakeshott by all", sentence=STRIKE)
    of_title = TargetProperty(text="worked at Ellery", sentence=STRIKE)
    twice = TARGET.properties[0]
    draft = drafted(
        ScriptedInverter(
            find_targets=target(
                properties=(*TARGET.properties, twice, naming, of_title),
                sub_claims=(*TARGET.sub_claims, made_up, unstated, given_away),
            )
        )
    )
    assert draft.state == "accepted"
    assert draft.target == TARGET
    said = " | ".join(draft.dropped)
    for words in ("twice", "names the answer", "names the article", "does not stand in the article",
                  "does not state its value", "gives its value away"):  # fmt: skip
        assert words in said
    assert len(draft.dropped) == 6


def test_a_property_is_added_until_nothing_else_fits() -> None:
    inverter = ScriptedInverter(find_others=once(others(5), ()))
    draft = drafted(inverter)
    assert (draft.state, draft.refinement_rounds, draft.n_properties) == ("accepted", 1, 4)
    assert draft.others == draft.added == ()
    assert [len(r.properties) for r in inverter.requests("pose_question")] == [3, 4]


def test_refinement_ends_at_its_bound() -> None:
    inverter = ScriptedInverter(find_others=others(5))
    draft = drafted(inverter, refinement_rounds=0)
    assert (draft.reason, draft.refinement_rounds) == ("not_unique", 0)


def test_few_others_that_still_fit_join_the_truth_and_are_marked() -> None:
    draft = drafted(ScriptedInverter(find_others=others(2)))
    assert draft.state == "accepted"
    assert [truth.value for truth in draft.truths] == [TARGET.answer, "Someone 0", "Someone 1"]
    assert [truth.sentence is None for truth in draft.truths] == [False, True, True]
    assert [other.reason for other in draft.added] == ["It fits.", "It fits."]


def test_the_answer_by_another_spelling_is_no_other_answer() -> None:
    same = tuple(
        OtherAnswer(value=value, reason="")
        for value in ("marguérite oakeshott", "The M. Oakeshott", "Someone", "someone")
    )
    assert [o.value for o in drafted(ScriptedInverter(find_others=same)).others] == ["Someone"]


def test_a_wrong_answer_from_memory_is_the_baseline_of_an_accepted_question() -> None:
    draft = drafted(ScriptedInverter(answer_closed_book=WRONG))
    assert (draft.state, draft.closed_book_f1, draft.closed_book) == ("accepted", 0, WRONG)


def test_where_a_main_claim_alone_is_no_answer_the_bounds_of_f1_decide() -> None:
    half = (*RIGHT, *WRONG)  # precision 1/2, recall 1
    by_f1 = {"main_claim_suffices": False, "most_closed_book_f1": 0.7}
    draft = drafted(ScriptedInverter(answer_closed_book=half), **by_f1)
    assert draft.state == "accepted"
    assert draft.closed_book_f1 == pytest.approx(2 / 3)
    stricter = by_f1 | {"most_closed_book_f1": 0.6}
    assert drafted(ScriptedInverter(answer_closed_book=half), **stricter).reason == (
        "known_without_search"
    )

"""The five features: shares that grow with agreement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judges.offline.lexical import FEATURE_NAMES, PASSAGE, SentencePool
from tasks.judges.offline.retrieval import Bm25

POOL = (
    "The Packers trailed 23–0 at halftime.",
    "Lynn Dickey led the Packers to five touchdowns.",
    "The crowd of 53,694 went home happy.",
    "Snow fell in Milwaukee.",
)
TEXT = st.text(alphabet="Packers trailed 23 five.,", max_size=60)


def features(claim: str, pool: tuple[str, ...] = POOL) -> dict[str, float]:
    found = SentencePool(pool).compare(claim, Bm25(pool).top(claim, 10))
    return dict(zip(FEATURE_NAMES, found.features.row(), strict=True))


def test_a_sentence_agrees_with_itself_fully() -> None:
    assert features(POOL[0]) == pytest.approx(dict.fromkeys(FEATURE_NAMES, 1.0))


def test_an_unrelated_claim_agrees_in_nothing() -> None:
    found = features("Ants farm fungus.")
    assert found == dict.fromkeys(FEATURE_NAMES, 0.0)


def test_terms_count_together_in_one_passage_and_not_across_a_text() -> None:
    apart = ("Dickey led the team.", *["The crowd went home."] * PASSAGE, "Snow fell in Milwaukee.")
    together = (apart[0], apart[-1])
    claim = "Dickey led in the snow of Milwaukee"
    assert features(claim, together)["passage"] == pytest.approx(1.0)
    assert features(claim, apart)["passage"] < 0.8


def test_more_text_about_other_matters_changes_no_feature() -> None:
    others = tuple(f"Ants of colony {n} farm fungus under the old oak." for n in range(900))
    for claim in (POOL[0], "Dickey led the Packers in Milwaukee", "Packers trailed 24-0 in snow"):
        assert features(claim, POOL + others) == pytest.approx(features(claim))


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    assert features("time unicorn", ("A time.",))["passage"] < 0.3
    assert features("Dickey unicorn")["passage"] == pytest.approx(0.5)


def test_the_subjects_words_weigh_less_and_alone_suffice() -> None:
    claim, pool = "The Milwaukee Packers trailed", SentencePool(("They trailed.",))
    plain, told = pool.compare(claim, (0,)), pool.compare(claim, (0,), "Milwaukee Packers")
    assert told.features.passage > plain.features.passage + 0.1
    own = SentencePool(POOL).compare("Packers", (0,), "Packers")
    assert own.features.passage == pytest.approx(1.0)


def test_the_best_sentence_is_the_one_that_holds_most() -> None:
    claim = "Dickey led the Packers"
    assert SentencePool(POOL).compare(claim, (0, 1, 2)).best == 1


def test_a_sentence_that_shares_no_term_is_no_evidence() -> None:
    """A retriever may fill up with such sentences."""
    found = SentencePool(POOL).compare("Ants farm fungus 9", (0, 1, 2, 3))
    assert (found.best, found.veto) == (None, None)


def test_a_number_that_no_evidence_holds_is_named() -> None:
    pool = SentencePool(POOL)
    assert pool.compare("Packers trailed 23–0", (0, 1)).veto is None
    assert pool.compare("Packers trailed 24–0", (0, 1)).veto == "number 24 missing"
    assert pool.compare("Dickey led 5 touchdowns", (1,)).veto is None
    assert pool.compare("53694 in the crowd", (2,)).veto is None


@given(TEXT, st.lists(TEXT, max_size=6))
def test_every_feature_is_a_share(claim: str, pool: list[str]) -> None:
    found = SentencePool(pool).compare(claim, Bm25(pool).top(claim, 10))
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in found.features.row())
    assert (found.best is None) == (not Bm25(pool).top(claim, 10))

"""The eight features: shares that grow with agreement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judges.offline.lexical import FEATURE_NAMES, SentencePool
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


def test_terms_spread_over_distant_sentences_count_in_all_but_not_in_one_passage() -> None:
    found = features("The Packers trailed in Milwaukee")
    assert found["whole"] == found["top_10"] == pytest.approx(1.0)
    assert found["window"] < 1


def test_a_rare_term_weighs_more_than_a_common_one() -> None:
    assert features("Packers unicorn")["whole"] < features("Milwaukee unicorn")["whole"]


def test_the_best_sentence_is_the_one_that_holds_most() -> None:
    claim = "Dickey led the Packers"
    assert SentencePool(POOL).compare(claim, (0, 1, 2)).best == 1


def test_a_number_that_no_evidence_holds_is_named() -> None:
    pool = SentencePool(POOL)
    assert pool.compare("Packers trailed 23–0", (0, 1)).missing_numbers == ()
    assert pool.compare("Packers trailed 24–0", (0, 1)).missing_numbers == ("24",)
    assert pool.compare("Dickey led 5 touchdowns", (1,)).missing_numbers == ()
    assert pool.compare("53694 in the crowd", (2,)).missing_numbers == ()


@given(TEXT, st.lists(TEXT, max_size=6))
def test_every_feature_is_a_share(claim: str, pool: list[str]) -> None:
    found = SentencePool(pool).compare(claim, Bm25(pool).top(claim, 10))
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in found.features.row())
    assert (found.best is None) == (not Bm25(pool).top(claim, 10))

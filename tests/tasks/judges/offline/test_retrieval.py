"""Evidence is found by its words, in an order that never changes."""

from random import Random

import bm25s
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.judges.offline.retrieval import Bm25, EvidenceRetriever
from tasks.judges.text import extract_terms

SENTENCES = (
    "Lynn Dickey threw three touchdown passes.",
    "The stadium opened in 1953.",
    "Dickey's passes won the game.",
    "The stadium opened in 1953.",
)
WORDS = st.lists(st.sampled_from(["river", "bridge", "1953", "the", "Dickey", ""]), max_size=6)


def test_the_sentence_that_shares_most_comes_first() -> None:
    assert Bm25(SENTENCES).top("Three touchdowns were passed by Dickey", 10) == (0, 2)


def test_many_equal_sentences_keep_their_order() -> None:
    pool = [f"Station {'bridge' if i % 3 else 'river'}" for i in range(60)]
    assert Bm25(pool).top("river", 60) == tuple(range(0, 60, 3))


def test_a_sentence_that_shares_no_term_is_no_evidence() -> None:
    assert Bm25(SENTENCES).top("parasitic ants of Malaysia", 10) == ()


def test_an_empty_pool_or_query_finds_nothing() -> None:
    assert Bm25(()).top("Dickey", 10) == ()
    assert Bm25(("the", "", "of")).top("Dickey", 10) == ()
    assert Bm25(SENTENCES).top_many(["", "the of"], 10) == ((), ())
    assert Bm25(SENTENCES).top("Dickey", 0) == ()


@given(st.lists(WORDS.map(" ".join), max_size=8), WORDS.map(" ".join), st.integers(0, 5))
def test_hits_are_distinct_places_in_the_pool(pool: list[str], query: str, k: int) -> None:
    hits = Bm25(pool).top(query, k)
    assert len(set(hits)) == len(hits) <= k
    assert all(0 <= hit < len(pool) for hit in hits)


def test_the_order_is_the_one_that_bm25s_gives() -> None:
    draw = Random(7)
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]
    pool = [" ".join(draw.choices(words, k=draw.randint(1, 40))) for _ in range(300)]
    reference = bm25s.BM25()
    reference.index([list(extract_terms(one)) for one in pool], show_progress=False)
    for _ in range(40):
        query = " ".join(draw.choices(words, k=4))
        scores = reference.get_scores(list(extract_terms(query)))
        order = np.argsort(-scores, kind="stable")
        assert Bm25(pool).top(query, 300) == tuple(int(i) for i in order if scores[i] > 0)


POOL = ("Completed in 1698.", "It rained.", "Le phare fut achevé.", "Complétée tard.")


def test_a_judge_gets_as_many_sentences_as_it_is_to_see() -> None:
    found = EvidenceRetriever(POOL).top("Construction finished late in the seventeenth century", 3)
    assert len(found) == len(set(found)) == 3


def test_sentences_that_share_terms_come_before_those_that_share_parts_of_words() -> None:
    pool = ("Nothing at all.", "Reconstruction matters.", "The bridge was built.")
    assert EvidenceRetriever(pool).top("Construction of the bridge", 3) == (2, 1, 0)


@given(WORDS, st.lists(st.sampled_from(SENTENCES), max_size=8), st.integers(1, 12))
def test_evidence_is_all_of_a_short_text_and_k_of_a_long_one(
    words: list[str], pool: list[str], k: int
) -> None:
    found = EvidenceRetriever(pool).top(" ".join(words), k)
    assert len(found) == min(k, len(pool)) == len(set(found))
    assert found[: len(Bm25(pool).top(" ".join(words), k))] == Bm25(pool).top(" ".join(words), k)

"""The fused retriever finds by meaning what shares no word, and by words what embeddings miss."""

from tasks.judges.offline.retrieval import Bm25, FusedIndex

SENTENCES = [
    "The stadium seats forty thousand spectators.",
    "Her father was a baker in Lyon.",
    "The physician cured many patients during the epidemic.",
    "Serial number QX-17 was painted on the hull.",
]


def test_another_word_for_the_same_thing_is_found() -> None:
    query = "A doctor healed the sick"
    assert Bm25(SENTENCES).top_many([query], 1) != ((2,),)
    assert FusedIndex(SENTENCES).top_many([query], 1) == ((2,),)


def test_a_rare_word_is_found() -> None:
    assert FusedIndex(SENTENCES).top_many(["QX-17"], 1) == ((3,),)


def test_the_best_come_first_at_most_k_and_always_the_same() -> None:
    index = FusedIndex(SENTENCES)
    found = index.top_many(["the baker", "the stadium"], 2)
    assert [len(indices) for indices in found] == [2, 2]
    assert [indices[0] for indices in found] == [1, 0]
    assert found == FusedIndex(SENTENCES).top_many(["the baker", "the stadium"], 2)


def test_nothing_to_search_gives_nothing() -> None:
    assert FusedIndex([]).top_many(["a"], 3) == ((),)
    assert FusedIndex(SENTENCES).top_many([], 3) == ()

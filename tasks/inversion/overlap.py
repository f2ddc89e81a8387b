"""How much of one text stands word for word in another. Texts come as their words, in order."""

from collections.abc import Sequence


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Every run of n words, repeated as they occur; none in a shorter text."""
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def shared_share(words: Sequence[str], text: Sequence[str], n: int) -> float | None:
    """Share 0-1 of the n-grams of `words` that stand in `text`; None where there are none."""
    runs = ngrams(words, n)
    if not runs:
        return None
    there = set(ngrams(text, n))
    return sum(run in there for run in runs) / len(runs)


def longest_common_run(words: Sequence[str], text: Sequence[str]) -> int:
    """Length in words of the longest run that both hold.

    A common run of n words holds one of n-1, so its length is found by halving.
    """
    shortest, longest = 0, min(len(words), len(text))
    while shortest < longest:
        n = (shortest + longest + 1) // 2
        if set(ngrams(words, n)) & set(ngrams(text, n)):
            shortest = n
        else:
            longest = n - 1
    return shortest

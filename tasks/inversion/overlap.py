"""Verbatim overlap of two texts, given as their words in order."""

from collections.abc import Sequence


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Return every run of n words, with repetitions; empty for a shorter text."""
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def shared_share(words: Sequence[str], text: Sequence[str], n: int) -> float | None:
    """Return the share, 0-1, of the n-grams of `words` that are in `text`; None without n-grams."""
    runs = ngrams(words, n)
    if not runs:
        return None
    text_runs = set(ngrams(text, n))
    return sum(run in text_runs for run in runs) / len(runs)


def longest_common_run(words: Sequence[str], text: Sequence[str]) -> int:
    """Return the length in words of the longest common run.

    A common run of n words contains one of n-1, so a binary search finds the length.
    """
    shortest, longest = 0, min(len(words), len(text))
    while shortest < longest:
        n = (shortest + longest + 1) // 2
        if set(ngrams(words, n)) & set(ngrams(text, n)):
            shortest = n
        else:
            longest = n - 1
    return shortest

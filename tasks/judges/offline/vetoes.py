"""Why a sentence that shares a claim's words may still not say it: other numbers, a denial.

Pure rules on a claim and the sentence that comes closest to it. They see denials in near copies
only: one in other words passes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from tasks.judges.text import extract_numbers, extract_spelled_numbers, tokenize

LEAST_SHARED = 0.75
"""Share of the claim's other words that must recur in the sentence, to compare numbers: elsewhere
another number speaks of another matter."""
LEAST_ALIGNED = 0.7
"""Share of the claim's words that must recur in the sentence, in order, to compare denials."""
FAR = 3
"""Words that stand between two matching passages of the sentence and not of the claim."""
_NEGATION = re.compile(
    r"\b(?:not|never|neither|nor|none|nobody|nothing|nowhere|no(?!\.?\s*\d))\b"
    r"(?!\s+(?:only|just|merely|simply|doubt)\b)"  # "not only" and "no doubt" affirm
    r"(?!\s+(?:fewer|less|more|later|earlier)\s+than\b)"
    r"(?!(?:\s+\w+){0,4}\s+until\b)"  # "was not opened until 1882": it was, in 1882
)
_QUOTED = re.compile(r"[\"“][^\"“”]{1,400}[\"”]|(?<!\w)['‘][^\n]{1,400}?['’](?!\w)")
_SHORT_NOT = re.compile(r"n['’]t\b|(?<=\bcan)not\b")


class _Words(NamedTuple):
    """The words of a text without its negations."""

    words: tuple[str, ...]
    negations: tuple[int, ...]
    """For each negation, the index of the word that follows it."""


def exchanges_numbers(claim: str, sentence: str) -> bool:
    """Whether a sentence much like the claim lacks one of its numbers and has another instead."""
    claimed = extract_numbers(claim)
    if not claimed or claimed <= find_all_numbers(sentence):
        return False
    if extract_numbers(sentence) <= find_all_numbers(claim):
        return False
    words = [word for word in _read_words(claim).words if not word[0].isdigit()]
    return _count_shared(words, _read_words(sentence).words) >= LEAST_SHARED * len(words)


def denies(claim: str, sentence: str) -> bool:
    """Whether one of the two denies what the other says in nearly the same words.

    Two negations cancel out. "neither … nor" is one, and "No. 1" is none.
    """
    claimed, said = _read_words(claim), _read_words(sentence)
    if not claimed.negations and not said.negations:
        return False
    least = LEAST_ALIGNED * len(claimed.words)
    if _count_shared(claimed.words, said.words) < least:
        return False  # spares most sentences the alignment, which is slow
    matcher = SequenceMatcher(None, claimed.words, said.words, autojunk=False)
    blocks = _trim([block for block in matcher.get_matching_blocks() if block.size], least)
    if not blocks or sum(block.size for block in blocks) < least:
        return False
    first, last = blocks[0], blocks[-1]
    in_claim = _count_between(claimed.negations, first.a, last.a + last.size)
    in_sentence = _count_between(said.negations, first.b, last.b + last.size)
    return in_claim % 2 != in_sentence % 2


def _trim(blocks: list[Match], least: float) -> list[Match]:
    """Drop blocks at both ends that stand far from the rest, as long as enough words are left.

    "the" recurs anywhere, and what is denied in between is another matter.
    """
    left = sum(block.size for block in blocks)
    for end, inward in ((0, 1), (-1, -2)):
        while len(blocks) > 1 and left - blocks[end].size >= least:
            before, after = sorted((blocks[end], blocks[inward]))
            gap = after.b - before.b - before.size
            if gap - (after.a - before.a - before.size) < FAR:
                break
            left -= blocks.pop(end).size
    return blocks


@lru_cache(maxsize=16_384)
def find_all_numbers(text: str) -> frozenset[str]:
    """Return the numbers written in digits or words."""
    return extract_numbers(text) | extract_spelled_numbers(text)


@lru_cache(maxsize=4_096)
def _read_words(text: str) -> _Words:
    text = _SHORT_NOT.sub(" not", _QUOTED.sub(_mask_negations, text.lower()))
    words: list[str] = []
    negations: list[int] = []
    end = 0
    for found in _NEGATION.finditer(text):
        words += tokenize(text[end : found.start()])
        end = found.end()
        if found[0] != "nor" or not negations:
            negations.append(len(words))
    return _Words((*words, *tokenize(text[end:])), tuple(negations))


def _mask_negations(quoted: re.Match[str]) -> str:
    """Keep the words of a title or quotation, but not their denials: they are somebody else's."""
    return _NEGATION.sub("", _SHORT_NOT.sub("", quoted[0]))


def _count_shared(wanted: Sequence[str], found: Sequence[str]) -> int:
    """Count the words that both have, repetitions as often as both repeat them."""
    return sum((Counter(wanted) & Counter(found)).values())


def _count_between(places: Sequence[int], start: int, end: int) -> int:
    """Count the negations inside a span of words, or right before it."""
    return sum(start <= place < end for place in places)

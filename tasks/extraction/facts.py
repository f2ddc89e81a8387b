"""Facts of a reference article: its sentences, and the positions of published facts in it, found by
shared words weighted by rarity."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.extraction.blocks import parse_outline
from tasks.extraction.languages import count_words, is_wide
from tasks.extraction.sentences import MIN_WORDS, split_block

MIN_SHARE = 0.4
"""A fact is located in a sentence that holds at least this share of its weighted words."""
_WORD = re.compile(r"[^\W_]+")
_PREFIX_LETTERS = 6
"""Words with the same first six letters count as equal: a cheap stemmer for any language."""
ORDER_WEIGHT = 0.15
"""Weight of the order of statements against shared words."""


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    text: str
    section: str | None
    """Heading path, outermost first (`History > Early years`); None for the lead."""
    position: int | None
    """Offset of its first character in the article; None if unknown."""


def extract_facts(title: str, markdown: str) -> tuple[ExtractedFact, ...]:
    """Extract the sentences of an article's prose, lists and tables, in order."""
    facts: list[ExtractedFact] = []
    measure = count_words if is_wide(markdown) else lambda text: len(text.split())
    for block in parse_outline(markdown, title).blocks:
        if block.apparatus:
            continue
        section = " > ".join(block.section) or None
        facts += (
            ExtractedFact(sentence.text, section, sentence.start)
            for sentence in split_block(markdown, block)
            if measure(sentence.text) >= MIN_WORDS
        )
    return tuple(facts)


def locate_facts(facts: Sequence[str], markdown: str) -> list[tuple[str | None, int | None]]:
    """Return section and offset of the sentence that each fact was most likely made from.

    Facts are rewritten sentences in the order of the text. (None, None) if no sentence shares
    enough words with a fact.
    """
    sentences = extract_facts("", markdown)
    places = match_statements(facts, [sentence.text for sentence in sentences], MIN_SHARE)
    return [
        (None, None) if place is None else (sentences[place].section, sentences[place].position)
        for place in places
    ]


def match_statements(
    statements: Sequence[str], sentences: Sequence[str], least_share: float
) -> list[int | None]:
    """Return the index of the sentence that each statement was most likely made from.

    Args:
        statements: Rewritten sentences, in the order of the text.
        least_share: The share (0-1) of a statement's weighted words that its sentence must hold;
            None if no sentence does.
    """
    index = _SentenceIndex(sentences)
    places: list[int | None] = []
    last = 0
    for statement in statements:
        place, share = index.find_best(statement, last)
        if share < least_share:
            places.append(None)
        else:
            last = place
            places.append(place)
    return places


class _SentenceIndex:
    """Sentences of one text, searchable by shared words."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths: list[int] = []
        for number, sentence in enumerate(sentences):
            words = _split_words(sentence)
            self._lengths.append(len(words))
            for word in words:
                self._postings[word].append(number)

    def find_best(self, statement: str, near: int) -> tuple[int, float]:
        """Return the sentence that holds most of a statement, and the share (0-1) that it holds.

        near: The sentence expected next. Others lose up to ORDER_WEIGHT of their share by distance
            from it (half of that 3 sentences ahead or 2 behind).
        """
        words = _split_words(statement)
        weights = {word: self._weight(word) for word in words}
        total = sum(weights.values())
        held: Counter[int] = Counter()
        for word in words:
            for number in self._postings.get(word, ()):
                held[number] += weights[word]  # type: ignore[assignment]
        if not held or not total:
            return near, 0.0
        best = max(held, key=lambda n: (self._adjust(n, held[n] / total, near), -n))
        return best, held[best] / total

    def _adjust(self, number: int, share: float, near: int) -> float:
        distance = number - near if number >= near else 1.5 * (near - number)
        brevity = 0.02 / (1 + self._lengths[number])
        return share + brevity - ORDER_WEIGHT * distance / (distance + 3)

    def _weight(self, word: str) -> float:
        """Return the inverse document frequency; an unknown word weighs as much as the rarest."""
        frequency = len(self._postings.get(word, ())) or 1
        return math.log(1 + len(self._lengths) / frequency)


def _split_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, cut to their first six letters."""
    return frozenset(word[:_PREFIX_LETTERS] for word in _WORD.findall(text.casefold()))

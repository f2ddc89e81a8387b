"""What the oracle compares: words and sentences."""

import re

MOST = 0.6
"""Share of a statement's words that must stand in one sentence."""
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_PASSAGE = re.compile(r"(?:\S+\s+){0,39}\S+")


def words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def sentences_of(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def passage_of(sentence: str) -> str:
    """Its first forty words."""
    found = _PASSAGE.search(sentence)
    return found[0] if found else ""


def closest(statement: str, texts: list[set[str]]) -> tuple[int, float, bool]:
    """Index of the text (as words) that holds most of a statement's words, which share of them,
    and whether it lacks a number of it."""
    said = words_of(statement)
    numbers = {word for word in said if word[0].isdigit()}
    words = said - numbers
    best, share, differs = -1, 0.0, False
    for index, there in enumerate(texts):
        held = len(words & there) / len(words) if words else 0.0
        other_number = not numbers <= there
        if held > share or (held == share and differs and not other_number):
            best, share, differs = index, held, other_number
    return best, share, differs

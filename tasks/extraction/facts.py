"""Facts of a reference article: its sentences, and the positions of published facts in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.extraction.blocks import parse_outline
from tasks.extraction.matching import match_statements
from tasks.extraction.sentences import MIN_WORDS, split_block

MIN_SHARE = 0.4
"""A fact is located in a sentence that holds at least this share of its weighted words."""


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
    for block in parse_outline(markdown, title).blocks:
        if block.apparatus:
            continue
        section = " > ".join(block.section) or None
        facts += (
            ExtractedFact(sentence.text, section, sentence.start)
            for sentence in split_block(markdown, block)
            if len(sentence.text.split()) >= MIN_WORDS
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

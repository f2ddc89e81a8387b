"""Facts of a reference article: its sentences, and where published facts stand in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.extraction.blocks import outline
from tasks.extraction.matching import SentenceIndex
from tasks.extraction.sentences import MIN_WORDS, block_sentences

MIN_SHARE = 0.4
"""A fact is placed in a sentence that holds at least this share of its weighed words."""
ORDER_PULL = 0.15
"""How much the order of facts counts against shared words."""


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    text: str
    section: str | None
    """Heading path, outermost first (`History > Early years`); None for the lead."""
    position: int | None
    """Offset of its first character in the article; None where it cannot be told."""


def extract_facts(title: str, markdown: str) -> tuple[ExtractedFact, ...]:
    """The sentences of an article's prose, lists and tables, in order."""
    facts: list[ExtractedFact] = []
    for block in outline(markdown, title).blocks:
        if block.apparatus:
            continue
        section = " > ".join(block.section) or None
        facts += (
            ExtractedFact(sentence.text, section, sentence.start)
            for sentence in block_sentences(markdown, block)
            if len(sentence.text.split()) >= MIN_WORDS
        )
    return tuple(facts)


def locate_facts(facts: Sequence[str], markdown: str) -> list[tuple[str | None, int | None]]:
    """Section and offset of the sentence each fact was most likely made from.

    Facts are rewritten sentences in the order of the text. (None, None) where no sentence
    shares enough words with a fact.
    """
    sentences = extract_facts("", markdown)
    index = SentenceIndex([sentence.text for sentence in sentences])
    places: list[tuple[str | None, int | None]] = []
    last = 0
    for fact in facts:
        found = index.best(fact, near=last, pull=ORDER_PULL)
        if found is None or found.share < MIN_SHARE:
            places.append((None, None))
            continue
        last = found.index
        places.append((sentences[last].section, sentences[last].position))
    return places

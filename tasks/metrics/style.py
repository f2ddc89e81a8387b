"""Style figures of one Markdown text: diagnostics, not verdicts.

They tell reports from encyclopedia articles, not good from bad. The citation density of reference
articles says nothing, as their citation markers are removed.

Flesch reading ease, with syllables by hyphenation: Flesch, "A new readability yardstick", Journal
of Applied Psychology 32 (1948). Words and sentences are counted and rounded as textstat 0.7.4 does
it, so that figures can be compared with those of other pipelines that use it.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from math import copysign, floor

from pyphen import Pyphen

from tasks.configuration.criteria import WordsToWatch

STYLE_VERSION = "style-2"
"""Changes with the definition of any figure and with the words to watch."""

MAX_READABILITY_WORD_CHARS = 50
"""Longer "words" (addresses, hashes) do not count towards readability."""

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PUNCTUATION = re.compile(r"[^\w\s]")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
_AS_WRITTEN = str.maketrans("’İıſ", "'iis")
"""Apostrophes, and the letters that are the same as others only if case is ignored."""
SHORTEST_SENTENCE = 3
"""Words; what is shorter (headings, abbreviations) counts as part of another sentence."""


@dataclass(frozen=True, slots=True)
class TextShape:
    """A text's prose and structure, without reference sections."""

    lead: str
    """Prose before the first section, one block per line."""
    prose: str
    """All prose, markup, markers and headings removed."""
    n_sections: int
    depth: int
    """Levels of headings below the title: 0 without sections."""
    n_citations: int
    """Citations in the prose; `[1, 2]` counts as two."""


@dataclass(frozen=True, slots=True)
class StyleFigure:
    """One figure of one text."""

    value: float | None
    """None where the text has no words."""
    unit: str


def measure_style(found: TextShape, words: WordsToWatch) -> dict[str, StyleFigure]:
    """Return a text's style figures by name; all values are None if it has no words.

    `words_to_watch` and one `words_to_watch_<category>` each (per 1,000 words), `words`,
    `lead_words`, `lead_share` (0-1 of the words), `sections`, `section_depth` (deepest level
    below the title), `citations_per_100_words`, `flesch` (reading ease; higher is easier,
    prose lies mostly between 0 and 100). Reference lists count nowhere.
    """
    prose = found.prose
    n_words = _count_words(prose)
    figures = _count_watched(prose, n_words, words) | _measure_shape(found, n_words)
    kept = [word for word in prose.split() if len(word) <= MAX_READABILITY_WORD_CHARS]
    ease = flesch_reading_ease(" ".join(kept)) if n_words else None
    figures["flesch"] = StyleFigure(ease, "reading ease")
    return figures


def _count_watched(prose: str, n_words: int, words: WordsToWatch) -> dict[str, StyleFigure]:
    """Count words to watch per 1,000 words, in total and per category."""
    text = prose.translate(_AS_WRITTEN).lower()
    counts = {
        category: len(_compile_phrases(phrases).findall(text)) if n_words else 0
        for category, phrases in words.categories.items()
    }
    named = {f"words_to_watch_{category}": count for category, count in counts.items()}
    named["words_to_watch"] = sum(counts.values())
    return {
        name: StyleFigure(1_000 * count / n_words if n_words else None, "per 1,000 words")
        for name, count in named.items()
    }


def _measure_shape(found: TextShape, n_words: int) -> dict[str, StyleFigure]:
    """Measure length, lead, sections and citations."""
    lead_words = _count_words(found.lead)
    figures = {
        "words": (n_words, "words"),
        "lead_words": (lead_words, "words"),
        "lead_share": (lead_words / max(n_words, 1), "share"),
        "sections": (found.n_sections, "sections"),
        "section_depth": (found.depth, "levels"),
        "citations_per_100_words": (100 * found.n_citations / max(n_words, 1), "per 100 words"),
    }
    return {
        name: StyleFigure(float(value) if n_words else None, unit)
        for name, (value, unit) in figures.items()
    }


def _count_words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


@lru_cache(maxsize=64)
def _compile_phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Match any phrase as whole words of a text in lower case, across line breaks; the longest
    first. Ignoring case would take twice as long."""
    alternatives = [
        r"\s+".join(
            r"\w{1,40}(?:\s\w{1,40})?" if word == "*" else re.escape(word)
            for word in phrase.lower().split()
        )
        for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    ]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(alternatives)})(?![\w-])")


def flesch_reading_ease(text: str) -> float:
    """Return 206.835 - 1.015 words/sentence - 84.6 syllables/word: about 0 (hard) to 100 (easy).

    A text without words has 206.835, as both means then are 0.
    """
    words = _words(text)
    lengths = [len(_words(sentence)) for sentence in _SENTENCE.findall(text)]
    sentences = sum(length >= SHORTEST_SENTENCE for length in lengths)
    syllables = sum(count_syllables(word.lower()) for word in words)
    words_per_sentence = _round(len(words) / max(1, sentences), 1)
    syllables_per_word = _round(syllables / len(words), 1) if words else 0.0
    return _round(206.835 - 1.015 * words_per_sentence - 84.6 * syllables_per_word, 2)


@lru_cache(100_000)
def count_syllables(word: str) -> int:
    """Count the places where the word may be hyphenated in US English, and one."""
    return len(_hyphenation().positions(word)) + 1


@cache
def _hyphenation() -> Pyphen:
    return Pyphen(lang="en_US")


def _words(text: str) -> list[str]:
    return _PUNCTUATION.sub("", text).split()


def _round(number: float, digits: int) -> float:
    """Round half away from zero."""
    factor = 10.0**digits
    return floor(number * factor + copysign(0.5, number)) / factor

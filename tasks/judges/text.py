"""Text as the offline judge reads it: terms, numbers, entities, readable sentences.

All functions are pure, linear in the length of their text and never raise: pages, reports
and claims are untrusted input.
"""

import re
from functools import cache, lru_cache

import Stemmer

MAX_SENTENCE_CHARS = 1_000
"""Longer "sentences" (tables, lists, minified text) are cut at a space."""
_MAX_LINE_CHARS = 2_000
"""The splitter's time grows with the square of odd lines: it is handed pieces of this size."""

_MIN_SPLIT_CHARS = 40
"""Shorter lines (menu entries, headings) are one sentence: not worth the splitter."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CAPITALISED = re.compile(r"[^\W\d_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")

_LINK_TARGET = re.compile(r"\]\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,2000}){0,8}\)")
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,500}\]")
_CITATION_MARKER = re.compile(r"\[{1,2}\d{1,3}\]{1,2}")
_BARE_URL = re.compile(r"https?://\S+")
_MARKUP = re.compile(r"[\[\]*_`#|>\\]+")
_PUNCTUATION_RUN = re.compile(r"[^\w\s]{8,}")
_SPACES = re.compile(r"[^\S\n]+")
ADDRESS = re.compile(r"(?:https?://|\bwww\.)\w[^\s()\[\]<>\"']*", re.IGNORECASE)
"""A web address as it stands in a text."""

_NUMBER_WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
    "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17",
    "eighteen": "18", "nineteen": "19", "twenty": "20",
}  # fmt: skip

_stemmer = Stemmer.Stemmer("porter")


def normal_number(token: str) -> str:
    """`53,694` → `53694`, `007` → `7`, `2.50` → `2.5`: one spelling per value."""
    if "," in token:
        token = token.replace(",", "") if _THOUSANDS.match(token) else token.replace(",", ".")
    if token.count(".") == 1:
        token = token.rstrip("0").rstrip(".")
    return token.lstrip("0") or "0"


@cache
def stop_words() -> frozenset[str]:
    """Words that say nothing of what a text is about, in lower case."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS  # the package loads SciPy

    return frozenset(STOPWORDS_EN_PLUS)


@lru_cache(maxsize=200_000)
def _term(token: str) -> str | None:
    """The index term of one lower-case token; None for a stop word."""
    if token[0].isdigit():
        return normal_number(token)
    if token in stop_words():
        return None
    return str(_stemmer.stemWord(token))


@lru_cache(maxsize=16_384)
def terms(text: str) -> tuple[str, ...]:
    """Stemmed terms in text order, repeated as they occur; stop words dropped."""
    found = (_term(token) for token in _TOKEN.findall(text.lower()))
    return tuple(term for term in found if term is not None)


def numbers(text: str) -> frozenset[str]:
    """The numbers written in digits, each in its normal spelling."""
    return frozenset(normal_number(token) for token in _NUMBER.findall(text))


def spelled_numbers(text: str) -> frozenset[str]:
    """The numbers written as words from zero to twenty, in digits."""
    words = _CAPITALISED.findall(text.lower())
    return frozenset(_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS)


def entities(text: str) -> frozenset[str]:
    """Terms of the capitalised words: names, mostly, and the word a sentence starts with."""
    capitalised = (word.lower() for word in _CAPITALISED.findall(text) if word[0].isupper())
    found = (_term(word) for word in capitalised)
    return frozenset(term for term in found if term is not None)


def readable(markdown: str) -> str:
    """The text a reader sees: no images, link targets, addresses, citation numbers or markup."""
    text = _LINK_TARGET.sub("]", markdown)
    text = _IMAGE.sub(" ", text)
    text = _CITATION_MARKER.sub(" ", text)
    text = _BARE_URL.sub(" ", text)
    return _SPACES.sub(" ", _MARKUP.sub(" ", text))


def sentences(text: str) -> tuple[str, ...]:
    """Sentences in order, each with at least one term; a line break always ends a sentence.

    Runs of eight and more punctuation characters (rules, ASCII art) count as a space.
    """
    found: list[str] = []
    for line in _PUNCTUATION_RUN.sub(" ", text).splitlines():
        if not _TOKEN.search(line):
            continue
        for piece in _pieces(line.strip(), _MAX_LINE_CHARS):
            parts = _split(piece) if len(piece) > _MIN_SPLIT_CHARS else [piece]
            for part in parts:
                found.extend(_pieces(part.strip(), MAX_SENTENCE_CHARS))
    return tuple(sentence for sentence in found if terms(sentence))


def _split(line: str) -> list[str]:
    import nupunkt

    return [str(sentence) for sentence in nupunkt.sent_tokenize(line)]


def _pieces(text: str, size: int) -> list[str]:
    """The text cut at spaces into pieces of at most `size` characters."""
    pieces = []
    start = 0
    while len(text) - start > size:
        space = text.rfind(" ", start + 1, start + size)
        cut = space if space > 0 else start + size
        pieces.append(text[start:cut])
        start = cut
    pieces.append(text[start:])
    return pieces


def without_addresses(text: str) -> str:
    """The text with its web addresses cut out."""
    return ADDRESS.sub("", text)


def has_words(text: str) -> bool:
    """Whether a text holds any letter or digit beside its web addresses."""
    return any(map(str.isalnum, without_addresses(text)))


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def stands_in(passage: str, text: str) -> bool:
    """Whether a text holds a passage word for word; white space and case do not matter."""
    wanted = one_line(passage).casefold().strip(" .…\"'“”")
    return bool(wanted) and wanted in _comparable(text)


def quoted(passage: str, text: str) -> str | None:
    """The passage that a verdict quotes, if it does stand in the text."""
    return passage.strip() if stands_in(passage, text) else None


@lru_cache(maxsize=8)
def _comparable(text: str) -> str:
    """Kept for a while: the passages of many verdicts are looked for on one page."""
    return one_line(text).casefold()

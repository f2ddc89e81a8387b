"""Text processing for judges: terms, numbers, entities, sentences, quotations, and the language as
py3langid tells it.

All functions are pure, take linear time and never raise: pages, reports and claims are untrusted
input.
"""

import re
from collections import Counter
from functools import cache, lru_cache
from typing import Any
from unicodedata import normalize

import Stemmer

MAX_SENTENCE_CHARS = 1_000
"""Longer "sentences" (tables, lists, minified text) are cut at a space."""
_MAX_LINE_CHARS = 2_000
"""Longest input of the splitter, whose time is quadratic in the length of odd lines."""

_MIN_SPLIT_CHARS = 40
"""Shorter lines (menu entries, headings) count as one sentence."""

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
URL_PATTERN = re.compile(r"(?:https?://|\bwww\.)\w[^\s()\[\]<>\"']*", re.IGNORECASE)
"""A URL in a text."""

_NUMBER_WORDS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
    "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17",
    "eighteen": "18", "nineteen": "19", "twenty": "20",
}  # fmt: skip

_stemmer = Stemmer.Stemmer("porter")
MAX_LANGUAGE_CHARS = 10_000
"""Characters read of a text: some 4 ms."""
MIN_LANGUAGE_LETTERS = 100
"""Shorter texts are not told: a few names decide them."""
MIN_PROBABILITY = 0.9
NO_LANGUAGE = "zxx"
"""The code of texts that are no language, such as tables of numbers."""
SAME_WRITTEN_LANGUAGE = {"wuu": "zh", "yue": "zh", "gan": "zh", "lzh": "zh"}
"""Codes that stand for the same written language."""


def normalize_number(token: str) -> str:
    """Return one spelling per value: `53,694` → `53694`, `007` → `7`, `2.50` → `2.5`."""
    if "," in token:
        token = token.replace(",", "") if _THOUSANDS.match(token) else token.replace(",", ".")
    if token.count(".") == 1:
        token = token.rstrip("0").rstrip(".")
    return token.lstrip("0") or "0"


@cache
def load_stop_words() -> frozenset[str]:
    """Return English stop words, in lower case."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS  # the package loads SciPy

    return frozenset(STOPWORDS_EN_PLUS)


@lru_cache(maxsize=200_000)
def _index_term(token: str) -> str | None:
    """Return the index term of a lower-case token; None for a stop word."""
    if token[0].isdigit():
        return normalize_number(token)
    if token in load_stop_words():
        return None
    return str(_stemmer.stemWord(token))


@lru_cache(maxsize=16_384)
def extract_terms(text: str) -> tuple[str, ...]:
    """Return the stemmed terms in text order, with repetitions and without stop words."""
    found = (_index_term(token) for token in _TOKEN.findall(text.lower()))
    return tuple(term for term in found if term is not None)


def tokenize(text: str) -> list[str]:
    """Return the words and numbers of a lower-case text, stop words too."""
    return _TOKEN.findall(text)


def extract_numbers(text: str) -> frozenset[str]:
    """Return the numbers written in digits, normalized."""
    return frozenset(normalize_number(token) for token in _NUMBER.findall(text))


def extract_spelled_numbers(text: str) -> frozenset[str]:
    """Return the numbers written as words (zero to twenty), in digits."""
    words = _CAPITALISED.findall(text.lower())
    return frozenset(_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS)


def extract_entities(text: str) -> frozenset[str]:
    """Return the terms of capitalised words: mostly names, and the first words of sentences."""
    capitalised = (word.lower() for word in _CAPITALISED.findall(text) if word[0].isupper())
    found = (_index_term(word) for word in capitalised)
    return frozenset(term for term in found if term is not None)


def split_into_grams(text: str) -> list[str]:
    """Return the character 4-grams of a text, ignoring case and repeated white space."""
    text = f" {' '.join(text.lower().split())} "
    return [text[start : start + 4] for start in range(len(text) - 3)]


def strip_markdown(markdown: str) -> str:
    """Return the text without images, link targets, URLs, citation numbers and markup."""
    text = _LINK_TARGET.sub("]", markdown)
    text = _IMAGE.sub(" ", text)
    text = _CITATION_MARKER.sub(" ", text)
    text = _BARE_URL.sub(" ", text)
    return _SPACES.sub(" ", _MARKUP.sub(" ", text))


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences with at least one term, in order; line breaks end sentences.

    Runs of eight or more punctuation characters (rules, ASCII art) count as a space.
    """
    found: list[str] = []
    for line in _PUNCTUATION_RUN.sub(" ", text).splitlines():
        if not _TOKEN.search(line):
            continue
        for piece in _cut_at_spaces(line.strip(), _MAX_LINE_CHARS):
            parts = _split_line(piece) if len(piece) > _MIN_SPLIT_CHARS else [piece]
            for part in parts:
                found.extend(_cut_at_spaces(part.strip(), MAX_SENTENCE_CHARS))
    return tuple(sentence for sentence in found if extract_terms(sentence))


def _split_line(line: str) -> list[str]:
    import nupunkt

    return [str(sentence) for sentence in nupunkt.sent_tokenize(line)]


def _cut_at_spaces(text: str, size: int) -> list[str]:
    """Cut a text at spaces into pieces of at most `size` characters."""
    pieces = []
    start = 0
    while len(text) - start > size:
        space = text.rfind(" ", start + 1, start + size)
        cut = space if space > 0 else start + size
        pieces.append(text[start:cut])
        start = cut
    pieces.append(text[start:])
    return pieces


def strip_urls(text: str) -> str:
    """Return the text without its URLs."""
    return URL_PATTERN.sub("", text)


def has_words(text: str) -> bool:
    """Whether a text has any letter or digit outside its URLs."""
    return any(map(str.isalnum, strip_urls(text)))


def collapse_whitespace(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def occurs_in(passage: str, text: str) -> bool:
    """Whether a passage stands in the text word for word; white space and case are ignored."""
    wanted = collapse_whitespace(passage).casefold().strip(" .…\"'“”")
    return bool(wanted) and wanted in _normalize(text)


def verify_quote(passage: str, text: str) -> str | None:
    """Return the quoted passage if it stands in the text, else None."""
    return passage.strip() if occurs_in(passage, text) else None


@lru_cache(maxsize=8)
def _normalize(text: str) -> str:
    """Normalize a text; cached, as many verdicts quote the same page."""
    return collapse_whitespace(text).casefold()


@lru_cache(maxsize=64)
def identify_language(text: str) -> str | None:
    """Return the ISO 639 code of a text's language; None if it is too short or not certain."""
    beginning = text[:MAX_LANGUAGE_CHARS]
    if sum(map(str.isalpha, beginning)) < MIN_LANGUAGE_LETTERS:
        return None
    shares: Counter[str] = Counter()
    for code, probability in _load_identifier().rank(beginning):
        shares[SAME_WRITTEN_LANGUAGE.get(code, code)] += probability
    [(language, share)] = shares.most_common(1)
    return language if share >= MIN_PROBABILITY and language != NO_LANGUAGE else None


@cache
def _load_identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


_ADDRESS_TARGET = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,2000}){0,8}\)")
_QUOTED_URL = re.compile(r"https?://[^\s<>()\[\]\u3000-\u9fff\uff00-\uffef]+")
"""URLs end at brackets, too, and at Chinese text, which has no space after a URL."""
_QUOTED_CITATION = re.compile(r"\[{1,2}\^?\d{1,3}\]{1,2}")
_PASSAGE_END = re.compile(r"[.!?](?=\s|[\"'”’)\]]|$)|[。！？；…\n|]|\.{3,}")
"""Ends of quoted passages: of sentences, lines and table cells, and omissions."""
_IGNORED = re.compile(r"(?!(?<=\d)[.,](?=\d))[\W_]")
"""Everything but letters, digits, and the point or comma inside a number."""


def is_quoted_in(evidence: str, text: str) -> bool:
    """Whether everything that the evidence quotes stands in the text word for word.

    Judges quote several sentences that stand apart in the text, and texts of PDFs have white space
    inside Chinese sentences. So each sentence or line of the evidence is searched separately, and
    only letters and digits are compared: case, white space, punctuation, markup, URLs and citation
    numbers are ignored. Different words or numbers do not match.
    """
    said = _normalize_quoted(text)
    passages = [
        words
        for passage in _PASSAGE_END.split(_strip_pointers(evidence))
        if (words := _letters_and_digits(passage))
    ]
    return bool(passages) and all(words in said for words in passages)


@lru_cache(maxsize=8)
def _normalize_quoted(text: str) -> str:
    """Return the letters and digits; cached, as many items quote the same report."""
    return _letters_and_digits(_strip_pointers(text))


def _strip_pointers(text: str) -> str:
    """Return the text without citation markers, URLs and link targets."""
    return _QUOTED_CITATION.sub(" ", _QUOTED_URL.sub(" ", _ADDRESS_TARGET.sub("]", text)))


def _letters_and_digits(text: str) -> str:
    return _IGNORED.sub("", normalize("NFKC", text).casefold())

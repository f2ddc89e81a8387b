"""Checking judges' quotations against the text."""

import re
from functools import lru_cache
from unicodedata import normalize

_LINK_TARGET = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,2000}){0,8}\)")
_URL = re.compile(r"https?://[^\s<>()\[\]\u3000-\u9fff\uff00-\uffef]+")
"""URLs end at brackets, too, and at Chinese text, which has no space after a URL."""
_CITATION = re.compile(r"\[{1,2}\^?\d{1,3}\]{1,2}")
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
    said = _normalize(text)
    passages = [
        words
        for passage in _PASSAGE_END.split(_strip_pointers(evidence))
        if (words := _letters_and_digits(passage))
    ]
    return bool(passages) and all(words in said for words in passages)


@lru_cache(maxsize=8)
def _normalize(text: str) -> str:
    """Return the letters and digits; cached, as many items quote the same report."""
    return _letters_and_digits(_strip_pointers(text))


def _strip_pointers(text: str) -> str:
    """Return the text without citation markers, URLs and link targets."""
    return _CITATION.sub(" ", _URL.sub(" ", _LINK_TARGET.sub("]", text)))


def _letters_and_digits(text: str) -> str:
    return _IGNORED.sub("", normalize("NFKC", text).casefold())

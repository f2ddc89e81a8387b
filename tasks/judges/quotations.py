"""Whether what a judge quotes does stand in a text."""

import re
from functools import lru_cache
from unicodedata import normalize

_LINK_TARGET = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,2000}){0,8}\)")
_URL = re.compile(r"https?://[^\s<>()\[\]\u3000-\u9fff\uff00-\uffef]+")
"""Up to a bracket, too, and to Chinese, which sets no blank after an address."""
_CITATION = re.compile(r"\[{1,2}\^?\d{1,3}\]{1,2}")
_ENDS = re.compile(r"[.!?](?=\s|[\"'”’)\]]|$)|[。！？；…\n|]|\.{3,}")
"""Where one quoted passage may end and the next begin: sentences, lines, cells, omissions."""
_NOT_SAID = re.compile(r"(?!(?<=\d)[.,](?=\d))[\W_]")
"""All but letters, digits, and the point or comma inside a number."""


def quoted_in(evidence: str, text: str) -> bool:
    """Whether a text says, word for word, everything that the evidence quotes of it.

    Judges quote several sentences at once that stand apart in the text, and what PDFs bring has
    white space inside Chinese sentences. So each sentence or line of the evidence is looked for by
    itself, and letters and digits alone are compared: case, white space, punctuation, markup,
    addresses and the numbers of citations are not. Other words or another number are not found.
    """
    said = _said(text)
    passages = [words for passage in _ENDS.split(_bare(evidence)) if (words := _words(passage))]
    return bool(passages) and all(words in said for words in passages)


@lru_cache(maxsize=8)
def _said(text: str) -> str:
    """Kept for a while: the evidence of many items is looked for in one report."""
    return _words(_bare(text))


def _bare(text: str) -> str:
    """Without what is not said but pointed to."""
    return _CITATION.sub(" ", _URL.sub(" ", _LINK_TARGET.sub("]", text)))


def _words(text: str) -> str:
    return _NOT_SAID.sub("", normalize("NFKC", text).casefold())

"""Detect names in texts: a whole name in any spelling, or a distinctive part of it.

Case, diacritics, punctuation, hyphens, possessives, a plural s and invisible characters do not
matter. All functions are pure and never raise: names and questions are a model's output.
"""

import re
from collections.abc import Iterable, Sequence
from unicodedata import category, combining, normalize

from tasks.judges.text import load_stop_words

MIN_LETTERS = 3
"""Shorter parts of a name are not distinctive."""
_POSSESSIVE = re.compile(r"(?<=\w)['’ʼ´`]s\b", re.IGNORECASE)
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ´`](?=\w)")
_WORD = re.compile(r"[^\W_]+")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*\Z")
_LETTERS = str.maketrans("łøđðıŁØĐÐ", "loddiLODD") | str.maketrans(
    {"þ": "th", "æ": "ae", "œ": "oe", "Þ": "Th", "Æ": "Ae", "Œ": "Oe"}
)
"""Letters that Unicode does not decompose into a base letter and a mark."""


def split_words(text: str) -> tuple[str, ...]:
    """Split a text into words in a normalised spelling: `Łódź's` → `lodz`, `O'Brien` → `obrien`."""
    return tuple(word.casefold() for word in _split_cased_words(text))


def are_same_words(one: str, other: str) -> bool:
    """Whether two texts have the same words, ignoring an article at the beginning."""
    left, right = (_drop_article(split_words(text)) for text in (one, other))
    return bool(left) and left == right


def contains_name(text: str | Sequence[str], name: str) -> bool:
    """Whether a text (or its words) contains the whole name: `Spider-Man` in `spiderman's`."""
    text_words = split_words(text) if isinstance(text, str) else text
    wanted = "".join(split_words(name))
    if not wanted:
        return False
    ends = {wanted, f"{wanted}s", wanted.removesuffix("s")} - {""}
    longest = max(map(len, ends))
    for start in range(len(text_words)):
        joined = ""
        for word in text_words[start:]:
            joined += word
            if joined in ends:
                return True
            if len(joined) >= longest:
                break
    return False


def find_answer_name(question: str, names: Iterable[str], article: str) -> str | None:
    """Find a name of the answer, or a distinctive part of one, in a question.

    A part is distinctive if the question capitalises it or the article always does.
    """
    capital = frozenset(w.casefold() for w in _split_cased_words(question) if w[0].isupper())
    return _find_name(question, names, _lowercase_words(article) - capital)


def find_article_name(question: str, title: str, article: str) -> str | None:
    """Find the article's title, or a distinctive part of it, in a question.

    A part is distinctive if the article always capitalises it.
    """
    names = dict.fromkeys((title, _IN_BRACKETS.sub("", title)))
    return _find_name(question, names, _lowercase_words(article))


def _find_name(question: str, names: Iterable[str], common: frozenset[str]) -> str | None:
    question_words = split_words(question)
    singular = frozenset(map(_strip_plural, question_words))
    for name in names:
        if contains_name(question_words, name):
            return name
        for part in name_parts(name):
            if part not in common and _strip_plural(part) in singular:
                return part
    return None


def name_parts(name: str) -> tuple[str, ...]:
    """Return the words of a name that could be names themselves: capitalised, no stop words."""
    return tuple(
        word.casefold()
        for word in _split_cased_words(name)
        if word[0].isupper()
        and len(word) >= MIN_LETTERS
        and word.casefold() not in load_stop_words()
    )


def _lowercase_words(text: str) -> frozenset[str]:
    """Return the words that a text writes in lower case somewhere, which are no names."""
    return frozenset(word for word in _split_cased_words(text) if word[0].islower())


def _split_cased_words(text: str) -> list[str]:
    """Split a text into words in a normalised spelling, keeping their case."""
    ascii_only = text.isascii()  # as most pages are; they need no normalisation of letters
    visible = text if ascii_only else "".join(c for c in text if category(c) != "Cf")
    whole = _APOSTROPHE.sub("", _POSSESSIVE.sub("", visible)).translate(_LETTERS)
    if ascii_only:
        return _WORD.findall(whole)
    bare = "".join(c for c in normalize("NFKD", whole) if not combining(c) and c != "ʼ")
    return _WORD.findall(bare)


def _strip_plural(word: str) -> str:
    return word[:-1] if len(word) > MIN_LETTERS and word.endswith("s") else word


def _drop_article(found: tuple[str, ...]) -> tuple[str, ...]:
    return found[1:] if len(found) > 1 and found[0] in ("the", "a", "an") else found

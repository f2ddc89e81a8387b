"""Whether a text names something: its whole name in any spelling, or a telling part of it.

Case, diacritics, punctuation, hyphens, possessives, a plural s and invisible characters make no
difference. All functions are pure and never raise: names and questions are a model's output.
"""

import re
from collections.abc import Iterable, Sequence
from unicodedata import category, combining, normalize

from tasks.judges.text import stop_words

LEAST_LETTERS = 3
"""A shorter part of a name is no name of its own."""
_POSSESSIVE = re.compile(r"(?<=\w)['’ʼ´`]s\b", re.IGNORECASE)
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ´`](?=\w)")
_WORD = re.compile(r"[^\W_]+")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*\Z")
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i",
     "Ł": "L", "Ø": "O", "Đ": "D", "Ð": "D", "Þ": "Th", "Æ": "Ae", "Œ": "Oe"}
)  # fmt: skip
"""Letters that Unicode does not take apart into a base letter and a mark."""


def words(text: str) -> tuple[str, ...]:
    """The words of a text in one spelling each: `Łódź's` → `lodz`, `O'Brien` → `obrien`."""
    return tuple(word.casefold() for word in _written(text))


def same_words(one: str, other: str) -> bool:
    """Whether two texts are the same words; articles at the beginning do not matter."""
    left, right = (_without_article(words(text)) for text in (one, other))
    return bool(left) and left == right


def holds(text: str | Sequence[str], name: str) -> bool:
    """Whether the whole name stands in a text (or its words): `Spider-Man` in `spiderman's`."""
    there = words(text) if isinstance(text, str) else text
    wanted = "".join(words(name))
    if not wanted:
        return False
    ends = {wanted, f"{wanted}s", wanted.removesuffix("s")} - {""}
    longest = max(map(len, ends))
    for start in range(len(there)):
        joined = ""
        for word in there[start:]:
            joined += word
            if joined in ends:
                return True
            if len(joined) >= longest:
                break
    return False


def names_answer(question: str, names: Iterable[str], article: str) -> str | None:
    """The name of the answer, or the telling part of one, that a question gives away.

    A part tells if the question writes it with a capital letter, or if the article never writes
    it without one.
    """
    capital = frozenset(w.casefold() for w in _written(question) if w[0].isupper())
    return _named(question, names, _common(article) - capital)


def names_article(question: str, title: str, article: str) -> str | None:
    """The article's title, or the telling part of it, that a question gives away.

    A part tells if the article never writes it without a capital letter.
    """
    names = dict.fromkeys((title, _IN_BRACKETS.sub("", title)))
    return _named(question, names, _common(article))


def _named(question: str, names: Iterable[str], common: frozenset[str]) -> str | None:
    asked = words(question)
    singular = frozenset(map(_singular, asked))
    for name in names:
        if holds(asked, name):
            return name
        for part in parts(name):
            if part not in common and _singular(part) in singular:
                return part
    return None


def parts(name: str) -> tuple[str, ...]:
    """The words of a name that could be a name by themselves: capitalised, no stop words."""
    return tuple(
        word.casefold()
        for word in _written(name)
        if word[0].isupper() and len(word) >= LEAST_LETTERS and word.casefold() not in stop_words()
    )


def _common(text: str) -> frozenset[str]:
    """What a text writes without a capital letter somewhere: no names."""
    return frozenset(word for word in _written(text) if word[0].islower())


def _written(text: str) -> list[str]:
    """Words in one spelling, with their case."""
    ascii_only = text.isascii()  # most pages are, and their letters need no looking at
    visible = text if ascii_only else "".join(c for c in text if category(c) != "Cf")
    whole = _APOSTROPHE.sub("", _POSSESSIVE.sub("", visible)).translate(_LETTERS)
    if ascii_only:
        return _WORD.findall(whole)
    bare = "".join(c for c in normalize("NFKD", whole) if not combining(c) and c != "ʼ")
    return _WORD.findall(bare)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > LEAST_LETTERS and word.endswith("s") else word


def _without_article(found: tuple[str, ...]) -> tuple[str, ...]:
    return found[1:] if len(found) > 1 and found[0] in ("the", "a", "an") else found

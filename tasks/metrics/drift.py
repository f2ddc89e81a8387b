"""Semantic drift: how far a report strays from its query, measured by keywords.

Source: Rigorous Bench. A report should cover the focus keywords and avoid the deviation keywords.
The paper does not say how a keyword is found, which thresholds apply, or how a relevance becomes a
share: here these are parameters. `count_substrings` counts as the authors' notebook does
(github.com/EVIGBYEN/DrBench).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from typing import Literal, NamedTuple
from unicodedata import normalize

from tasks.metrics.ratios import share

Normalisation = Literal["ratio", "linear"]
"""How to map a relevance of 1 to 5 to a share: `ratio` r/5, `linear` (r - 1)/4."""
MIN_RELEVANCE, MAX_RELEVANCE = 1, 5

_VARIANTS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u2018\u2019", "'")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None)
)
"""Maps all dashes to one, all single quotes to one, and drops invisible characters."""
_WORD_CHARACTER = r"[^\W_]"
"""A character that continues a word; `_` is Markdown's emphasis."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts without spaces between words, where word boundaries cannot be found."""


class RatedKeyword(NamedTuple):
    """A keyword's frequency and relevance in one report."""

    frequency: int
    relevance: int
    """1 (absent or unrelated) to 5 (the report's central theme)."""


def normalise_text(text: str) -> str:
    """Prepare a text for keyword search: NFKC, case folded, runs of white space as one space,
    dashes and quotes unified, invisible characters removed."""
    return " ".join(normalize("NFKC", text).translate(_VARIANTS).casefold().split())


def count_whole_words(keyword: str, text: str) -> int:
    """Count a keyword in a text from `normalise_text`, as whole words.

    0 for an empty keyword. Plurals and other inflections do not match.
    """
    pattern = _compile_keyword(keyword)
    return sum(1 for _ in pattern.finditer(text)) if pattern else 0


def count_substrings(keyword: str, text: str) -> int:
    """Count a keyword in a text, also inside other words, as the authors' notebook does. 0 for an
    empty keyword."""
    return text.lower().count(keyword.lower()) if keyword else 0


def saturation(count: int, epsilon: float) -> float:
    """Return how present a keyword is, 0-1: fully from `epsilon` (above 0) occurrences on."""
    return min(count / epsilon, 1.0)


def presence(counts: Sequence[int], epsilon: float) -> float | None:
    """Return the mean saturation of the keywords, 0-1; None without keywords."""
    return share(fsum(saturation(count, epsilon) for count in counts), len(counts))


def relevance_share(relevance: int, by: Normalisation) -> float:
    """Map a relevance of 1 to 5 to a share, 0-1."""
    return (
        relevance / MAX_RELEVANCE
        if by == "ratio"
        else (relevance - MIN_RELEVANCE) / (MAX_RELEVANCE - MIN_RELEVANCE)
    )


def weighted_presence(
    rated: Sequence[RatedKeyword], epsilon: float, by: Normalisation = "ratio"
) -> float | None:
    """Return the mean of saturation × relevance over keywords, 0-1; None without keywords.

    For deviation keywords this is their drift; for focus keywords the drift is 1 minus this.
    """
    products = (saturation(r.frequency, epsilon) * relevance_share(r.relevance, by) for r in rated)
    return share(fsum(products), len(rated))


def semantic_drift(focus_drift: float, deviation_drift: float, focus_weight: float) -> float:
    """Combine both drifts, 0-1; `focus_weight` (0.7 in the paper) weighs the focus drift."""
    return focus_weight * focus_drift + (1 - focus_weight) * deviation_drift


@lru_cache(maxsize=4096)
def _compile_keyword(keyword: str) -> re.Pattern[str] | None:
    wanted = normalise_text(keyword)
    if not wanted:
        return None
    before, after = (
        "" if _UNSPACED.match(edge) or not edge.isalnum() else look
        for edge, look in (
            (wanted[0], f"(?<!{_WORD_CHARACTER})"),
            (wanted[-1], f"(?!{_WORD_CHARACTER})"),
        )
    )
    return re.compile(before + re.escape(wanted) + after)

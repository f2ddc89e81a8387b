"""Semantic drift: how far a report has gone from its query, by keywords.

Source: Rigorous Bench. A focus keyword counts as far as the report speaks of it, a deviation
keyword as far as it should not have. How a keyword is found, the thresholds and how a relevance
becomes a share are not in the paper: they are parameters here. `occurrences` counts as the
authors' notebook does (github.com/EVIGBYEN/DrBench).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from typing import Literal, NamedTuple
from unicodedata import normalize

from tasks.metrics.shares import share

Normalisation = Literal["ratio", "linear"]
"""How a relevance of 1 to 5 becomes a share: `ratio` r/5, `linear` (r - 1)/4."""
LEAST, MOST = 1, 5
"""Relevances."""

_VARIANTS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u2018\u2019", "'")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None)
)
"""Dashes and quotes of one kind each, and nothing that is not seen."""
_INSIDE = r"[^\W_]"
"""What a word goes on with; `_` is Markdown's emphasis."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that set no blanks between words: their words have no boundary to be found."""


class Rated(NamedTuple):
    """What is known of one keyword in one report."""

    frequency: int
    relevance: int
    """1 (absent or unrelated) to 5 (the report's central theme)."""


def comparable(text: str) -> str:
    """A text as keywords are looked for in it: NFKC, case folded, each run of white space as one
    blank, dashes and quotes of one kind, without invisible characters."""
    return " ".join(normalize("NFKC", text).translate(_VARIANTS).casefold().split())


def frequency(keyword: str, text: str) -> int:
    """How often a keyword stands in a `comparable` text as a word or words of its own.

    0 for an empty keyword. Plurals and other forms are other words.
    """
    pattern = _pattern(keyword)
    return sum(1 for _ in pattern.finditer(text)) if pattern else 0


def occurrences(keyword: str, text: str) -> int:
    """How often a keyword's letters stand in a text, also inside of other words: as the authors'
    notebook counts. 0 for an empty keyword."""
    return text.lower().count(keyword.lower()) if keyword else 0


def saturation(count: int, epsilon: float) -> float:
    """How far a keyword is there, 0-1: fully from `epsilon` (above 0) occurrences on."""
    return min(count / epsilon, 1.0)


def presence(counts: Sequence[int], epsilon: float) -> float | None:
    """Mean saturation, 0-1, of several keywords; None without any."""
    return share(fsum(saturation(count, epsilon) for count in counts), len(counts))


def relevance_share(relevance: int, by: Normalisation) -> float:
    """A relevance of 1 to 5 as a share, 0-1."""
    return relevance / MOST if by == "ratio" else (relevance - LEAST) / (MOST - LEAST)


def weighted_presence(
    rated: Sequence[Rated], epsilon: float, by: Normalisation = "ratio"
) -> float | None:
    """Mean of saturation × relevance over keywords, 0-1; None without any.

    Of the deviation keywords this is their drift; of the focus keywords their drift is what it
    lacks to 1.
    """
    products = (saturation(r.frequency, epsilon) * relevance_share(r.relevance, by) for r in rated)
    return share(fsum(products), len(rated))


def semantic_drift(focus_drift: float, deviation_drift: float, focus_weight: float) -> float:
    """Both drifts in one, 0-1; `focus_weight` (0.7 in the paper) is the first one's weight."""
    return focus_weight * focus_drift + (1 - focus_weight) * deviation_drift


@lru_cache(maxsize=4096)
def _pattern(keyword: str) -> re.Pattern[str] | None:
    wanted = comparable(keyword)
    if not wanted:
        return None
    before, after = (
        "" if _UNSPACED.match(edge) or not edge.isalnum() else look
        for edge, look in ((wanted[0], f"(?<!{_INSIDE})"), (wanted[-1], f"(?!{_INSIDE})"))
    )
    return re.compile(before + re.escape(wanted) + after)

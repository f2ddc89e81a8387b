"""The integrated score of Rigorous Bench and its parts.

Source: Rigorous Bench (arXiv 2510.02190). Scores are shares here: the paper prints the
integrated score times 100, from 0 to 120.

Semantic drift, how far a report strays from its query, is measured by keywords: a report should
cover the focus keywords and avoid the deviation keywords. The paper does not say how a keyword is
found, which thresholds apply, or how a relevance becomes a share: here these are parameters.
`count_substrings` counts as the authors' notebook does (github.com/EVIGBYEN/DrBench).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from typing import Literal, NamedTuple
from unicodedata import normalize

from tasks.metrics.ratios import share

HostMode = Literal["algorithm", "formula"]
"""Which citations count as from a trusted host: `algorithm`, all but the trusted pages themselves
(the paper's Algorithm 1 and the authors' notebook); `formula`, all of them (the paper's
equation)."""
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


class LinkCounts(NamedTuple):
    """Counts of the trusted and the cited pages of one report, without duplicates."""

    trusted: int
    """Trusted pages."""
    exact: int
    """Trusted pages that the report cites."""
    on_host: int
    """Cited pages on the host of a trusted page, trusted pages included."""
    cited: int


class BoostWeights(NamedTuple):
    """The paper's η, θ and κ."""

    most: float = 0.2
    exact: float = 0.7
    host: float = 0.3


def quality(query: float, general: float, query_weight: float) -> float:
    """Combine the shares of query-specific and general rubric points, 0-1."""
    return query_weight * query + (1 - query_weight) * general


def trust_boost(links: LinkCounts, weights: BoostWeights, host_mode: HostMode) -> float:
    """Return the boost for citing trusted pages and hosts, 1 to 1 + `weights.most`.

    Without trusted pages the share of them that is cited is 0.
    """
    exact = share(links.exact, links.trusted) or 0.0
    on_host = links.on_host - (links.exact if host_mode == "algorithm" else 0)
    rate = weights.exact * exact + weights.host * on_host / (links.cited + 1)
    return 1 + weights.most * rate


def integrated_score(quality: float, drift: float, boost: float) -> float:
    """Return the product of all parts, 0 to 1.2: the paper's score divided by 100."""
    return quality * (1 - drift) * boost


def quality_share(quality: float, drift: float, boost: float, most_boost: float) -> float | None:
    """Return the share, 0-1, of a report's loss against the best score that is due to quality.

    The loss is divided among quality, focus and boost by Shapley values: the mean over all orders
    in which the three could drop from their best value (`most_boost` for the boost). The shares
    add up to 1, even where a part is 0. None without a loss.
    """
    focus, trust = 1 - drift, boost / most_boost
    lacking = 1 - quality * focus * trust
    of_quality = (1 - quality) * (1 / 3 + (focus + trust) / 6 + focus * trust / 3)
    return min(of_quality / lacking, 1.0) if lacking > 1e-12 else None


def retrieval_index(cited: int, opened: int) -> float:
    """Return cited pages / (opened pages + 1): above 0 as soon as anything is cited."""
    return cited / (opened + 1)


def score_per_token(score: float, output_tokens: int) -> float | None:
    """Return the points of the paper's score, 0 to 120, per output token; None without tokens."""
    return share(score * 100, output_tokens)

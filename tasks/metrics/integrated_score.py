"""The integrated score of Rigorous Bench and its parts.

Source: Rigorous Bench (arXiv 2510.02190). Scores are shares here: the paper prints the
integrated score times 100, from 0 to 120.
"""

from typing import Literal, NamedTuple

from tasks.metrics.ratios import share

HostMode = Literal["algorithm", "formula"]
"""Which citations count as from a trusted host: `algorithm`, all but the trusted pages themselves
(the paper's Algorithm 1 and the authors' notebook); `formula`, all of them (the paper's
equation)."""


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

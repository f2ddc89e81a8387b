"""The integrated score of Rigorous Bench and its parts: rubrics, trusted sources, the product.

Source: Rigorous Bench (arXiv 2510.02190). Scores are shares here: the paper prints the
integrated score times 100, from 0 to 120.
"""

from typing import Literal, NamedTuple

from tasks.metrics.shares import share

HostMode = Literal["algorithm", "formula"]
"""Which citations count as from a trusted host: `algorithm`, those that are not trusted pages
themselves (the paper's Algorithm 1, and the authors' notebook); `formula`, all of them (its
equation)."""


class LinkCounts(NamedTuple):
    """What a report cites of the sources it should have found; different pages, each once."""

    trusted: int
    """Trusted pages there are."""
    exact: int
    """Trusted pages that it cites."""
    on_host: int
    """Cited pages on the host of a trusted one, these pages themselves included."""
    cited: int


class BoostWeights(NamedTuple):
    """η, θ and κ of the paper."""

    most: float = 0.2
    exact: float = 0.7
    host: float = 0.3


def quality(query: float, general: float, query_weight: float) -> float:
    """Both shares of the rubrics' points in one, 0-1."""
    return query_weight * query + (1 - query_weight) * general


def trust_boost(links: LinkCounts, weights: BoostWeights, host_mode: HostMode) -> float:
    """1 to 1 + `weights.most`: more, the more trusted pages and hosts a report cites.

    Without trusted pages nothing can be cited of them: the rate is 0.
    """
    exact = share(links.exact, links.trusted) or 0.0
    on_host = links.on_host - (links.exact if host_mode == "algorithm" else 0)
    rate = weights.exact * exact + weights.host * on_host / (links.cited + 1)
    return 1 + weights.most * rate


def integrated(quality: float, drift: float, boost: float) -> float:
    """The product of all parts, 0 to 1.2: the paper's score divided by 100."""
    return quality * (1 - drift) * boost


def quality_share(quality: float, drift: float, boost: float, most_boost: float) -> float | None:
    """Quality's share, 0-1, of what a report lacks to the best score there is (`most_boost`).

    What it lacks is divided among quality, focus and boost as the mean over all orders in which
    they could fall from their best to what they are (the Shapley value), so the three shares add
    up to 1, also where a part is 0. None where nothing is lacking.
    """
    focus, trust = 1 - drift, boost / most_boost
    lacking = 1 - quality * focus * trust
    of_quality = (1 - quality) * (1 / 3 + (focus + trust) / 6 + focus * trust / 3)
    return min(of_quality / lacking, 1.0) if lacking > 1e-12 else None


def retrieval_index(cited: int, opened: int) -> float:
    """Cited pages over opened pages and one: above 0 as soon as anything is cited."""
    return cited / (opened + 1)


def per_token(integrated: float, output_tokens: int) -> float | None:
    """Points of the paper's score, 0 to 120, for each token that was written or thought; None
    where there are none."""
    return share(integrated * 100, output_tokens)

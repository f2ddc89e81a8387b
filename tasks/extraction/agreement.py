"""Agreement of offline extraction with the published claims of the same report.

Claims are matched by their words, pages by normalised URL (never by citation number, which the
published records of one agent number differently).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from tasks.extraction.facts import match_statements
from tasks.extraction.urls import normalise_url
from tasks.metrics.claim_trees import f1_score
from tasks.metrics.ratios import share

MIN_SHARE = 0.5
"""A published claim counts as found in a sentence that holds at least this share of it."""


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim and the URLs it cites, as written or normalised."""

    text: str
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionAgreement:
    """Counts over one report, or a sum of them; the shares are 0-1, None without a denominator."""

    n_published_claims: int = 0
    n_offline_claims: int = 0
    n_matched_claims: int = 0
    """Published claims found in an offline claim."""
    n_published_pairs: int = 0
    n_offline_pairs: int = 0
    n_found_pairs: int = 0
    """Published pairs whose claim was found offline with the same page."""
    n_confirmed_pairs: int = 0
    """Offline pairs confirmed by a published claim found in the same sentence."""

    @property
    def recall(self) -> float | None:
        """Share of published pairs found offline."""
        return share(self.n_found_pairs, self.n_published_pairs)

    @property
    def precision(self) -> float | None:
        """Share of all offline pairs that are confirmed."""
        return share(self.n_confirmed_pairs, self.n_offline_pairs)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return f1_score(precision, recall)

    @property
    def matched_share(self) -> float | None:
        """Share of published claims found in an offline claim."""
        return share(self.n_matched_claims, self.n_published_claims)


def compare_extraction(
    published: Sequence[CitedClaim], offline: Sequence[CitedClaim]
) -> ExtractionAgreement:
    """Compare two extractions of one report; both list the claims in the report's order."""
    published_urls = [_normalise_urls(claim) for claim in published]
    offline_urls = [_normalise_urls(claim) for claim in offline]
    theirs, ours = ([claim.text for claim in claims] for claims in (published, offline))
    found_in = match_statements(theirs, ours, MIN_SHARE)
    confirming: defaultdict[int, set[str]] = defaultdict(set)
    n_found = 0
    for urls, place in zip(published_urls, found_in, strict=True):
        if place is not None:
            confirming[place] |= urls
            n_found += len(urls & offline_urls[place])
    return ExtractionAgreement(
        n_published_claims=len(published),
        n_offline_claims=len(offline),
        n_matched_claims=sum(place is not None for place in found_in),
        n_published_pairs=sum(map(len, published_urls)),
        n_offline_pairs=sum(map(len, offline_urls)),
        n_found_pairs=n_found,
        n_confirmed_pairs=sum(len(offline_urls[n] & urls) for n, urls in confirming.items()),
    )


def sum_agreements(agreements: Iterable[ExtractionAgreement]) -> ExtractionAgreement:
    """Sum the counts of several reports, so that every pair weighs the same."""
    collected = list(agreements)
    return ExtractionAgreement(
        **{
            name.name: sum(getattr(a, name.name) for a in collected)
            for name in fields(ExtractionAgreement)
        }
    )


def _normalise_urls(claim: CitedClaim) -> frozenset[str]:
    return frozenset(url for raw in claim.urls if (url := normalise_url(raw)))

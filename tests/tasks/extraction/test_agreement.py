"""Agreement between published and offline extraction, counted by hand."""

import pytest

from tasks.extraction.agreement import (
    CitedClaim,
    ExtractionAgreement,
    compare_extraction,
    sum_agreements,
)

A, B, C = "https://a.org/x", "https://b.org/y", "https://c.org/z"

PUBLISHED = [
    CitedClaim("Parasitic ants live in nests of hosts.", (A,)),
    CitedClaim("Parasitic ants are fed by workers.", (C,)),
    CitedClaim("Wheeler named the genus in 1904.", (B,)),
    CitedClaim("Completely different subject matter here.", (B,)),
]
OFFLINE = [
    CitedClaim("Parasitic ants live in nests of hosts and are fed by workers.", (A,)),
    CitedClaim("The genus was named by Wheeler in 1904.", ("http://b.org/y/", A)),
    CitedClaim("Nobody published this statement.", (C,)),
]


def test_pairs_are_counted_by_claim_and_normalised_url() -> None:
    found = compare_extraction(PUBLISHED, OFFLINE)
    assert found == ExtractionAgreement(
        n_published_claims=4,
        n_offline_claims=3,
        n_matched_claims=3,
        n_published_pairs=4,
        n_offline_pairs=4,
        n_found_pairs=2,
        n_confirmed_pairs=2,
    )
    assert found.recall == pytest.approx(2 / 4)
    assert found.precision == pytest.approx(2 / 4)
    assert found.f1 == pytest.approx(0.5)


def test_a_sum_weighs_every_pair_the_same() -> None:
    one = compare_extraction(PUBLISHED, OFFLINE)
    assert sum_agreements([one, ExtractionAgreement(n_published_pairs=6)]).recall == pytest.approx(
        0.2
    )


def test_without_pairs_there_is_no_figure() -> None:
    nothing = compare_extraction([], [])
    assert (nothing.recall, nothing.precision, nothing.f1) == (None, None, None)

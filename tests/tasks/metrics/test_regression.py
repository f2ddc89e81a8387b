"""Lines through points, by hand and whatever their order."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.correlation import fit_line

PAIRS = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100)), max_size=9)


def test_slope_and_interval_by_hand() -> None:
    # x 1-4, y 1 3 2 4: Sxx 5, Sxy 4, residuals .3, -1.1 … : SSE 1.8, se sqrt(.9 / 5).
    found = fit_line([(3, 2), (1, 1), (4, 4), (2, 3)])
    assert found.slope == pytest.approx(0.8)
    error = (1.8 / 2 / 5) ** 0.5
    # Student's t of 2 degrees of freedom reaches 4.3027 with 95 %.
    assert found.low == pytest.approx(0.8 - 4.30265 * error, rel=1e-5)
    assert found.high == pytest.approx(0.8 + 4.30265 * error, rel=1e-5)
    # Of 2 degrees of freedom: p = 1 - t / sqrt(2 + t²).
    t = 0.8 / error
    assert found.p == pytest.approx(1 - t / (2 + t * t) ** 0.5)
    assert (found.n, found.reason) == (4, None)


@settings(max_examples=40, deadline=None)
@given(PAIRS, st.randoms())
def test_a_line_lies_within_its_interval_and_turns_with_the_sign(
    pairs: list[tuple[float, float]], chance: random.Random
) -> None:
    found = fit_line(pairs)
    assert found == fit_line(chance.sample(pairs, len(pairs)))
    if found.slope is None or found.low is None or found.high is None or found.p is None:
        return
    assert found.low <= found.slope <= found.high
    turned = fit_line([(x, -y) for x, y in pairs])
    assert turned.slope == pytest.approx(-found.slope, abs=1e-9)
    assert turned.low == pytest.approx(-found.high, abs=1e-6)
    if min(abs(found.p - 0.05), found.p) > 1e-6:  # p below .05 is an interval without 0
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)

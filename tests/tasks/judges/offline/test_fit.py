"""The weights rest on recorded verdicts, and can be refitted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.judges.offline.lexical import FEATURE_NAMES
from tasks.judges.offline.weights import FamilyValues, load_weights
from tests.rigs.calibration_items import CalibrationItem, load_items

DATA = Path(__file__).resolve().parents[5] / "shared" / "data"


def fit(found: list[CalibrationItem]) -> Any:
    from tests.rigs.fit_offline_judge import fit  # with SciPy, which few tests need

    return fit(found)


def items(n: int = 200) -> list[CalibrationItem]:
    """Made-up decisions that follow `passage`, and run against `bigrams`."""
    random = np.random.default_rng(7)
    rows = random.random((n, len(FEATURE_NAMES)))
    passage, bigrams = (rows[:, FEATURE_NAMES.index(name)] for name in ("passage", "bigrams"))
    positive = 4 * passage - 3 * bigrams + random.normal(0, 0.3, n) > 0.5
    return [
        CalibrationItem("fact_in_report", f"block {i % 5}", tuple(row), False, bool(positive[i]))
        for i, row in enumerate(rows.tolist())
    ]


def test_a_feature_that_runs_against_the_verdicts_gets_no_weight() -> None:
    weights = dict(zip(FEATURE_NAMES, fit(items()).weights, strict=True))
    assert weights["passage"] > 1
    assert weights["bigrams"] == 0
    assert min(weights.values()) >= 0


def test_probabilities_follow_the_share_of_positives_in_the_family() -> None:
    found = items()
    share = sum(item.positive for item in found) / len(found)
    assert fit(found).probabilities(found).mean() == pytest.approx(share, abs=0.01)


@pytest.mark.published
@pytest.mark.skipif(not DATA.exists(), reason="the published data is not at ../shared/data")
def test_the_shipped_weights_are_what_the_published_data_give() -> None:
    found = load_items(DATA)
    assert len(found) == 1_542 + 195 + 72 + 135
    fitted, (shipped, _) = fit(found), load_weights()
    for name, value in zip(FEATURE_NAMES, fitted.weights, strict=True):
        assert getattr(shipped.weights, name) == pytest.approx(value, abs=2e-3)
    for name, value in zip(FamilyValues.model_fields, fitted.intercepts, strict=True):
        assert getattr(shipped.intercepts, name) == pytest.approx(value, abs=2e-3)

"""The weights rest on recorded verdicts, and can be refitted."""

from pathlib import Path

import pytest

from tasks.judges.offline.lexical import FEATURE_NAMES
from tasks.judges.offline.weights import FamilyValues, load_weights
from tests.rigs.calibration_items import load_items

DATA = Path(__file__).resolve().parents[5] / "shared" / "data"


@pytest.mark.published
@pytest.mark.skipif(not DATA.exists(), reason="the published data is not at ../shared/data")
def test_the_shipped_weights_are_what_the_published_data_give() -> None:
    from tests.rigs.fit_offline_judge import fit  # with SciPy, which few tests need

    found = load_items(DATA)
    assert len(found) == 1_542 + 195 + 72 + 135
    fitted, (shipped, _) = fit(found), load_weights()
    for name, value in zip(FEATURE_NAMES, fitted.weights, strict=True):
        assert getattr(shipped.weights, name) == pytest.approx(value, abs=2e-3)
    for name, value in zip(FamilyValues.model_fields, fitted.intercepts, strict=True):
        assert getattr(shipped.intercepts, name) == pytest.approx(value, abs=2e-3)

"""Key points are seen through the features that the weights were fitted to."""

from tests.rigs.calibration_items import load_items
from tests.rigs.fit_offline_judge import fit
from tests.tasks.judges.offline.test_points import SHARED, needs_data, recorded


@needs_data
def test_it_sees_key_points_through_the_features_that_the_weights_were_fitted_to() -> None:
    items = load_items(SHARED)
    points = [item for item in items if item.family == "key_point_in_report"]
    fitted = fit(items).probabilities(points)
    differing = [
        abs(probability - answer.score)
        for probability, item, (_, answer) in zip(fitted, points, recorded(), strict=True)
        if not item.vetoed and answer.score
    ]
    assert len(differing) > 1_000
    assert max(differing) < 0.001

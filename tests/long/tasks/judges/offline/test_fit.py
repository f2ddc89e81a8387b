"""What the weights file says of the judge holds, and reaches what the judge must reach."""

import pytest

from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.offline.weights import STEMS_FILE, OfflineWeights, load_weights
from tests.rigs.background_stems import format_stems
from tests.rigs.calibration_items import load_items, load_padded_key_points
from tests.rigs.fit_offline_judge import measure_agreements, measure_padded
from tests.rigs.offline_judge_controls import (
    choose_threshold,
    describe_agents,
    measure_controls,
    score_agents,
)
from tests.rigs.shared_edition import SharedEdition, load_edition
from tests.tasks.judges.offline.test_fit import DATA

pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(not DATA.exists(), reason="the published data is not at ../shared/data"),
]
KAPPA_FLOORS = {
    "key points, leave one question out": 0.33,
    "reference fact in report, blocks": 0.19,
    "both directions, blocks": 0.13,
    "claim in cited page, leave one page out": 0.36,
}
"""The lower ends of the intervals (cluster bootstrap) of the first version's kappas."""


@pytest.fixture(scope="module")
def shipped() -> OfflineWeights:
    return load_weights()[0]


@pytest.fixture(scope="module")
def edition() -> SharedEdition:
    return load_edition(DATA)


def test_agreement_with_recorded_judges_on_held_out_items_keeps_its_floor(
    shipped: OfflineWeights,
) -> None:
    held = measure_agreements(load_items(DATA), shipped.thresholds)
    for task, floor in KAPPA_FLOORS.items():
        assert held[task].kappa >= floor, task
        assert held[task].accuracy > held[task].majority, task
    assert held == shipped.held_out


def test_padding_a_report_ten_times_hardly_moves_the_key_points_found(
    shipped: OfflineWeights,
) -> None:
    found = measure_padded(load_items(DATA), load_padded_key_points(DATA), shipped.thresholds)
    assert abs(found.share_padded - found.share) <= 0.05
    assert found.kappa_padded >= KAPPA_FLOORS["key points, leave one question out"]
    assert found == shipped.padded


def test_denials_and_other_numbers_take_back_facts_and_the_reference_keeps_its_own(
    shipped: OfflineWeights, edition: SharedEdition
) -> None:
    found = measure_controls(OfflineJudge(), edition)
    assert found.facts == 10_225
    assert found.denied > 5_000
    assert found.denied_taken_back >= 0.75 * found.denied
    assert found.renumbered > 3_000
    assert found.renumbered_taken_back >= 0.9 * found.renumbered
    assert found.vetoed <= 0.005 * found.facts
    assert found.lost <= 0.01 * found.facts  # with facts of passages that no claim is made of
    assert found == shipped.controls


def test_counts_agree_with_probabilities_and_agents_keep_the_published_order(
    shipped: OfflineWeights, edition: SharedEdition
) -> None:
    honest, everything = score_agents(OfflineJudge(), edition)
    least = shipped.thresholds.fact_in_report
    assert choose_threshold(honest) == least
    found = describe_agents(honest, everything, least, edition.published)
    agents = found.agents.values()
    assert len(agents) == 8
    _check_gaps([agent.counted - agent.soft for agent in agents])
    _check_gaps([agent.counted_all - agent.soft_all for agent in agents])
    assert found.spearman >= 0.9
    assert found == shipped.shared_edition


def _check_gaps(gaps: list[float]) -> None:
    assert abs(sum(gaps) / len(gaps)) <= 1
    assert max(map(abs, gaps)) <= 4


def test_the_shipped_stems_are_those_of_the_shared_texts(edition: SharedEdition) -> None:
    assert STEMS_FILE.read_text("utf-8") == format_stems(DATA, edition)

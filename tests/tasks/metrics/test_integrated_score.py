"""The integrated score and its parts: by their laws; by hand they are in test_rigorous.py."""

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.integrated_score import (
    BoostWeights,
    HostMode,
    LinkCounts,
    integrated_score,
    quality_share,
    retrieval_index,
    score_per_token,
    trust_boost,
)

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "data" / "published"
SHARE = st.floats(0, 1)
WEIGHTS = BoostWeights()


@st.composite
def links(draw: st.DrawFn) -> LinkCounts:
    trusted, cited = draw(st.integers(0, 9)), draw(st.integers(0, 30))
    on_host = draw(st.integers(0, cited if trusted else 0))
    return LinkCounts(trusted, draw(st.integers(0, min(trusted, on_host))), on_host, cited)


def test_quality_s_part_in_the_loss_by_hand() -> None:
    assert quality_share(0, 0, 1.2, 1.2) == 1, "nothing else is lacking"
    assert quality_share(1, 0.3, 1.1, 1.2) == 0, "quality is perfect"
    assert quality_share(0.5, 0.5, 1.2, 1.2) == pytest.approx(0.5), "two parts lack the same"
    assert quality_share(0, 1, 1.2, 1.2) == pytest.approx(0.5), "both parts are nothing"
    assert quality_share(1, 0, 1.2, 1.2) is None, "nothing is lacking"
    # Orders in which 0.2, 0.6 and 1/1.2 fall to their places: 0.8·(1/3 + (0.6 + 5/6)/6 + 0.5/3).
    expected = 0.8 * (1 / 3 + (0.6 + 1 / 1.2) / 6 + 0.6 / 1.2 / 3) / (1 - 0.2 * 0.6 / 1.2)
    assert quality_share(0.2, 0.4, 1.0, 1.2) == pytest.approx(expected)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published tables are not at hand")
def test_the_published_table_averages_products_and_ratios() -> None:
    with (PUBLISHED / "rigorous_main.csv").open(encoding="utf-8") as lines:
        rows = {row["model"]: row for row in csv.DictReader(lines)}
    qwen = {name: float(value) for name, value in rows["Qwen-deep-research"].items()
            if name != "model"}  # fmt: skip
    of_means = integrated_score(qwen["quality"], 1 - qwen["one_minus_drift"], qwen["trust_boost"])
    assert round(of_means * 100, 2) == 34.27
    assert round(qwen["integrated_score"], 2) == 34.65
    ratio = score_per_token(qwen["integrated_score"] / 100, int(qwen["tokens"]))
    assert round(ratio or 0, 4) == 0.0037
    assert qwen["contribution_per_token"] == 0.0100
    for row in rows.values():
        assert 0 <= float(row["integrated_score"]) <= 120
        assert 1 <= float(row["trust_boost"]) <= 1.2


@settings(max_examples=50)
@given(links(), st.sampled_from(("algorithm", "formula")))
def test_the_boost_is_1_to_1_2_and_grows_with_what_is_cited(
    found: LinkCounts, mode: HostMode
) -> None:
    boost = trust_boost(found, WEIGHTS, mode)
    assert 1 <= boost <= 1.2
    if found.exact < min(found.trusted, found.on_host):
        more = found._replace(exact=found.exact + 1)
        if mode == "formula" or found.trusted <= found.cited:
            assert trust_boost(more, WEIGHTS, mode) > boost
    assert trust_boost(found, WEIGHTS, "algorithm") <= trust_boost(found, WEIGHTS, "formula")


@settings(max_examples=50)
@given(SHARE, SHARE, links(), SHARE, SHARE)
def test_the_score_is_0_to_120_percent_and_grows_with_each_part(
    good: float, drift: float, found: LinkCounts, better: float, less: float
) -> None:
    boost = trust_boost(found, WEIGHTS, "algorithm")
    score = integrated_score(good, drift, boost)
    assert 0 <= score <= 1.2
    assert integrated_score(max(good, better), drift, boost) >= score
    assert integrated_score(good, min(drift, less), boost) >= score
    assert integrated_score(good, drift, 1.2) >= score


@settings(max_examples=50)
@given(SHARE, SHARE, st.floats(1, 1.2))
def test_quality_s_part_in_the_loss_is_a_share(good: float, drift: float, boost: float) -> None:
    value = quality_share(good, drift, boost, 1.2)
    assert value is None or 0 <= value <= 1


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_retrieval_index_falls_with_pages_that_are_only_opened(cited: int, opened: int) -> None:
    assert 0 <= retrieval_index(cited, opened + 1) <= retrieval_index(cited, opened) <= cited

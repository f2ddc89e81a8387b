"""A metric whose paper does not say which values are better orders nobody."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tasks.analysis.agents import compare_agents
from tasks.analysis.protocols import compare_headline_metrics
from tasks.configuration.models import MetricEntry, load_protocol
from tasks.editions.names import UnknownName
from tasks.scoring.standings import compute_standings
from tasks.warehouse.results import AgentPair, LeaderboardRow
from tasks.warehouse.store import open_warehouse
from tests.tasks.scored_articles import articles, scored

INDEX = ("rigorous", "rigorous_retrieval_index")
BOOST = ("rigorous", "rigorous_trust_boost")
METRIC = next(m for m in load_protocol("rigorous").metrics if m.name == INDEX[1])


def test_the_retrieval_index_has_values_and_intervals_but_no_rank_and_no_pair(
    tmp_path: Path,
) -> None:
    values = {"ann": (0.1,) * 8, "bob": (2.0, 2.1) * 4}
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        articles(warehouse, ("Art",) * 8)
        scored(warehouse, {INDEX: values, BOOST: values})
        rows = warehouse.rows(LeaderboardRow, "metric = $1", [INDEX[1]])
        assert [row.value for row in rows] == [pytest.approx(0.1), pytest.approx(2.05)]
        assert rows[1].high is not None
        assert rows[1].high > 1
        assert {(row.rank_from, row.rank_to, row.unranked) for row in rows} == {(None, None, None)}
        assert {pair.metric for pair in warehouse.rows(AgentPair, "true")} == {BOOST[1]}
        with pytest.raises(
            UnknownName, match="compares no agents by the metric 'rigorous_retrieval_index'"
        ):
            compare_agents(warehouse, "e", "offline", metrics=[INDEX[1]])
        compared = compare_headline_metrics(warehouse, "e", "offline")
        assert INDEX[1] not in compared.pairs["metric"].to_list()
        scores = warehouse.frame("SELECT * FROM scores WHERE metric = $1", [INDEX[1]])
        places = compute_standings(scores, METRIC, {}, {}).rows
        assert [(row.agent, row.place) for row in places] == [("ann", None), ("bob", None)]


def test_a_metric_without_a_direction_says_so_and_is_never_zero_for_a_missing_report() -> None:
    assert (METRIC.sign, METRIC.direction) == (0, "no value is better")
    with pytest.raises(ValidationError, match="expected a metric with `better: higher`"):
        MetricEntry.model_validate(METRIC.model_dump() | {"zero_if_missing": True})

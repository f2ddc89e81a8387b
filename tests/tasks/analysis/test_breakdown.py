"""Figures by language and theme, and what judging took: over an edition judged at a server."""

from collections.abc import Iterator

import pytest

from tasks.analysis.breakdown import compute_breakdown
from tasks.benchmarks.errors import EditionError
from tasks.costs.tokens import count_tokens
from tasks.protocols.registry import get_protocol
from tasks.warehouse.calls import Call
from tasks.warehouse.results import Verdict
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.tasks.rubric_edition import EDITION, JUDGE, judged_edition

BENCH = get_protocol("rubric_bench")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Judged by a model whose first answer to each question lacks an item."""
    folder = tmp_path_factory.mktemp("judged")
    server = GeminiServer(faults=FaultPlan(faults=("missing_item",), times=1))
    with open_warehouse(folder / "w.duckdb") as opened:
        judged_edition(opened, folder, server)
        yield opened


def test_a_group_s_figure_is_the_mean_over_its_reports(warehouse: Warehouse) -> None:
    """The first agent: 1 of 1 in zh; 2 of 5 and 0 of 4 in en, mean .3 (doubles both count)."""
    frame = compute_breakdown(warehouse, EDITION, BENCH, "language", JUDGE)
    found = {
        (row["agent"], row["group"]): (row["value"], row["n_reports"], row["n_without"])
        for row in frame.iter_rows(named=True)
        if row["metric"] == "rubric_total"
    }
    assert found == {
        ("all", "zh"): (1.0, 1, 0), ("all", "en"): (pytest.approx(0.3), 2, 0),
        ("few", "zh"): (0.25, 1, 0), ("few", "en"): (None, 0, 1),
    }  # fmt: skip
    assert list(frame["metric"])[:3] == ["rubric_total", "rubric_info_recall", "rubric_analysis"]
    themes = (
        compute_breakdown(warehouse, EDITION, BENCH, "theme", JUDGE)["group"].unique().to_list()
    )
    assert sorted(themes) == ["Health", "Law, & order"]


def test_no_rubrics_and_no_scores_are_two_things(warehouse: Warehouse) -> None:
    with pytest.raises(EditionError, match="The tasks of drb2 have no known theme under wiki_fact"):
        compute_breakdown(warehouse, EDITION, get_protocol("wiki_fact"), "theme", JUDGE)
    with pytest.raises(EditionError, match=r"'nobody' has scored nothing .* have: a_judge"):
        compute_breakdown(warehouse, EDITION, BENCH, "theme", "nobody")


def test_a_call_counts_once_however_many_items_it_decided_and_each_time_it_was_made(
    warehouse: Warehouse,
) -> None:
    calls = warehouse.rows(Call, "true")
    assert len(calls) == 2 * 4
    spent = sum(
        (c.prompt_tokens or 0) + (c.output_tokens or 0) + (c.thinking_tokens or 0) for c in calls
    )
    agents, reports, batches = (
        count_tokens(warehouse, EDITION, "rubric_bench", level, None)
        for level in ("agent", "report", "batch")
    )
    for frame in (agents, reports, batches):
        assert frame["tokens"].sum() == spent
        assert frame["calls"].sum() == 8
        assert frame["items"].sum() == 17
    assert agents.select("agent", "reports", "batches").rows() == [("all", 3, 3), ("few", 1, 1)]
    assert reports["assignment"].to_list() == ["idx-10", "idx-2", "idx-3", "idx-2"]
    assert batches["batch"].n_unique() == 4
    assert count_tokens(warehouse, EDITION, "rubric_bench", "agent", "nobody").is_empty()
    (verdict, *_) = warehouse.rows(Verdict, "call_id IS NOT NULL")
    warehouse.write(Change(Verdict, [verdict.model_copy(update={"step": verdict.step + " 2"})]))
    again = count_tokens(warehouse, EDITION, "rubric_bench", "agent", None)
    assert again["items"].sum() == 17, "two verdicts on an item by one call are one item"

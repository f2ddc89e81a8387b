"""What is exported: a line a report, the published tables, and why a report has no figures."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.benchmarks.errors import EditionError
from tasks.benchmarks.research import PublishedSet
from tasks.imports.queries import import_queries
from tasks.publishing.drb2 import TABLES, export_drb2
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.guarantees.tasks.imports.test_queries import QUERIES
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.tasks.models.scripted import MemoryLedger
from tests.tasks.rubric_edition import EDITION, JUDGE, judged_edition


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Warehouse, MemoryLedger]]:
    folder = tmp_path_factory.mktemp("judged")
    with open_warehouse(folder / "w.duckdb") as opened:
        yield opened, judged_edition(opened, folder)


def test_lines_and_tables_are_those_of_the_published_scripts(
    judged: tuple[Warehouse, MemoryLedger], tmp_path: Path
) -> None:
    warehouse, ledger = judged
    out = tmp_path / "made" / "out"
    summary = export_drb2(warehouse, EDITION, JUDGE, out)
    assert (summary.agents, summary.reports) == (2, 5)
    assert summary.without == ("few, idx-10: the report is empty",)
    assert {path.name for path in out.iterdir()} == {
        "result.jsonl", *(f"agg_scores_{name}.csv" for name in TABLES),
    }  # fmt: skip
    lines = [json.loads(line) for line in (out / "result.jsonl").open(encoding="utf-8")]
    assert [(line["model"], line["idx"]) for line in lines] == [
        ("all", 2), ("all", 3), ("all", 10), ("few", 2), ("few", 10),
    ]  # fmt: skip
    assert lines[4]["result"] == {"error": "the report is empty"}
    whole = lines[0]["result"]
    assert whole["task"] == "Why does water boil? (2)"
    assert list(whole["scores"]) == ["info_recall", "analysis", "presentation"]
    assert list(whole["scores"]["info_recall"]) == [
        "Water boils at 2 degrees there.", "Snow fell in March.",
    ]  # fmt: skip
    assert whole["scores"]["info_recall"]["Snow fell in March."] == {
        "score": 1, "reason": "Most of its words stand in one sentence.",
        "evidence": "Snow fell in March.",
    }  # fmt: skip
    assert lines[2]["result"]["scores"]["info_recall"]["Water boils at 10 degrees there."][
        "score"
    ] == -1  # fmt: skip
    assert list(lines[1]["result"]["scores"]["info_recall"]) == [
        "Snow fell in March.", "Rain fell in June.",
    ]  # fmt: skip
    calls = {call.prompt_tokens: call for call in ledger.calls.values()}
    [batch] = whole["usage_metadata_per_batch"]
    call = calls[batch["promptTokenCount"]]
    assert batch["candidatesTokenCount"] == call.output_tokens
    assert whole["usage_summary"]["total_tokens"] == batch["totalTokenCount"]
    with (out / "agg_scores_total.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["idx", "language", "theme", "all", "few", "avg"],
            ["2", "zh", "Law, & order", "1.000000", "0.250000", "0.625000"],
            ["3", "en", "Health", "0.500000", "", "0.500000"],
            ["10", "en", "Health", "0.000000", "", "0.000000"],
            ["avg", "", "", "0.500000", "0.250000", "0.437500"],
        ]


@pytest.mark.parametrize(
    ("fault", "says"), [("prose", "4 items are open"), ("safety", "no item was decided")]
)
def test_a_report_that_nobody_could_judge_has_its_reason_in_place_of_figures(
    fault: str, says: str, warehouse: Warehouse, tmp_path: Path
) -> None:
    server = GeminiServer(faults=FaultPlan(faults=(fault,), times=None))
    judged_edition(warehouse, tmp_path, server)
    summary = export_drb2(warehouse, EDITION, JUDGE, tmp_path)
    assert len(summary.without) == summary.reports == 5
    assert f"all, idx-2: {says}" in summary.without
    table = (tmp_path / "agg_scores_total.csv").read_text("utf-8")
    assert table.endswith("avg,,,,,\n")


def test_nothing_judged_and_another_bench_are_refused(
    judged: tuple[Warehouse, MemoryLedger], tmp_path: Path
) -> None:
    warehouse, _ = judged
    with pytest.raises(EditionError, match="'nobody' has scored nothing of drb2"):
        export_drb2(warehouse, EDITION, "nobody", tmp_path)
    import_queries(warehouse, PublishedSet(layout="drgym", title="A gym"), QUERIES[1:3], "gym")
    with pytest.raises(EditionError, match="gym comes from drgym"):
        export_drb2(warehouse, "gym", JUDGE, tmp_path)

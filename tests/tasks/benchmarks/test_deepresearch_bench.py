"""DeepResearch Bench's published files: read whole, by prompt, and what is wrong is told."""

from pathlib import Path
from typing import Any

import pytest

from tasks.benchmarks.deepresearch_bench import SET, read_deepresearch_bench
from tasks.benchmarks.errors import EditionError
from tasks.imports.queries import import_queries
from tasks.judging.cells import plan_cells
from tasks.protocols.registry import get_protocol
from tasks.warehouse.rows import Report
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.benchmarks.deepresearch_copy import QUESTIONS, measure, task, write_copy
from tests.tasks.protocols.framed import report


def test_tasks_come_by_number_with_criteria_weights_and_reference(tmp_path: Path) -> None:
    first, second, third = read_deepresearch_bench(write_copy(tmp_path))
    assert [q.key for q in (first, second, third)] == ["task-1", "task-2", "task-51"]
    assert first.query == QUESTIONS[1]
    assert [item.item for item in first.items[:3]] == [
        "comprehensiveness-1", "comprehensiveness-2", "insight-1",
    ]  # fmt: skip
    assert (first.items[0].text, first.items[0].weight) == ("Depth of comprehensiveness", 0.75)
    assert first.items[0].explanation == "Is there enough of it?"
    assert first.settings.dimension_weights == {
        "comprehensiveness": 0.3, "insight": 0.4, "instruction_following": 0.2, "readability": 0.1,
    }  # fmt: skip
    assert (first.settings.language, first.settings.theme) == ("en", "History")
    assert str(first.reference).startswith("# The tower")
    assert third.reference is None


def test_a_folder_with_the_three_files_is_a_copy_too(tmp_path: Path) -> None:
    clone = write_copy(tmp_path / "clone")
    bare = tmp_path / "bare"
    bare.mkdir()
    for file in clone.rglob("*.jsonl"):
        file.rename(bare / file.name)
    assert len(read_deepresearch_bench(bare)) == 3


def changed(**more: Any) -> dict[str, Any]:
    return measure(1) | more


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"tasks": [task(1), task(1)]}, "id 1 is there twice, in rows 1 and 2"),
        ({"tasks": [task(1) | {"id": "../x"}]}, r"query\.jsonl: row 1: `id`"),
        ({"tasks": [task(1) | {"prompt": " "}]}, r"query\.jsonl: row 1: `prompt`"),
        ({"measures": [measure(2), changed(criterions={})]}, r"row 2: `criterions\.compreh"),
        ({"measures": [changed(dimension_weight={"insight": 1})]}, r"`dimension_weight\.compreh"),
        (
            {"measures": [changed(dimension_weight=measure(1)["dimension_weight"]
                                  | {"insight": float("nan")})]},
            r"`dimension_weight\.insight`",
        ),
        ({"measures": [changed(criterions=measure(1)["criterions"] | {"insight": []})]},
         r"`criterions\.insight`"),
        ({"references": [{"prompt": QUESTIONS[1], "article": ""}]}, r"reference\.jsonl: row 1"),
        ({"references": ["no object"]}, "expected a list of rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_file_row_and_field(
    files: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(EditionError, match=says):
        read_deepresearch_bench(write_copy(tmp_path, **files))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (write_copy(tmp_path) / "data/test_data/cleaned_data/reference.jsonl").unlink()
    with pytest.raises(EditionError, match=r"has no test_data/cleaned_data/reference\.jsonl"):
        read_deepresearch_bench(tmp_path)


def test_only_tasks_with_a_reference_have_cells_of_race(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        queries = read_deepresearch_bench(write_copy(tmp_path))
        import_queries(warehouse, SET, queries, "e")
        warehouse.write(Change(Report, [report(assignment=query.key) for query in queries]))
        cells = {
            name: [
                p.assignment
                for p in plan_cells(warehouse, "e", get_protocol(name), ScriptedJudge())
            ]
            for name in ("race", "fact", "wiki_writing")
        }
    assert cells == {
        "race": ["task-1", "task-2"], "fact": ["task-1", "task-2", "task-51"], "wiki_writing": [],
    }  # fmt: skip

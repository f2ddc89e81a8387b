"""DeepResearch Bench II as it is published, and files that are not quite it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tasks.benchmarks.drb2 import read_drb2
from tasks.benchmarks.errors import EditionError
from tasks.warehouse.rubrics import BlockedSource
from tests.tasks.rubric_edition import row, with_rubric, write_lines
from tests.tasks.rubric_reports import TASKS


@pytest.mark.skipif(not TASKS.exists(), reason="the published data is not at ../shared/data")
def test_the_published_file_holds_7204_items_and_none_twice() -> None:
    tasks = read_drb2(TASKS)
    assert [task.key for task in tasks] == [f"idx-{idx}" for idx in range(1, 101)]
    assert Counter(task.settings.language for task in tasks) == {"zh": 50, "en": 50}
    items = [item for task in tasks for item in task.items]
    assert Counter(item.dimension for item in items) == {
        "info_recall": 5321, "analysis": 1311, "presentation": 572,
    }  # fmt: skip
    assert len(items) == 7204
    for task in tasks:
        assert len({item.item for item in task.items}) == len(task.items)
        assert len({(item.dimension, item.text) for item in task.items}) == len(task.items)
        assert task.settings.blocked
        assert task.agent_query
        assert task.agent_query.startswith(task.query)
        assert task.settings.blocked.urls[0] in task.agent_query


def test_a_task_is_known_by_its_number_and_its_items_by_their_places(tmp_path: Path) -> None:
    line = with_rubric(row(7, "zh", "Law"), info_recall=["Same.", "Other.", "Same."])
    [other, task] = read_drb2(write_lines(tmp_path / "t.jsonl", line, row(2)))
    assert (other.key, task.key) == ("idx-2", "idx-7")
    assert [(item.item, item.text) for item in task.items][:4] == [
        ("info_recall-1", "Same."), ("info_recall-2", "Other."), ("info_recall-3", "Same."),
        ("analysis-1", "Pressure explains the boiling."),
    ]  # fmt: skip
    assert {item.allowed for item in task.items} == {("1", "0", "-1")}
    assert (task.settings.language, task.settings.theme) == ("zh", "Law")
    assert task.settings.blocked == BlockedSource(
        title="The source", authors=("Wu",), urls=("https://blocked.org/1",)
    )
    assert (task.query, task.agent_query) == (
        "Why does water boil? (7)", "Why does water boil? (7)\n\nRead no source.",
    )  # fmt: skip


def test_keys_of_later_versions_are_left_alone_and_nothing_need_be_blocked(tmp_path: Path) -> None:
    line = row(1, license="CC BY 4.0")
    line["content"]["blocked"] = {}
    [task] = read_drb2(write_lines(tmp_path / "t.jsonl", line))
    assert task.settings.blocked is None


def without(line: dict[str, Any], *path: str) -> dict[str, Any]:
    name, *inner = path
    if inner:
        return line | {name: without(line[name], *inner)}
    return {key: value for key, value in line.items() if key != name}


WRONG = [
    (without(row(1), "idx"), "row 2: `idx`: it is missing"),
    (row(1) | {"idx": "1"}, r"row 2: `idx`: expected a whole number; found '1'"),
    (row(1) | {"idx": True}, "row 2: `idx`"),
    (row(1) | {"idx": -1}, "row 2: `idx`"),
    (row(1) | {"idx": 10**30}, "row 2: `idx`"),
    (row(1) | {"idx": "../1"}, "row 2: `idx`"),
    (row(9), "idx 9 is there twice, in rows 1 and 2"),
    (row(1) | {"language": "Chinese"}, "row 2: `language`"),
    (row(1) | {"theme": float("nan")}, "row 2: `theme`"),
    (row(1) | {"prompt": "  "}, "row 2: `prompt`"),
    (row(1) | {"content": []}, r"row 2: `content`: .*; found a list of 0"),
    (without(row(1), "content", "task"), "`content.task`: it is missing"),
    (without(row(1), "content", "rubric", "analysis"), "`content.rubric.analysis`: it is missing"),
    (with_rubric(row(1), style=["x"]), "`content.rubric.style`: Extra inputs"),
    (with_rubric(row(1), analysis="one"), "`content.rubric.analysis`"),
    (with_rubric(row(1), analysis=["a", 3]), r"`content.rubric.analysis.1`: .*; found '3'"),
    (with_rubric(row(1), analysis=["a", ""]), "`content.rubric.analysis.1`"),
    (with_rubric(row(1), analysis=["x" * 30_000]), "`content.rubric.analysis.0`"),
    (with_rubric(row(1), info_recall=[], analysis=[], presentation=[]), "has no items"),
    (without(row(1), "content", "blocked"), "`content.blocked`: it is missing"),
]


@pytest.mark.parametrize(("line", "says"), WRONG, ids=[says[:40] for _, says in WRONG])
def test_what_is_wrong_is_named_by_file_row_and_field(
    line: dict[str, Any], says: str, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "copy.jsonl", row(9), line)
    with pytest.raises(EditionError, match=says) as raised:
        read_drb2(path)
    assert str(path) in str(raised.value)
    assert len(str(raised.value)) < 400 + len(str(path))

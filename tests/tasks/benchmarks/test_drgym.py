"""Published queries in every layout, and what is no such layout."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.benchmarks.drgym import read_drgym
from tasks.benchmarks.errors import EditionError

POINTS = [
    {"point_number": 1, "point_content": "By day.", "original_point_number": [1, 3]},
    {"point_number": 2, "point_content": "By night.", "original_point_number": [2]},
]
ROW = {"id": "12", "question": "How?", "key_points": POINTS}
READ = (("By day.", (1, 3)), ("By night.", (2,)))


def lines(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def one(folder: Path, name: str, question: str, points: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"question": question, "key_points": points}), "utf-8")


def test_queries_and_their_key_points_are_joined_by_id(tmp_path: Path) -> None:
    lines(tmp_path / "queries.jsonl", {"id": "12", "query": "How so?"}, {"id": 7, "query": "Why?"})
    lines(tmp_path / "key_points.jsonl", ROW, {"id": "9", "question": "When?", "key_points": []})
    found = read_drgym(tmp_path)
    assert [(q.key, q.query, q.points) for q in found.queries] == [
        ("12", "How so?", READ), ("7", "Why?", None), ("9", "When?", ()),
    ]  # fmt: skip
    assert found.n_available == 3


def test_either_file_alone_will_do(tmp_path: Path) -> None:
    points = lines(tmp_path / "key_points.jsonl", ROW)
    assert read_drgym(points).queries == read_drgym(tmp_path).queries
    queries = lines(tmp_path / "other" / "queries.jsonl", {"id": "12", "query": "How?"})
    assert [q.points for q in read_drgym(queries).queries] == [None]


@pytest.mark.parametrize("below", [".", "key_point"])
def test_of_the_published_files_of_a_query_the_one_merged_most_counts(
    below: str, tmp_path: Path
) -> None:
    folder = tmp_path / below
    one(folder, "12.json", "How?", [POINTS[1]])
    one(folder, "12_deduplicated.json", "How?", [POINTS[0]])
    one(folder, "12_aggregated.json", "How?", POINTS)
    one(folder, "7.json", "Why?", [POINTS[1]])
    one(folder, "7_deduplicated.json", "Why?", [POINTS[0]])
    one(folder, "9.json", "When?", [])
    assert [(q.key, q.query, q.points) for q in read_drgym(tmp_path).queries] == [
        ("12", "How?", READ), ("7", "Why?", READ[:1]), ("9", "When?", ()),
    ]  # fmt: skip


def test_numbers_are_read_as_texts(tmp_path: Path) -> None:
    row = {"id": 7, "query": 1984, "key_points": [{"point_content": 42}]}
    [query] = read_drgym(lines(tmp_path / "key_points.jsonl", row)).queries
    assert (query.key, query.query, query.points) == ("7", "1984", (("42", ()),))


def clicked(n: int, key: str) -> dict[str, Any]:
    documents = [{"ClueWebURLHash": f"{key}{m}", "Click_Cnt": 1 / n} for m in range(n)]
    return {"id": key, "question": f"Why {key}?", "DocStream": documents, "intrinsic_scores": {}}


ROWS = [clicked(2, "30"), clicked(5, "20"), clicked(1, "10"), clicked(2, "4")]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_of_researchy_questions_those_with_the_most_clicked_documents_are_taken(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"test.{ending}"
    if ending == "parquet":
        pl.DataFrame([{k: v for k, v in row.items() if v} for row in ROWS]).write_parquet(path)
    else:
        lines(path, *ROWS)
    found = read_drgym(path, 2)
    assert ([q.key for q in found.queries], found.n_available) == (["20", "30"], 4)
    assert [q.key for q in read_drgym(path, 3).queries] == ["20", "30", "4"]
    assert len(read_drgym(path).queries) == 4
    assert {q.points for q in found.queries} == {None}


def test_without_clicked_documents_there_is_no_top(tmp_path: Path) -> None:
    path = lines(tmp_path / "queries.jsonl", {"id": "12", "query": "How?"})
    with pytest.raises(EditionError, match=r"DocStream.*Leave out --top"):
        read_drgym(path, 5)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (ROW | {"id": "../12"}, "row 1: `id`"),
        (ROW | {"id": ""}, "row 1: `id`"),
        (ROW | {"id": True}, "row 1: `id`"),
        (ROW | {"id": "x" * 101}, "row 1: `id`"),
        (ROW | {"id": "12\n"}, "row 1: `id`"),
        ({"question": "How?"}, "row 1: `id`"),
        ({"id": "12"}, "id '12' has no `query`"),
        (ROW | {"question": " "}, "`question`"),
        (ROW | {"question": ["How?"]}, "`question`"),
        (ROW | {"question": "x" * 20_001}, "`question`"),
        (ROW | {"key_points": "many"}, "`key_points`"),
        (ROW | {"key_points": ["By day."]}, "`key_points.0"),
        (ROW | {"key_points": [{"point_content": ""}]}, r"`key_points.0.point_content`"),
        (ROW | {"key_points": [POINTS[0] | {"original_point_number": [1.5]}]}, "original_point"),
        (ROW | {"key_points": [{"point_content": "A."}] * 5_001}, "`key_points`"),
        (ROW | {"DocStream": 3}, "`DocStream`"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(row: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(EditionError, match=says) as error:
        read_drgym(lines(tmp_path / "key_points.jsonl", row))
    assert len(str(error.value)) < 600


def test_an_id_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EditionError, match="id '12' is there twice"):
        read_drgym(lines(tmp_path / "key_points.jsonl", ROW, ROW))


def test_a_folder_with_nothing_known_in_it_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(EditionError, match=r"queries\.jsonl and key_points\.jsonl"):
        read_drgym(tmp_path)


def test_a_file_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    one(tmp_path / "secret", "9.json", "When?", [])
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "9.json").symlink_to(tmp_path / "secret" / "9.json")
    with pytest.raises(EditionError, match="leads out of its folder"):
        read_drgym(tmp_path / "copy")


def test_half_a_surrogate_pair_can_be_stored(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "12", "query": "Why \\ud83d?"}')
    assert read_drgym(path).queries[0].query == "Why \ufffd?"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["id", "query", "question", "key_points", "point_content", "DocStream"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(JSON, st.just(ROW)), max_size=3))
def test_whatever_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any]
) -> None:
    path = lines(tmp_path_factory.getbasetemp() / "any.jsonl", *rows)
    try:
        found = read_drgym(path)
    except EditionError:
        return
    assert all(query.key and query.query.strip() for query in found.queries)

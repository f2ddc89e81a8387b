"""Everything that can be asked is described, where the thing itself is written."""

from typing import get_args

import pytest

from tasks.warehouse.descriptions import COMMON_COLUMNS, TableDescription, load_descriptions
from tasks.warehouse.pages import PageStatus
from tasks.warehouse.tables import TABLES

OLD_WITHOUT_WORDS = {
    ("cells", "input_sha"), ("cells", "n_verdicts"), ("scores", "scorer_version"),
    ("diagnostics", "name"), ("diagnostics", "unit"), ("diagnostics", "version"),
}  # fmt: skip
"""Columns of tables whose name says all there is so far; none may join them."""


@pytest.mark.parametrize("of", load_descriptions().values(), ids=lambda of: of.name)
def test_every_table_and_view_and_its_columns_are_described(of: TableDescription) -> None:
    assert of.text, f"{of.name}: give its row a docstring, or the view a comment"
    assert of.columns
    missing = {(of.name, column.name) for column in of.columns if not column.text}
    assert missing <= OLD_WITHOUT_WORDS


def test_every_table_is_there_before_the_views() -> None:
    names = list(load_descriptions())
    assert names[: len(TABLES)] == [model.table for model in TABLES]
    assert "coverage_by_fact" in names
    assert load_descriptions()["coverage_by_fact"].kind == "view"
    assert load_descriptions()["warehouse_info"].kind == "table"


def test_a_column_says_what_its_docstring_says_and_which_values_it_has() -> None:
    columns = {column.name: column for column in load_descriptions()["pages"].columns}
    assert (columns["url"].kind, columns["fetched_at"].kind) == ("VARCHAR", "TIMESTAMP")
    assert columns["error"].text == "Why the page is not `ok`."
    assert str(columns["status"].text).endswith(f"One of: {', '.join(get_args(PageStatus))}.")


def test_a_view_of_a_table_says_of_a_column_what_the_table_says() -> None:
    of = {column.name: column.text for column in load_descriptions()["verdicts"].columns}
    passed_on = {
        column.name: column.text for column in load_descriptions()["current_verdicts"].columns
    }
    assert passed_on == of
    ranking = {
        column.name: column.text for column in load_descriptions()["candidate_ranking"].columns
    }
    assert ranking["score"] == "The sum of both ranks; lower is better."
    assert ranking["words"] == "Words of prose in the wikitext."


def test_what_is_told_once_for_all_is_used() -> None:
    columns = {column.name for of in load_descriptions().values() for column in of.columns}
    assert set(COMMON_COLUMNS) <= columns

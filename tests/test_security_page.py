"""SECURITY.md lists every promise with its test."""

import pytest

from tests.attacks.table import PAGE, insert_table

pytestmark = pytest.mark.prose


def test_the_table_of_promises_is_made_from_the_attacks() -> None:
    page = PAGE.read_text("utf-8")
    assert page == insert_table(page), "run `python -m tests.attacks.table`"

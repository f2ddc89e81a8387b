"""A budget is an amount, or the word for none."""

import math

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks.configuration.budgets import Usd, to_limit

BUDGET = TypeAdapter(Usd | None)


@pytest.mark.parametrize(
    ("written", "limit"), [(None, None), (0, 0.0), (2.5, 2.5), ("unlimited", None)]
)
def test_a_budget_sets_a_limit_and_is_written_as_it_was_read(
    written: object, limit: float | None
) -> None:
    read = BUDGET.validate_python(written)
    assert to_limit(read) == limit
    assert BUDGET.dump_python(read) == written
    assert BUDGET.validate_json(BUDGET.dump_json(read)) == read


def test_an_unlimited_budget_is_not_one_that_nobody_has_set() -> None:
    assert BUDGET.validate_python("unlimited") == math.inf


@pytest.mark.parametrize("written", [-1, "much", "Unlimited"])
def test_what_is_no_amount_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        BUDGET.validate_python(written)

"""The money of one run, whatever its stages, agents and judges are."""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks.models.budget import Budget
from tasks.warehouse.store import Warehouse

_budgets: dict[Warehouse, Budget] = {}


@contextmanager
def spending(warehouse: Warehouse, usd: float | None) -> Iterator[Budget]:
    """While open, all that is spent comes out of one budget; None is no cap.

    A flow inside another flow spends the outer one's money: there `usd` says nothing.
    """
    if warehouse in _budgets:
        yield _budgets[warehouse]
        return
    _budgets[warehouse] = Budget(usd)
    try:
        yield _budgets[warehouse]
    finally:
        del _budgets[warehouse]


def budget_of(warehouse: Warehouse) -> Budget:
    """The budget that is open; outside of any, one without a cap."""
    return _budgets.get(warehouse) or Budget()

"""The budget that all stages, agents and judges of a run share."""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks.models.budget import Budget
from tasks.warehouse.store import Warehouse

_budgets: dict[Warehouse, Budget] = {}


@contextmanager
def open_budget(warehouse: Warehouse, usd: float | None) -> Iterator[Budget]:
    """Open a budget for all spending within the block; None: no cap.

    A flow inside another flow uses the outer one's budget and ignores `usd`.
    """
    if warehouse in _budgets:
        yield _budgets[warehouse]
        return
    _budgets[warehouse] = Budget(usd)
    try:
        yield _budgets[warehouse]
    finally:
        del _budgets[warehouse]


def get_budget(warehouse: Warehouse) -> Budget:
    """Return the open budget, or one without a cap if none is open."""
    return _budgets.get(warehouse) or Budget()

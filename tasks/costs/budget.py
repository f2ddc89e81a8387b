"""The budget that all stages, agents and judges of a run share."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from tasks.models.budget import Budget
from tasks.warehouse.store import Warehouse


@contextmanager
def open_budget(warehouse: Warehouse, usd: float | None) -> Iterator[Budget]:
    """Open a budget for all spending within the block; None: no cap.

    A flow inside another flow uses the outer one's budget and ignores `usd`.
    """
    outer = warehouse.context.find(Budget)
    fresh = Budget(usd, closed=warehouse.lost)
    with nullcontext(outer) if outer else warehouse.context.hold(fresh) as budget:
        yield budget


def get_budget(warehouse: Warehouse) -> Budget:
    """Return the open budget, or one without a cap if none is open."""
    return warehouse.context.find(Budget) or Budget(closed=warehouse.lost)

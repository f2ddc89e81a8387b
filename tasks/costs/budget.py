"""The budget that all stages, agents and judges of a run share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.files.room import DiskRoom
from tasks.models.budget import Budget
from tasks.warehouse.store import Warehouse


@contextmanager
def open_budget(warehouse: Warehouse, usd: float | None) -> Iterator[Budget]:
    """Open a budget for all spending within the block; None: no cap.

    A flow inside another flow uses the outer one's budget and ignores `usd`.
    """
    outer = warehouse.context.find(Budget)
    if outer:
        yield outer
        return
    with warehouse.context.hold(Budget(usd, _measure_room(warehouse))) as budget:
        yield budget


def get_budget(warehouse: Warehouse) -> Budget:
    """Return the open budget, or one without a cap if none is open."""
    return warehouse.context.find(Budget) or Budget(room=_measure_room(warehouse))


def _measure_room(warehouse: Warehouse) -> DiskRoom:
    """Return the room beside the warehouse, and in Prefect's folder: without its history no run
    goes on."""
    prefect_home = os.environ.get("PREFECT_HOME")
    return DiskRoom([warehouse.location.root, *([Path(prefect_home)] if prefect_home else [])])

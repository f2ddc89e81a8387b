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
    with warehouse.context.hold(_make_budget(warehouse, usd)) as budget:
        yield budget


def get_budget(warehouse: Warehouse) -> Budget:
    """Return the open budget, or one without a cap if none is open."""
    return warehouse.context.find(Budget) or _make_budget(warehouse, None)


def _make_budget(warehouse: Warehouse, usd: float | None) -> Budget:
    """Make a budget that buys only what can be kept: beside the warehouse, and in Prefect's folder,
    without whose history no run goes on."""
    folders = [warehouse.location.root, os.environ.get("PREFECT_HOME") or warehouse.location.root]
    return Budget(usd, room=DiskRoom(map(Path, folders)), closed=warehouse.lost)

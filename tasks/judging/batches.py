"""Batch jobs in the warehouse: what a run leaves open, the next one takes up."""

import asyncio
from collections.abc import Collection, Sequence

from tasks.warehouse.calls import BatchJob
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


class WarehouseBatchStore:
    """The jobs of one judge with one model."""

    def __init__(self, warehouse: Warehouse, provider: str, model: str, judge: str) -> None:
        self._warehouse = warehouse
        self._whose = [provider, model, judge]

    async def open_jobs(self) -> Sequence[BatchJob]:
        """Those that are neither done nor failed, by age."""
        rows = await asyncio.to_thread(
            self._warehouse.rows,
            BatchJob,
            "state IN ('creating', 'running') AND provider = $1 AND model = $2 AND judge = $3",
            self._whose,
        )
        return sorted(rows, key=lambda row: row.created_at)

    async def keep(self, job: BatchJob) -> None:
        """Returns once it is committed, in place of what was known of it."""
        # Through a thread: what is under way here is cancelled when a run is interrupted, and a
        # write that was handed in must not be.
        await asyncio.to_thread(self._warehouse.write, Change(BatchJob, [job]))

    async def bought(self, response_ids: Collection[str]) -> frozenset[str]:
        """Those of the answers that the ledger holds."""
        frame = await asyncio.to_thread(
            self._warehouse.frame,
            "SELECT response_id FROM calls WHERE provider = $1 AND model = $2 "
            "AND response_id IN (SELECT unnest($3))",
            [*self._whose[:2], list(response_ids)],
        )
        return frozenset(frame["response_id"])

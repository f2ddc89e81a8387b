"""Batch jobs in the warehouse, so that the next run resumes open ones."""

import asyncio
from collections.abc import Collection, Sequence

from tasks.warehouse.calls import BatchJob
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


class WarehouseBatchStore:
    """Stores the batch jobs of one judge and model."""

    def __init__(self, warehouse: Warehouse, provider: str, model: str, judge: str) -> None:
        self._warehouse = warehouse
        self._whose = [provider, model, judge]

    async def load_open_jobs(self) -> Sequence[BatchJob]:
        """Return the jobs that are neither done nor failed, the oldest first."""
        rows = await asyncio.to_thread(
            self._warehouse.rows,
            BatchJob,
            "state IN ('creating', 'running') AND provider = $1 AND model = $2 AND judge = $3",
            self._whose,
        )
        return sorted(rows, key=lambda row: row.created_at)

    async def save(self, job: BatchJob) -> None:
        """Store a job's row; return once it is committed."""
        # In a thread: an interrupted run cancels this coroutine, but must not cancel the write.
        await asyncio.to_thread(self._warehouse.write, Change(BatchJob, [job]))

    async def find_saved(self, response_ids: Collection[str]) -> frozenset[str]:
        """Return those of the response ids that the ledger holds."""
        frame = await asyncio.to_thread(
            self._warehouse.frame,
            "SELECT response_id FROM calls WHERE provider = $1 AND model = $2 "
            "AND response_id IN (SELECT unnest($3))",
            [*self._whose[:2], list(response_ids)],
        )
        return frozenset(frame["response_id"])

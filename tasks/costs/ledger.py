"""The ledger: every call to a model, stored in the warehouse."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

import numpy as np
import polars as pl

from tasks.models.gateway import ANSWERS_PER_RUN
from tasks.warehouse.calls import Call
from tasks.warehouse.locks import hold_lock
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.writer import Change

LOOKUP_SECONDS = 0.02
"""How long a lookup waits for others, to answer all with one query."""
LOOK_UP = """
SELECT * REPLACE ('' AS system_prompt, '' AS prompt, '' AS reply_schema)
FROM calls WHERE request_id IN (SELECT unnest($1))
"""
"""Omits prompts, which callers know: they are most of the ledger, and DuckDB would decompress them
all at each lookup."""
PREFIX = 16
"""Hex digits of request ids that are held in memory: 8 bytes per call."""


class WarehouseLedger:
    """The ledger of the gateway, stored in the table `calls`.

    A sorted array of the first 64 bits of all request ids answers most lookups without a query. If
    other processes share the warehouse, each lookup queries it, and only one process at a time
    sends the same request.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._shared = warehouse.locks.shared
        prefix = f"CAST('0x' || left(request_id, {PREFIX}) AS UBIGINT) AS prefix"
        stored = warehouse.frame(f"SELECT DISTINCT {prefix} FROM calls")
        self._before = np.sort(stored["prefix"].to_numpy())
        self._since: set[str] = set()
        self._wanted: dict[str, asyncio.Future[list[Call]]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def load_attempts(self, request_id: str) -> Sequence[Call]:
        """Return the stored calls of a request without prompts, by attempt."""
        known = self._shared or request_id in self._since or self._may_hold(request_id)
        if not known:
            return ()
        if request_id not in self._wanted:
            self._wanted[request_id] = asyncio.get_running_loop().create_future()
        # One lookup at a time, since each scans the whole ledger: requests that arrive meanwhile
        # are looked up together.
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_up())
        # Shielded: others may wait for the same request, and one of them may be cancelled.
        return await asyncio.shield(self._wanted[request_id])

    def _may_hold(self, request_id: str) -> bool:
        prefix = np.uint64(int(request_id[:PREFIX], 16))
        place = int(self._before.searchsorted(prefix))
        return place < len(self._before) and bool(self._before[place] == prefix)

    async def save(self, call: Call, *, replace: bool) -> None:
        """Store a call; return once it is committed. replace: drop a failed call of the same id."""
        change = (
            Change(Call, [call], replacing={"call_id": call.call_id})
            if replace
            else Change(Call, [call], appending=True)
        )
        await self._warehouse.write_async(change)
        self._since.add(call.request_id)

    def lock_request(self, request_id: str) -> AbstractAsyncContextManager[None]:
        """Within the block no other process sends this request."""
        return hold_lock(self._warehouse.locks, f"request {request_id}")

    def known_version(self, provider: str, model: str) -> str | None:
        """Return the version the model answered as in its first call."""
        version: str | None = self._warehouse.value(
            "SELECT model_version FROM calls WHERE provider = $1 AND model = $2 "
            "AND model_version IS NOT NULL ORDER BY called_at, call_id LIMIT 1",
            [provider, model],
        )
        return version

    async def _look_up(self) -> None:
        while self._wanted:
            await asyncio.sleep(LOOKUP_SECONDS)
            wanted, self._wanted = self._wanted, {}
            await self._answer(wanted)

    async def _answer(self, wanted: dict[str, asyncio.Future[list[Call]]]) -> None:
        try:
            frame = await asyncio.to_thread(self._warehouse.frame, LOOK_UP, [list(wanted)])
            calls = [Call.model_validate(record) for record in frame.to_dicts()]
        except BaseException as error:
            for waiting in wanted.values():
                if not waiting.done():
                    waiting.set_exception(error)
            return
        found: dict[str, list[Call]] = {request_id: [] for request_id in wanted}
        for call in sorted(calls, key=lambda call: call.attempt):
            found[call.request_id].append(call)
        for request_id, waiting in wanted.items():
            if not waiting.done():
                waiting.set_result(found[request_id])


def find_answered_requests(source: Readable, request_ids: Sequence[str]) -> frozenset[str]:
    """Return those of the requests that the ledger has an answer to, or refusals to the end."""
    frame = source.frame(
        "SELECT request_id FROM calls WHERE request_id IN (SELECT unnest($1)) GROUP BY request_id "
        "HAVING bool_or(status = 'ok') OR count(*) FILTER (status <> 'failed') >= $2 "
        "AND max_by(status, attempt) FILTER (status <> 'failed') IN ('blocked', 'refused')",
        [list(request_ids), ANSWERS_PER_RUN],
    )
    return frozenset(frame["request_id"])


def average_tokens(source: Readable, provider: str, model: str) -> pl.DataFrame:
    """Return a model's mean output tokens per step, as rows of protocol, step, n, output."""
    return source.frame(
        "SELECT protocol, step, count(*) AS n, avg(output_tokens + coalesce(thinking_tokens, 0)) "
        "AS output FROM calls WHERE provider = $1 AND model = $2 AND output_tokens IS NOT NULL "
        "GROUP BY ALL ORDER BY ALL",
        [provider, model],
    )


def summarize_calls(source: Readable) -> pl.DataFrame:
    """Sum calls, HTTP requests (tries), tokens and dollars by judge, step and status."""
    return source.frame(
        "SELECT judge, protocol || '/' || step AS step, status, "
        "count(*) AS calls, sum(tries) AS tries, "
        "sum(prompt_tokens) AS prompt, sum(cached_tokens) AS cached, "
        "sum(cache_write_tokens) AS written, "
        "sum(output_tokens) AS output, sum(thinking_tokens) AS thinking, "
        "round(sum(cost_usd), 4) AS usd, round(median(latency_seconds), 2) AS seconds "
        "FROM calls GROUP BY ALL ORDER BY ALL"
    )

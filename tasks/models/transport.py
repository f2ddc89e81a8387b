"""One HTTP pool for many calls at once.

httpx looks through all of a pool's connections at every request: one pool of 100 connections
manages 62 calls a second against an endpoint that takes 200 ms, ten pools of ten 445 (two
cores, Python 3.11). So a client here spreads its calls over several small pools.
"""

from types import TracebackType

import httpx

POOL_SIZE = 10
"""Connections of one pool."""


class ShardedTransport(httpx.AsyncBaseTransport):
    """Hands each request to the pool that has the fewest under way."""

    def __init__(self, connections: int) -> None:
        limits = httpx.Limits(max_connections=POOL_SIZE, max_keepalive_connections=POOL_SIZE)
        n_pools = -(-connections // POOL_SIZE)
        self._pools = [httpx.AsyncHTTPTransport(limits=limits) for _ in range(n_pools)]
        self._under_way = [0] * n_pools

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # A pool is free again when the answer's head is there; its body is read at once.
        chosen = min(range(len(self._pools)), key=self._under_way.__getitem__)
        self._under_way[chosen] += 1
        try:
            return await self._pools[chosen].handle_async_request(request)
        finally:
            self._under_way[chosen] -= 1

    async def __aenter__(self) -> "ShardedTransport":
        for pool in self._pools:
            await pool.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        for pool in self._pools:
            await pool.__aexit__(exc_type, exc_value, traceback)


def http_client(connections: int, timeout_seconds: float) -> httpx.AsyncClient:
    """A client for `connections` calls at once, none of which waits for ever.

    Proxies and certificates named by the environment are left out: what a judge is sent goes
    to the configured endpoint only.
    """
    return httpx.AsyncClient(
        transport=ShardedTransport(connections),
        timeout=httpx.Timeout(timeout_seconds, connect=min(30.0, timeout_seconds), pool=None),
        follow_redirects=False,
    )

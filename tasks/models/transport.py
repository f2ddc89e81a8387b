"""One HTTP pool for many calls at once.

httpx looks through all of a pool's connections at every request, and asks the system about each
idle one: one pool of 100 connections manages 62 calls a second against an endpoint that takes
200 ms, ten pools of ten 445 (two cores, Python 3.11). So a client here has a pool for each
connection.
"""

import httpx
from sniffio import current_async_library_cvar


class ShardedTransport(httpx.AsyncBaseTransport):
    """Hands each request to the pool that has the fewest under way."""

    def __init__(self, connections: int) -> None:
        one = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        context = httpx.create_ssl_context(trust_env=False)
        self._pools = [
            httpx.AsyncHTTPTransport(limits=one, verify=context) for _ in range(connections)
        ]
        self._under_way = [0] * connections

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # A pool is free again when the answer's head is there; its body is read at once.
        chosen = min(range(len(self._pools)), key=self._under_way.__getitem__)
        self._under_way[chosen] += 1
        try:
            return await self._pools[chosen].handle_async_request(request)
        finally:
            self._under_way[chosen] -= 1

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()


def http_client(connections: int, timeout_seconds: float) -> httpx.AsyncClient:
    """A client for `connections` calls at once, none of which waits for ever.

    Proxies and certificates named by the environment are left out: what a judge is sent goes
    to the configured endpoint only.
    """
    return httpx.AsyncClient(
        transport=ShardedTransport(connections),
        timeout=timeouts(timeout_seconds),
        follow_redirects=False,
    )


def timeouts(seconds: float) -> httpx.Timeout:
    """For each wait inside one call; connecting gets half a minute at most."""
    return httpx.Timeout(seconds, connect=min(30.0, seconds), pool=None)


async def post(
    transport: ShardedTransport,
    url: httpx.URL,
    body: object,
    headers: dict[str, str],
    seconds: float,
) -> httpx.Response:
    """One POST of JSON, with its whole answer.

    Straight through the transport: a judge's calls need no cookies, redirects or
    authentication flows, which cost a fifth of what a call takes here.

    Raises:
        httpx.TransportError: no whole answer came.
    """
    # httpcore asks again and again which event loop it runs on; told once, it need not find out.
    current_async_library_cvar.set("asyncio")
    request = httpx.Request(
        "POST", url, json=body, headers=headers,
        extensions={"timeout": timeouts(seconds).as_dict()},
    )  # fmt: skip
    response = await transport.handle_async_request(request)
    response.request = request
    await response.aread()
    return response

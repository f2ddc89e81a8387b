"""Resolve host names and check each address, before connecting and when the socket is created."""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from tasks.web.guard import Guard

Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Return the IP addresses of a host; raise OSError if there are none."""
_MAX_LOOKUPS = 64
"""An unresponsive name server blocks a thread for half a minute."""


class CheckedResolver(AbstractResolver):
    """Resolves names and refuses those with an address that is not public."""

    def __init__(self, guard: Guard, lookup: Lookup | None, seconds: float) -> None:
        self._guard = guard
        self._threads = ThreadPoolExecutor(_MAX_LOOKUPS, "names")
        self._lookup = lookup or self._ask_system
        self._seconds = seconds
        self._granted: set[tuple[str, int]] = set()

    async def find_addresses(self, host: str, port: int, *, proxied: bool = False) -> list[str]:
        """Return the host's addresses, all of them checked.

        Raises:
            AddressRefused: one of them is not allowed.
            OSError: there are none, or the name server does not answer.
        """
        try:
            async with asyncio.timeout(self._seconds):
                addresses = await self._lookup(host, port)
        except TimeoutError:
            raise socket.gaierror(
                socket.EAI_AGAIN, f"no answer from DNS within {self._seconds:g} s"
            ) from None
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "the name has no address")
        for address in addresses:
            self._guard.check_address(host, port, address, proxied=proxied)
        return addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name for aiohttp before it connects."""
        addresses = await self.find_addresses(host, port)
        if self._guard.is_exempt(host, port):
            self._granted |= {(address, port) for address in addresses}
        return [
            ResolveResult(
                hostname=host, host=address, port=port, proto=0,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]  # fmt: skip

    def socket(self, place: AddrInfoType) -> socket.socket:
        """Create a socket for one address.

        Raises:
            PermissionError: connections to this address are not allowed.
        """
        family, kind, protocol, _, (address, port, *_) = place
        if (address, port) not in self._granted and not self._guard.may_connect(address, port):
            raise PermissionError(errno.EACCES, f"{address}:{port} may not be asked")
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _ask_system(self, host: str, port: int) -> list[str]:
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        )  # fmt: skip
        return list(dict.fromkeys(str(place[0]) for *_, place in found))

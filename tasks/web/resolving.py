"""Names to addresses: each checked before a connection, and again when its socket is made."""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from tasks.web.guard import Guard

Lookup = Callable[[str, int], Awaitable[list[str]]]
"""The IP addresses of a host; OSError where there are none."""
_LOOKUPS_AT_ONCE = 64
"""A name server that does not answer holds a thread for half a minute."""


class CheckedResolver(AbstractResolver):
    """Resolves names and refuses those that lead to any address that is not public."""

    def __init__(self, guard: Guard, lookup: Lookup | None, seconds: float) -> None:
        self._guard = guard
        self._threads = ThreadPoolExecutor(_LOOKUPS_AT_ONCE, "names")
        self._lookup = lookup or self._system
        self._seconds = seconds
        self._granted: set[tuple[str, int]] = set()

    async def addresses(self, host: str, port: int, *, proxied: bool = False) -> list[str]:
        """The host's addresses, all of them checked.

        Raises:
            Refused: one of them may not be asked.
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
        """What aiohttp asks for before it connects to a name."""
        addresses = await self.addresses(host, port)
        if self._guard.is_exempt(host, port):
            self._granted |= {(address, port) for address in addresses}
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=_family(address), proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]  # fmt: skip

    def socket(self, place: AddrInfoType) -> socket.socket:
        """A socket for one address; none is made for an address that may not be asked.

        Raises:
            PermissionError: it may not.
        """
        family, kind, protocol, _, (address, port, *_) = place
        if (address, port) not in self._granted and not self._guard.may_connect(address, port):
            raise PermissionError(errno.EACCES, f"{address}:{port} may not be asked")
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _system(self, host: str, port: int) -> list[str]:
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        )  # fmt: skip
        return list(dict.fromkeys(str(place[0]) for *_, place in found))


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET

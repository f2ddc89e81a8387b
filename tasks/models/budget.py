"""A hard cap on the spending of one run: reserved before each call, settled after it.

So is the room on the disk: an answer that cannot be kept would be bought again.
"""

import asyncio

from tasks.files.room import DiskRoom
from tasks.models.errors import BudgetExhausted, StopStage
from tasks.warehouse.errors import NoRoom

REPORT_BYTES = 1 << 20
"""Room for what an agent delivers at once."""


class Budget:
    """The budget of one run in USD; None sets no cap, spending is counted all the same.

    Args:
        room: where answers are kept; None if they are not.
        closed: why nothing may be bought at all.
    """

    def __init__(
        self, usd: float | None = None, room: DiskRoom | None = None, closed: str | None = None
    ) -> None:
        self.usd = usd
        self._room = room
        self._closed = closed
        self.spent = 0.0
        self.maybe_spent = 0.0
        """Spending on calls whose answer was lost: they may have been billed, so they count."""
        self._reserved = 0.0
        self._bytes_under_way = self._n_under_way = 0
        self._settled = asyncio.Event()

    async def reserve(self, amount: float, n_bytes: int = REPORT_BYTES) -> None:
        """Reserve the most a call may cost, and room for its answer, waiting for other calls to be
        settled.

        Raises:
            NoRoom: less space is free than is to stay free, or the answer does not fit although no
                other call is under way.
            BudgetExhausted: the amount does not fit although no other call is under way.
            StopStage: nothing may be bought.
        """
        if self._closed:
            raise StopStage(self._closed)
        while self._lacks_room(n_bytes) or self._lacks_money(amount):
            self._settled.clear()
            await self._settled.wait()
        self._n_under_way += 1
        self._bytes_under_way += n_bytes
        self._reserved += amount

    async def settle(
        self, amount: float, cost: float | None, *, maybe_billed: bool, n_bytes: int = REPORT_BYTES
    ) -> None:
        """Settle an ended call for which `amount` and `n_bytes` were reserved.

        cost: None if it is unknown or no answer came; then the whole reservation counts if the
            call may have been billed, else nothing.
        """
        if cost is not None:
            self.spent += cost
        elif maybe_billed:
            self.maybe_spent += amount
        # Without awaiting: a cancelled caller must not keep its reservation.
        self._n_under_way -= 1
        self._bytes_under_way -= n_bytes
        self._reserved -= amount
        self._settled.set()

    def _lacks_room(self, n_bytes: int) -> bool:
        """Return whether room is lacking that other calls may leave; raise NoRoom if none may."""
        if self._room is None:
            return False
        shortage = self._room.find_shortage(self._bytes_under_way + n_bytes)
        if shortage and (not self._n_under_way or self._room.find_shortage(0)):
            raise NoRoom(shortage)
        return shortage is not None

    def _lacks_money(self, amount: float) -> bool:
        """Return whether money is lacking that other calls may leave; raise BudgetExhausted if
        none may."""
        committed = self.spent + self.maybe_spent + self._reserved
        if self.usd is None or committed + amount <= self.usd:
            return False
        if not self._n_under_way:
            raise BudgetExhausted(
                f"The budget of ${self.usd:,.2f} is used up: ${self.spent:,.4f} spent"
                + (f", ${self.maybe_spent:,.4f} perhaps" if self.maybe_spent else "")
                + f", and the next call may cost up to ${amount:,.4f}. Answers so far "
                "are kept; run again with a larger budget."
            )
        return True


class BudgetReservation:
    """The reservation for one purchase, settled exactly once.

    A reservation still unsettled at the end of the block (the key stopped working, an
    interruption) counts as perhaps spent, so that nobody waits for it.
    """

    def __init__(self, budget: Budget, n_bytes: int = REPORT_BYTES) -> None:
        self._budget = budget
        self._n_bytes = n_bytes
        self._held: float | None = None

    @property
    def is_held(self) -> bool:
        return self._held is not None

    async def reserve(self, amount: float) -> None:
        """Reserve an amount; see `Budget.reserve`."""
        await self._budget.reserve(amount, self._n_bytes)
        self._held = amount

    async def settle(self, cost: float | None, *, maybe_billed: bool = True) -> None:
        """Settle the reservation, if there is one; see `Budget.settle`."""
        if self._held is not None:
            held, self._held = self._held, None
            await self._budget.settle(held, cost, maybe_billed=maybe_billed, n_bytes=self._n_bytes)

    async def __aenter__(self) -> "BudgetReservation":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.settle(None)

"""A hard cap on the spending of one run: reserved before each call, settled after it."""

import asyncio

from tasks.models.errors import BudgetExhausted, StopStage


class Budget:
    """The budget of one run in USD; None sets no cap, spending is counted all the same.

    closed: why nothing may be bought at all.
    """

    def __init__(self, usd: float | None = None, closed: str | None = None) -> None:
        self.usd = usd
        self.closed = closed
        self.spent = 0.0
        self.maybe_spent = 0.0
        """Spending on calls whose answer was lost: they may have been billed, so they count."""
        self._reserved = 0.0
        self._settled = asyncio.Condition()

    async def reserve(self, amount: float) -> None:
        """Reserve the most a call may cost, waiting for other calls to be settled.

        Raises:
            BudgetExhausted: the amount does not fit although no other call is under way.
            StopStage: nothing may be bought.
        """
        if self.closed:
            raise StopStage(self.closed)
        if self.usd is None:
            return
        async with self._settled:
            while self._committed + amount > self.usd:
                if self._reserved <= 1e-12:
                    raise BudgetExhausted(
                        f"The budget of ${self.usd:,.2f} is used up: ${self.spent:,.4f} spent"
                        + (f", ${self.maybe_spent:,.4f} perhaps" if self.maybe_spent else "")
                        + f", and the next call may cost up to ${amount:,.4f}. Answers so far "
                        "are kept; run again with a larger budget."
                    )
                await self._settled.wait()
            self._reserved += amount

    async def settle(self, amount: float, cost: float | None, *, maybe_billed: bool) -> None:
        """Settle an ended call for which `amount` was reserved.

        cost: None if it is unknown or no answer came; then the whole reservation counts if the
            call may have been billed, else nothing.
        """
        if cost is not None:
            self.spent += cost
        elif maybe_billed:
            self.maybe_spent += amount
        if self.usd is None:
            return
        async with self._settled:
            self._reserved -= amount
            self._settled.notify_all()

    @property
    def _committed(self) -> float:
        return self.spent + self.maybe_spent + self._reserved


class BudgetReservation:
    """The reservation for one purchase, settled exactly once.

    A reservation still unsettled at the end of the block (the key stopped working, an
    interruption) counts as perhaps spent, so that nobody waits for it.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._held: float | None = None

    @property
    def is_held(self) -> bool:
        return self._held is not None

    async def reserve(self, amount: float) -> None:
        """Reserve an amount; see `Budget.reserve`."""
        await self._budget.reserve(amount)
        self._held = amount

    async def settle(self, cost: float | None, *, maybe_billed: bool = True) -> None:
        """Settle the reservation, if there is one; see `Budget.settle`."""
        if self._held is not None:
            held, self._held = self._held, None
            await self._budget.settle(held, cost, maybe_billed=maybe_billed)

    async def __aenter__(self) -> "BudgetReservation":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.settle(None)

"""A hard cap on what one run spends: reserved before each call, settled by what it cost."""

import asyncio

from tasks.models.errors import BudgetExhausted


class Budget:
    """USD of one run; None is no cap, but what is spent is counted all the same."""

    def __init__(self, usd: float | None = None) -> None:
        self.usd = usd
        self.spent = 0.0
        self.maybe_spent = 0.0
        """For calls whose answer never came: they may have been billed, so they count."""
        self._reserved = 0.0
        self._settled = asyncio.Condition()

    async def reserve(self, amount: float) -> None:
        """Set aside what a call may cost at most, waiting for others to be settled.

        Raises:
            BudgetExhausted: it does not fit although no other call is under way.
        """
        if self.usd is None:
            return
        async with self._settled:
            while self._committed + amount > self.usd:
                if self._reserved <= 1e-12:
                    raise BudgetExhausted(
                        f"The budget of ${self.usd:,.2f} is used up: ${self.spent:,.4f} spent"
                        + (f", ${self.maybe_spent:,.4f} perhaps" if self.maybe_spent else "")
                        + f", and the next call may cost up to ${amount:,.4f}. What was answered "
                        "is kept; run again with more to go on."
                    )
                await self._settled.wait()
            self._reserved += amount

    async def settle(self, amount: float, cost: float | None, *, maybe_billed: bool) -> None:
        """A call for which `amount` was reserved has ended.

        cost: None where it is unknown or nothing came; then the whole reservation counts if
            the call may have been billed, and nothing if not.
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


class SetAside:
    """What of a budget is held for one thing that is being bought: settled once, whatever ends it.

    What is left unsettled when the block is left (a key that stopped working, an interruption)
    counts as perhaps spent, so that nobody waits for it.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._held: float | None = None

    @property
    def is_held(self) -> bool:
        return self._held is not None

    async def reserve(self, amount: float) -> None:
        """As `Budget.reserve`."""
        await self._budget.reserve(amount)
        self._held = amount

    async def settle(self, cost: float | None, *, maybe_billed: bool = True) -> None:
        """As `Budget.settle`; nothing where nothing is held."""
        if self._held is not None:
            held, self._held = self._held, None
            await self._budget.settle(held, cost, maybe_billed=maybe_billed)

    async def __aenter__(self) -> "SetAside":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.settle(None)

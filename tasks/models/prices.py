"""Prices of models and the budget of a run: a dated price list, costs computed from tokens, and a
hard cap on spending, reserved before each call and settled after it.

So is the room on the disk: an answer that cannot be kept would be bought again.
"""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from pydantic import Field, NonNegativeFloat, PositiveInt

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.input_rates import InputRates
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.files.room import DiskRoom
from tasks.models.errors import BudgetExhausted, StopStage
from tasks.models.exchange import ModelRequest, TokenUsage
from tasks.warehouse.errors import NoRoom
from tasks.warehouse.rows import utc_now

MILLION = 1_000_000
BYTES_PER_TOKEN = 4.2
"""Bytes per token of English prose; for estimates, never for caps."""
MARGIN, LONGEST = timedelta(days=1), timedelta(days=2)
"""How far a provider's day may be from UTC's, and how long a batch may be under way."""


class TokenPrices(InputRates):
    """USD per million tokens."""

    output: NonNegativeFloat
    """Thinking is billed as output."""


class ModelPrice(ConfigModel):
    """The prices of one model from a day on."""

    provider: str
    model: str
    since: date
    """First day; the latest entry that has begun applies."""
    live: TokenPrices
    batch: TokenPrices | None = None
    above_prompt_tokens: PositiveInt | None = None
    """Prompts longer than this cost `live_above`, in batches `batch_above`."""
    live_above: TokenPrices | None = None
    batch_above: TokenPrices | None = None
    source: str
    """Where the prices were read."""
    checked: date
    """When they were read."""
    _others: tuple["ModelPrice", ...] = ()
    """The model's other prices: where several may apply, the highest counts."""

    def list_applying(self, sent_at: datetime | None = None) -> list["ModelPrice"]:
        """Return the prices that may apply to a request answered now; None: it is to be sent."""
        if not self._others:
            return [self]
        now = utc_now()
        first = ((sent_at or now) - MARGIN).date()
        last = (now + MARGIN if sent_at else now + MARGIN + LONGEST).date()
        dated = sorted((self, *self._others), key=lambda price: price.since)
        ends = (*(price.since for price in dated[1:]), date.max)
        found = zip(dated, ends, strict=True)
        return [price for price, end in found if price.since <= last and first < end] or [self]

    def estimate_cost(self, request: ModelRequest) -> float:
        """Estimate the cost of a request in USD: no cache, an answer of typical length."""
        prompt = request.prompt_bytes / BYTES_PER_TOKEN
        rate = self._rate(prompt, batch=False)
        return (prompt * rate.input + request.typical_output_tokens * rate.output) / MILLION

    def max_cost(self, request: ModelRequest, *, batch: bool = False) -> float:
        """Return an upper bound of a request's USD: a token per byte, at the highest price of
        input, and the longest answer."""
        prompt, longest = request.prompt_bytes, request.parameters.max_output_tokens
        rates = [price._rate(prompt, batch=batch) for price in self.list_applying()]
        return max(prompt * rate.dearest_input + longest * rate.output for rate in rates) / MILLION

    def of(
        self, usage: TokenUsage, *, batch: bool = False, sent_at: datetime | None = None
    ) -> float | None:
        """Return the cost of reported tokens in USD; None if they were not reported."""
        if usage.prompt is None or usage.output is None:
            return None
        prompt, output = usage.prompt, usage.output + (usage.thinking or 0)
        written = (usage.cache_write_tokens, usage.cache_write_hour_tokens)
        rates = [price._rate(prompt, batch=batch) for price in self.list_applying(sent_at)]
        costs = [r.cost_input(prompt, usage.cached, *written) + output * r.output for r in rates]
        return max(costs) / MILLION

    def _rate(self, prompt_tokens: float, *, batch: bool) -> TokenPrices:
        """Return the prices that apply; batches without prices of their own cost the live price."""
        long = self.above_prompt_tokens is not None and prompt_tokens > self.above_prompt_tokens
        if long and self.live_above:
            return (self.batch_above if batch else None) or self.live_above
        return (self.batch if batch else None) or self.live


class PriceList(ConfigModel):
    """The price list of all models, `configs/prices.yaml`."""

    named_by = ("provider", "model")
    prices: tuple[ModelPrice, ...] = Field(min_length=1)

    def of(self, provider: str, model: str, day: date) -> ModelPrice | None:
        """Return the prices of a model on `day`; None if the list has none."""
        begun: Sequence[ModelPrice] = [
            price
            for price in self.prices
            if (price.provider, price.model) == (provider, model) and price.since <= day
        ]
        return max(begun, key=lambda price: price.since, default=None)

    def current(self, provider: str, model: str) -> ModelPrice | None:
        """Return today's price of a model, which counts its other prices where they may apply."""
        if price := self.of(provider, model, utc_now().date()):
            price = price.model_copy()
            price._others = tuple(
                each
                for each in self.prices
                if (each.provider, each.model) == (provider, model) and each.since != price.since
            )
        return price


def load_prices(configs: ConfigSource = CONFIGS) -> PriceList:
    return load_merged("prices.yaml", PriceList, configs)


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

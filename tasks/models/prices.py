"""What calls cost: a dated price list, and dollars from tokens."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from pydantic import Field, NonNegativeFloat, PositiveInt

from tasks.configuration.loading import CONFIGS, Configured, load
from tasks.models.exchange import ModelRequest, Usage

MILLION = 1_000_000
BYTES_PER_TOKEN = 4.2
"""Of English prose; for estimates, never for caps."""


class Rate(Configured):
    """USD per million tokens."""

    input: NonNegativeFloat
    cached_input: NonNegativeFloat | None = None
    """Null: no discount is known, cached tokens count as others."""
    output: NonNegativeFloat
    """Thinking is billed as output."""


class ModelPrice(Configured):
    """The price of one model from one day on."""

    provider: str
    model: str
    since: date
    """From this day on; the latest entry that has begun holds."""
    live: Rate
    batch: Rate | None = None
    above_prompt_tokens: PositiveInt | None = None
    """Prompts longer than this cost `live_above`, in a batch `batch_above`."""
    live_above: Rate | None = None
    batch_above: Rate | None = None
    source: str
    """Where the figures were read."""
    checked: date
    """When."""

    def rough(self, request: ModelRequest) -> float:
        """About what a request will cost, in USD: no cache, an answer of the usual length."""
        prompt = request.prompt_bytes / BYTES_PER_TOKEN
        return self._dollars(self.live, prompt, 0, request.typical_output_tokens)

    def at_most(self, request: ModelRequest, *, batch: bool = False) -> float:
        """More than a request can cost, in USD: a token a byte, the longest answer allowed."""
        rate = self._rate(request.prompt_bytes, batch=batch)
        longest = request.parameters.max_output_tokens
        return self._dollars(rate, request.prompt_bytes, 0, longest)

    def of(self, usage: Usage, *, batch: bool = False) -> float | None:
        """USD for tokens as the provider counted them; None where it did not say."""
        if usage.prompt is None or usage.output is None:
            return None
        output = usage.output + (usage.thinking or 0)
        rate = self._rate(usage.prompt, batch=batch)
        return self._dollars(rate, usage.prompt, usage.cached or 0, output)

    def _rate(self, prompt_tokens: float, *, batch: bool) -> Rate:
        """Where nothing is known of a discount there is none."""
        long = self.above_prompt_tokens is not None and prompt_tokens > self.above_prompt_tokens
        if long and self.live_above:
            return (self.batch_above if batch else None) or self.live_above
        return (self.batch if batch else None) or self.live

    @staticmethod
    def _dollars(rate: Rate, prompt: float, cached: float, output: float) -> float:
        cached_rate = rate.input if rate.cached_input is None else rate.cached_input
        fresh = max(0.0, prompt - cached)
        return (fresh * rate.input + cached * cached_rate + output * rate.output) / MILLION


class PriceList(Configured):
    prices: tuple[ModelPrice, ...] = Field(min_length=1)

    def of(self, provider: str, model: str, day: date) -> ModelPrice | None:
        """What holds on `day`; None where the list does not know the model then."""
        begun: Sequence[ModelPrice] = [
            price
            for price in self.prices
            if (price.provider, price.model) == (provider, model) and price.since <= day
        ]
        return max(begun, key=lambda price: price.since, default=None)


def load_prices(configs: Path = CONFIGS) -> PriceList:
    return load(configs / "prices.yaml", PriceList)

"""Prices of models: a dated price list, and costs computed from tokens."""

from collections.abc import Sequence
from datetime import date

from pydantic import Field, NonNegativeFloat, PositiveInt

from tasks.configuration.folders import CONFIGS, ConfigSource
from tasks.configuration.loading import ConfigModel, load_merged
from tasks.models.exchange import ModelRequest, TokenUsage

MILLION = 1_000_000
BYTES_PER_TOKEN = 4.2
"""Bytes per token of English prose; for estimates, never for caps."""


class TokenPrices(ConfigModel):
    """USD per million tokens."""

    input: NonNegativeFloat
    cached_input: NonNegativeFloat | None = None
    """Null: no known discount, cached tokens cost the same as others."""
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

    def estimate_cost(self, request: ModelRequest) -> float:
        """Estimate the cost of a request in USD: no cache, an answer of typical length."""
        prompt = request.prompt_bytes / BYTES_PER_TOKEN
        return self._dollars(self.live, prompt, 0, request.typical_output_tokens)

    def max_cost(self, request: ModelRequest, *, batch: bool = False) -> float:
        """Return an upper bound of a request's USD: a token per byte, the longest answer."""
        rate = self._rate(request.prompt_bytes, batch=batch)
        longest = request.parameters.max_output_tokens
        return self._dollars(rate, request.prompt_bytes, 0, longest)

    def of(self, usage: TokenUsage, *, batch: bool = False) -> float | None:
        """Return the cost of reported tokens in USD; None if they were not reported."""
        if usage.prompt is None or usage.output is None:
            return None
        output = usage.output + (usage.thinking or 0)
        rate = self._rate(usage.prompt, batch=batch)
        return self._dollars(rate, usage.prompt, usage.cached or 0, output)

    def _rate(self, prompt_tokens: float, *, batch: bool) -> TokenPrices:
        """Return the prices that apply; batches without prices of their own cost the live price."""
        long = self.above_prompt_tokens is not None and prompt_tokens > self.above_prompt_tokens
        if long and self.live_above:
            return (self.batch_above if batch else None) or self.live_above
        return (self.batch if batch else None) or self.live

    @staticmethod
    def _dollars(rate: TokenPrices, prompt: float, cached: float, output: float) -> float:
        cached_rate = rate.input if rate.cached_input is None else rate.cached_input
        fresh = max(0.0, prompt - cached)
        return (fresh * rate.input + cached * cached_rate + output * rate.output) / MILLION


class PriceList(ConfigModel):
    """The price list of all models, `configs/prices.yaml`."""

    prices: tuple[ModelPrice, ...] = Field(min_length=1)

    def of(self, provider: str, model: str, day: date) -> ModelPrice | None:
        """Return the prices of a model on `day`; None if the list has none."""
        begun: Sequence[ModelPrice] = [
            price
            for price in self.prices
            if (price.provider, price.model) == (provider, model) and price.since <= day
        ]
        return max(begun, key=lambda price: price.since, default=None)


def load_prices(configs: ConfigSource = CONFIGS) -> PriceList:
    return load_merged("prices.yaml", PriceList, configs)

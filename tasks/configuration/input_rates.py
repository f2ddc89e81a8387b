"""Prices of input tokens, by what a provider's prompt cache does with them."""

from pydantic import NonNegativeFloat

from tasks.configuration.loading import ConfigModel


class InputRates(ConfigModel):
    """USD per million input tokens."""

    input: NonNegativeFloat
    cached_input: NonNegativeFloat | None = None
    """Tokens read from a cache. Null: like other input."""
    cache_write: NonNegativeFloat | None = None
    """Tokens written to a cache. Null: 1.25 times `input`. Budgets set aside the highest price of
    input: give that of `input` if the provider takes no more for writing."""
    cache_write_hour: NonNegativeFloat | None = None
    """Tokens written to be kept for an hour. Null: twice `input`; if `cache_write` is no higher
    than `input`, like `cache_write`."""

    @property
    def dearest_input(self) -> float:
        """The most that an input token can cost."""
        return max(self.input, self.cached_input or 0.0, *self._writes)

    def cost_input(
        self, prompt: float, cached: float | None, written: float | None, for_hour: float | None
    ) -> float:
        """Return the millionths of a USD that a prompt costs.

        cached, written: parts of the prompt. for_hour: the part of `written` kept for an hour.
        """
        cached, for_hour = cached or 0, for_hour or 0
        written = max(written or 0, for_hour)
        rate = self.input if self.cached_input is None else self.cached_input
        plain = max(0.0, prompt - cached - written) * self.input + cached * rate
        return plain + (written - for_hour) * self._writes[0] + for_hour * self._writes[1]

    @property
    def _writes(self) -> tuple[float, float]:
        """The prices of tokens written for minutes and for an hour."""
        write = 1.25 * self.input if self.cache_write is None else self.cache_write
        hour = write if write <= self.input else max(write, 2 * self.input)
        return write, hour if self.cache_write_hour is None else self.cache_write_hour

"""Who may extract without a budget: a model that costs nothing, also while the run goes on."""

from datetime import date, timedelta

import pytest

from tasks.models.prices import ModelPrice, PriceList, TokenPrices
from tasks.planning.permission import describe_future_extraction
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Warehouse

FREE = TokenPrices(input=0, output=0)


def listed(since: date, live: TokenPrices) -> ModelPrice:
    return ModelPrice(
        provider="local", model="local", since=since, live=live, source="a test", checked=since
    )


@pytest.mark.parametrize(
    ("change", "live", "permitted"),
    [
        (timedelta(days=1), FREE, True),
        (timedelta(days=1), TokenPrices(input=1, output=0), False),
        (timedelta(days=1), TokenPrices(input=0, output=1), False),
        (timedelta(days=1), TokenPrices(input=0, cache_write=1, output=0), False),
        (timedelta(days=30), TokenPrices(input=1, output=1), True),
    ],
)
def test_a_model_that_is_free_today_but_not_tomorrow_needs_permission(
    warehouse: Warehouse,
    monkeypatch: pytest.MonkeyPatch,
    change: timedelta,
    live: TokenPrices,
    permitted: bool,
) -> None:
    today = utc_now().date()
    prices = PriceList(prices=(listed(today, FREE), listed(today + change, live)))
    monkeypatch.setattr("tasks.judging.session.load_prices", lambda: prices)
    said = describe_future_extraction(warehouse, "e", ["a"], "local", None, None)
    assert (said is None) == permitted

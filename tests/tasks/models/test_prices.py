"""Dollars from tokens by the list of the day; every shipped price says where it is from."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.configuration.folders import find_folders
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.judging.session import check_judge
from tasks.models.errors import Misconfigured
from tasks.models.exchange import TokenUsage
from tasks.models.prices import ModelPrice, PriceList, TokenPrices, load_prices
from tests.tasks.models.scripted import question

DAY = date(2026, 11, 21)
LIVE = TokenPrices(input=2, cached_input=0.5, output=10)
BATCH = TokenPrices(input=1, output=5)
ABOVE = TokenPrices(input=4, output=20)


def price(since: date = DAY, live: TokenPrices = LIVE, **more: object) -> ModelPrice:
    return ModelPrice.model_validate(
        {"provider": "any", "model": "some-model", "since": since, "live": live,
         "source": "a test", "checked": DAY, **more}
    )  # fmt: skip


LONG = price(batch=BATCH, above_prompt_tokens=1000, live_above=ABOVE)
SHIPPED = load_prices().prices
LLM_JUDGES = {
    name: entry for name, entry in load_judges().judges.items() if isinstance(entry, LlmJudgeEntry)
}


def test_the_latest_entry_that_has_begun_holds() -> None:
    later = price(date(2027, 1, 1), TokenPrices(input=4, output=20))
    for listed in (PriceList(prices=(price(), later)), PriceList(prices=(later, price()))):
        assert listed.of("any", "some-model", DAY - timedelta(1)) is None
        assert listed.of("any", "some-model", DAY) == price()
        assert listed.of("any", "some-model", date(2026, 12, 31)) == price()
        assert listed.of("any", "some-model", date(2027, 1, 1)) == later
        assert listed.of("other", "some-model", DAY) is None
        assert listed.of("any", "some-model-2", DAY) is None


@pytest.mark.parametrize(
    ("usage", "batch", "usd"),
    [
        (TokenUsage(prompt=1000, output=100), False, (1000 * 2 + 100 * 10) / 1e6),
        (TokenUsage(prompt=1000, cached=600, output=0), False, (400 * 2 + 600 * 0.5) / 1e6),
        (TokenUsage(prompt=0, output=100, thinking=50), False, 150 * 10 / 1e6),
        (TokenUsage(prompt=1001, output=100), False, (1001 * 4 + 100 * 20) / 1e6),
        (
            TokenUsage(prompt=2000, cached=1500, output=0),
            False,
            2000 * 4 / 1e6,
        ),  # no discount known
        (TokenUsage(prompt=1000, output=100, thinking=10), True, (1000 * 1 + 110 * 5) / 1e6),
        (TokenUsage(prompt=1000, cached=600, output=0), True, 1000 * 1 / 1e6),
        (
            TokenUsage(prompt=1000, cached=100, cache_write_tokens=600, output=0),
            False,
            (300 * 2 + 100 * 0.5 + 600 * 2.5) / 1e6,
        ),
        (
            TokenUsage(prompt=1000, cache_write_tokens=600, cache_write_hour_tokens=200, output=0),
            False,
            (400 * 2 + 400 * 2.5 + 200 * 4) / 1e6,
        ),
        (
            TokenUsage(prompt=1000, cache_write_tokens=600, output=0),
            True,
            (400 * 1 + 600 * 1.25) / 1e6,
        ),
    ],
)
def test_tokens_cost_what_the_list_says(usage: TokenUsage, batch: bool, usd: float) -> None:
    assert LONG.of(usage, batch=batch) == pytest.approx(usd)


def test_a_batch_costs_as_much_as_live_where_no_batch_price_is_known() -> None:
    usage = TokenUsage(prompt=1000, output=100)
    assert price().of(usage, batch=True) == price().of(usage)


@pytest.mark.parametrize(
    "usage", [TokenUsage(), TokenUsage(prompt=5), TokenUsage(output=5), TokenUsage(thinking=5)]
)
def test_what_is_not_counted_has_no_price(usage: TokenUsage) -> None:
    assert LONG.of(usage) is None


@pytest.mark.parametrize(
    ("rates", "write", "hour"),
    [
        ({}, 2.5, 4),
        ({"cache_write": 2}, 2, 2),  # the maker takes no more for writing
        ({"cache_write": 0}, 0, 0),
        ({"cache_write": 2.5}, 2.5, 4),
        ({"cache_write": 5}, 5, 5),
        ({"cache_write": 2, "cache_write_hour": 3}, 2, 3),
        ({"cache_write_hour": 2}, 2.5, 2),
    ],
)
def test_writing_to_a_cache_has_a_price_and_budgets_reckon_with_the_highest(
    rates: dict[str, float], write: float, hour: float
) -> None:
    listed = price(live=TokenPrices(input=2, output=10, **rates))
    some = TokenUsage(prompt=1_000_000, cache_write_tokens=1_000_000, output=0)
    assert listed.of(some) == write
    assert listed.of(some.model_copy(update={"cache_write_hour_tokens": 1_000_000})) == hour
    asked = question("x" * 999)
    most = asked.prompt_bytes * max(2, write, hour) + 100 * 10
    assert listed.max_cost(asked) == pytest.approx(most / 1e6)


FREE_WRITES = [p for p in SHIPPED if p.provider in ("gemini", "local")]


@pytest.mark.parametrize("listed", FREE_WRITES, ids=lambda p: f"{p.model} {p.since}")
def test_a_budget_sets_nothing_aside_for_writes_that_cost_nothing(listed: ModelPrice) -> None:
    for rates in (listed.live, listed.batch, listed.live_above, listed.batch_above):
        assert rates is None or rates.dearest_input == rates.input


NEW_YEAR = date(2027, 1, 1)
DEARER = price(NEW_YEAR, TokenPrices(input=4, output=20))
CHEAPER = price(NEW_YEAR, TokenPrices(input=1, output=5))
MILLION_READ = TokenUsage(prompt=1_000_000, output=0)


def at(monkeypatch: pytest.MonkeyPatch, day: str) -> datetime:
    """The moment, which is now."""
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
    for module in ("gateway", "prices"):
        monkeypatch.setattr(f"tasks.models.{module}.utc_now", lambda: moment)
    return moment


def now_listed(*prices: ModelPrice) -> ModelPrice:
    found = PriceList(prices=prices).current("any", "some-model")
    assert found
    return found


@pytest.mark.parametrize(
    ("then", "dearer", "cheaper"),
    [
        ("2026-12-28", 2, 2),
        ("2026-12-29", 4, 2),  # a batch may take two days, and the maker's day begin earlier
        ("2026-12-31 23:59", 4, 2),
        ("2027-01-01 23:59", 4, 2),  # or later
        ("2027-01-02", 4, 1),
    ],
)
def test_the_highest_price_counts_that_may_apply_while_a_request_is_under_way(
    monkeypatch: pytest.MonkeyPatch, then: str, dearer: float, cheaper: float
) -> None:
    at(monkeypatch, then)
    for later, usd in ((DEARER, dearer), (CHEAPER, cheaper)):
        listed = now_listed(later, price())
        assert listed.of(MILLION_READ) == usd  # an estimate
        alone = price(live=TokenPrices(input=usd, output=5 * usd))
        assert listed.max_cost(question()) == alone.max_cost(question())


@pytest.mark.parametrize(
    ("sent", "answered", "dearer", "cheaper"),
    [
        ("2026-12-30 12:00", "2026-12-30 12:01", 2, 2),
        ("2026-12-31 12:00", "2026-12-31 12:01", 4, 2),
        ("2026-12-30 12:00", "2027-01-01 12:00", 4, 2),
        ("2027-01-01 12:00", "2027-01-01 12:01", 4, 2),
        ("2026-12-20 12:00", "2027-01-10 12:00", 4, 2),
        ("2027-01-02 12:00", "2027-01-02 12:01", 4, 1),
    ],
)
def test_an_answer_costs_the_highest_price_between_sending_and_its_coming(
    monkeypatch: pytest.MonkeyPatch, sent: str, answered: str, dearer: float, cheaper: float
) -> None:
    sent_at = datetime.fromisoformat(sent).replace(tzinfo=UTC)
    for later, usd in ((DEARER, dearer), (CHEAPER, cheaper)):
        at(monkeypatch, sent)
        listed = now_listed(price(), later)
        most = listed.max_cost(question())
        at(monkeypatch, answered)
        assert listed.of(MILLION_READ, sent_at=sent_at) == usd
        if sent_at > datetime.fromisoformat(answered).replace(tzinfo=UTC) - timedelta(days=2):
            whole = TokenUsage(prompt=question().prompt_bytes, output=100)
            cost = listed.of(whole, sent_at=sent_at)
            assert cost is not None
            assert cost <= most


@example(LONG, "x" * 1001, 10, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, False)
@example(LONG, "x" * 1000, 10, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, True)
@given(
    st.sampled_from([LONG, price(), *SHIPPED]),
    st.integers(1, 4000).map(lambda n: "x" * n) | st.text(min_size=1, max_size=50),
    st.integers(1, 100_000),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
)
def test_no_answer_costs_more_than_was_reserved_for_it(
    asked: ModelPrice, text: str, limit: int, read: float, cached: float, written: float,
    for_hour: float, used: float, thought: float, batch: bool,
) -> None:  # fmt: skip
    request = question(text, limit)
    prompt = int(read * request.prompt_bytes)
    produced = int(used * limit)
    kept = int(written * (prompt - int(cached * prompt)))
    usage = TokenUsage(
        prompt=prompt,
        cached=int(cached * prompt),
        cache_write_tokens=kept,
        cache_write_hour_tokens=int(for_hour * kept),
        output=produced - int(thought * produced),
        thinking=int(thought * produced),
    )
    cost = asked.of(usage, batch=batch)
    assert cost is not None
    assert cost <= asked.max_cost(request, batch=batch) + 1e-12


def test_an_estimate_is_less_than_the_most() -> None:
    request = question("A question of some length, as they are. " * 20)
    assert 0 < LONG.estimate_cost(request) < LONG.max_cost(request)


@pytest.mark.parametrize("listed", SHIPPED, ids=lambda p: f"{p.provider} {p.model} {p.since}")
def test_every_shipped_price_is_dated_sourced_and_plausible(listed: ModelPrice) -> None:
    assert listed.source.strip()
    assert date(2026, 1, 1) <= listed.checked
    assert listed.live.input <= listed.live.output
    assert (listed.live.cached_input or 0) <= listed.live.input
    assert (listed.above_prompt_tokens is None) == (listed.live_above is None)
    if listed.batch:
        assert listed.batch.input <= listed.live.input
        assert listed.batch.output <= listed.live.output
    if listed.live_above:
        assert listed.live_above.input >= listed.live.input
        assert listed.live_above.output >= listed.live.output


def test_no_price_is_listed_twice_for_a_day() -> None:
    keys = [(p.provider, p.model, p.since) for p in SHIPPED]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("name", "entry"), LLM_JUDGES.items(), ids=list(LLM_JUDGES))
def test_every_judge_has_a_price_a_date_and_a_source(name: str, entry: LlmJudgeEntry) -> None:
    known = load_prices().of(entry.provider, entry.model, entry.checked)
    assert known is not None, f"{name}: give {entry.model} a price in configs/prices.yaml"
    assert entry.source.strip()
    assert (known.live.output == 0) == (entry.provider == "local")


RETIRING = {name: entry for name, entry in LLM_JUDGES.items() if entry.retires}


@pytest.mark.parametrize("name", RETIRING)
def test_a_retired_judge_is_refused_on_its_day_and_not_the_day_before(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = RETIRING[name]
    assert entry.retires
    monkeypatch.setenv(str(entry.key_env), "some-key")
    check_judge(name, entry, 1.0, entry.retires - timedelta(1))
    for day in (entry.retires, entry.retires + timedelta(30)):
        with pytest.raises(Misconfigured, match=f"{name}.*was retired on {entry.retires}"):
            check_judge(name, entry, 1.0, day)


TIERED = [listed for listed in SHIPPED if listed.above_prompt_tokens]


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("listed", TIERED, ids=lambda p: p.model)
def test_a_budget_holds_at_every_tier(listed: ModelPrice, batch: bool) -> None:
    assert listed.above_prompt_tokens
    assert listed.live_above
    around = question().text_bytes - len("Is it so?")
    live, above = listed.live, listed.live_above
    if batch:
        live, above = listed.batch or live, listed.batch_above or above
    for tokens, rate in (
        (listed.above_prompt_tokens - 1, live),
        (listed.above_prompt_tokens, live),
        (listed.above_prompt_tokens + 1, above),
        (3 * listed.above_prompt_tokens, above),
    ):
        asked = question("x" * (tokens - around), 1000)
        assert asked.prompt_bytes == tokens
        for written in ({}, {"cache_write_tokens": tokens}, {"cached": tokens}):
            usage = TokenUsage(prompt=tokens, output=900, thinking=100, **written)
            cost = listed.of(usage, batch=batch)
            assert cost is not None
            assert cost <= listed.max_cost(asked, batch=batch) + 1e-12
        plain = listed.of(TokenUsage(prompt=tokens, output=1000), batch=batch)
        assert plain == pytest.approx((tokens * rate.input + 1000 * rate.output) / 1e6)


def test_a_price_list_of_one_s_own_replaces_only_the_models_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(
        "prices:\n"
        "  - {provider: own, model: m, since: 2026-01-01, live: {input: 1, output: 2},"
        " source: x, checked: 2026-01-01}\n"
        "  - {provider: gemini, model: gemini-4-argon, since: 2026-01-01,"
        " live: {input: 9, output: 90}, source: x, checked: 2026-01-01}\n"
    )
    merged = load_prices(find_folders(str(tmp_path), tmp_path))
    for day in (DAY, date(2027, 1, 1)):  # both entries of the other list are gone
        argon = merged.of("gemini", "gemini-4-argon", day)
        assert argon
        assert argon.live.input == 9
    assert merged.of("own", "m", DAY)
    assert merged.of("openai", "gpt-5.5", DAY) == load_prices().of("openai", "gpt-5.5", DAY)


@pytest.mark.parametrize("text", ["prices:\n", "# none of my own\n"])
def test_an_empty_price_list_of_one_s_own_changes_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(text)
    assert len(load_prices(find_folders(str(tmp_path), tmp_path)).prices) == len(SHIPPED)

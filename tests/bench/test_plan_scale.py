"""What is planned is what was counted, multiplied."""

import asyncio
from collections.abc import Sequence
from dataclasses import astuple
from datetime import date

import pytest

from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.decisions import Criterion, DecisionRequest
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.reports import CompareArticles
from tasks.judges.questions.verification import VerifyClaims
from tasks.models.prices import ModelPrice, TokenPrices
from tests.bench.plan_scale import (
    NotingAsker,
    Question,
    Step,
    hours,
    hours_of_spending,
    money,
    steps_of,
)
from tests.servers.prefixes import PrefixCache

PRICE = ModelPrice(
    provider="p",
    model="m",
    since=date(2026, 1, 1),
    live=TokenPrices(input=1.0, cached_input=0.1, output=10.0),
    batch=TokenPrices(input=0.5, output=5.0),
    source="made up",
    checked=date(2026, 11, 22),
)
ENTRY = LlmJudgeEntry(
    kind="openai_chat",
    title="t",
    provider="p",
    model="m",
    context_tokens=1_000_000,
    source="made up",
    checked=date(2026, 11, 22),
)


def question(step: str, prompt: float, cached: float = 0, of_article: float = 0) -> Question:
    return Question(step, prompt, 10, cached, of_article)


def ask(asker: NotingAsker, decisions: Sequence[DecisionRequest]) -> None:
    async def each() -> None:
        for decision in decisions:
            await LlmJudge("j", ENTRY, asker).decide(decision)

    asyncio.run(each())


def test_means_are_over_reports_also_those_that_a_step_asks_nothing_of() -> None:
    reports = [[question("a", 100, 40, 60), question("a", 100)], [question("b", 30)]]

    assert steps_of(reports) == [
        Step("a", 1.0, 100.0, 20.0, 30.0, 10.0),
        Step("b", 0.5, 15.0, 0.0, 0.0, 5.0),
    ]


def test_money_is_by_the_price_list_live_cached_and_in_batches() -> None:
    step = Step("a", 2.0, 2_000.0, 1_000.0, 1_500.0, 200.0)

    found = money(step, 1_000, PRICE)

    # 2,000,000 tokens in, half of them cached, 200,000 out; no price for cached ones in a batch.
    assert astuple(found) == pytest.approx((4.0, 3.1, 2.0, 2.0))
    assert money(step, 1_000, PRICE, by_article=True).cached == pytest.approx(2.65)


def test_hours_are_those_of_the_tighter_limit() -> None:
    assert hours(60_000, 6e6, per_minute=1_000, tokens_per_minute=None) == 1.0
    assert hours(60_000, 6e6, per_minute=1_000, tokens_per_minute=50_000) == 2.0
    assert hours_of_spending(1_200, per_ten_minutes=10) == 20.0


def test_a_beginning_that_stood_there_before_is_counted_as_cached() -> None:
    of_article = PrefixCache(1_024)
    first, second = (NotingAsker(PrefixCache(1_024), of_article) for _ in range(2))
    texts = {"first": "reference " * 2_000, "second": "report " * 2_000}
    both = CompareArticles(
        category="neutral", criteria=(Criterion(id="c1", text="Is it?"),), allow_tie=False, **texts
    )
    other = both.model_copy(update={"criteria": (Criterion(id="c2", text="Really?"),)})

    ask(first, [both, other])
    ask(second, [both.model_copy(update={"second": "z " * 9_000})])

    one, two = first.asked.values()
    [three] = second.asked.values()
    assert one.cached_in_report == one.cached_in_article == 0
    assert 0.8 < two.cached_in_report / two.prompt_tokens <= 1
    assert three.cached_in_report == 0
    assert 0.3 < three.cached_in_article / three.prompt_tokens < 0.7


def test_the_same_question_is_one_call() -> None:
    asker = NotingAsker(PrefixCache(1_024), PrefixCache(1_024))
    decision = VerifyClaims(claims=("a", "a"), pool=("a",), retrieved=((0,), (0,)))

    ask(asker, [decision])

    assert len(asker.asked) == 1

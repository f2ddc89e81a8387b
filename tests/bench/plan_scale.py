"""What judging an edition of any size takes: calls, tokens, money, hours, disk.

    python -m tests.bench.plan_scale --edition 2025_Mar_Nov --judge gemini-3.8-flash \\
        [--warehouse FILE] [--articles 10000] [--agents 50] [--protocol NAME] [--reports 60]
        [--requests-per-minute 500,2000,10000] [--tokens-per-minute 4000000]
        [--usd-per-ten-minutes 10,50,200] [--day 2026-11-22]

What a report asks is not guessed: the protocols make all their questions for reports that are
there, as `evergreen evaluate --estimate` has them do, and nothing is asked. Beside their number
and length it is noted how much of a question stands, byte for byte, at the beginning of one before
it, as providers' prefix caches count it: of the same report's questions, which follow each other
within seconds; and of all questions about the same article, which would be so close only if the
edition were judged article by article. Then everything is multiplied.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import TypeVar

from tasks.judges.registry import load_judge, load_model_entry
from tasks.judging.cases import BATCH, load_cases
from tasks.judging.cells import CellPlan, plan_cells
from tasks.judging.protocols import choose_protocols
from tasks.models.exchange import ModelRequest, TokenUsage
from tasks.models.gateway import Outcome
from tasks.models.prices import BYTES_PER_TOKEN, ModelPrice, load_prices
from tasks.protocols.case import Case
from tasks.protocols.cell import judge_case
from tasks.protocols.registry import get_protocol
from tasks.warehouse.rows import Status, utc_now
from tasks.warehouse.store import open_warehouse
from tests.servers.prefixes import PrefixCache

ValueT = TypeVar("ValueT")
CACHED_FROM_TOKENS = {"gemini": 4_096}
CACHED_FROM_TOKENS_ELSE = 1_024
"""Shorter common beginnings count for nothing: Gemini 3's bound (October 2026); OpenAI's."""
CALLS_PER_SECOND = {"gemini": 145.0, "openai_chat": 320.0}
"""What one of our processes has time for on one core, by the judge's kind (`make bench-judges`)."""
CALL_BYTES, REPORT_BYTES = 2_300, 35_000
"""Of the warehouse: a call with its verdicts; a report with its claims, pages' texts and scores
(100 articles by 12 agents, `make bench-scale`; docs/explanation/growth.md says how)."""


@dataclass(frozen=True)
class Question:
    """One call that would be made."""

    step: str
    prompt_tokens: float
    output_tokens: float
    cached_in_report: float
    """Of the prompt's tokens, those that begin an earlier question about the same report."""
    cached_in_article: float
    """The same about the same article, whoever wrote the report."""


@dataclass(frozen=True)
class Step:
    """Means over reports of what a step asks for one of them."""

    name: str
    calls: float
    prompt_tokens: float
    cached_in_report: float
    cached_in_article: float
    output_tokens: float


@dataclass(frozen=True)
class Money:
    """USD; in a batch, prefixes are cached only where the price list has a price for it."""

    live: float
    cached: float
    batch: float
    batch_cached: float


class NotingAsker:
    """Notes what it is asked; every answer is `skipped`."""

    def __init__(self, of_report: PrefixCache, of_article: PrefixCache) -> None:
        self._of_report, self._of_article = of_report, of_article
        self.asked: dict[str, Question] = {}

    async def ask(self, request: ModelRequest, read: Callable[[str], ValueT]) -> Outcome[ValueT]:
        if request.request_id not in self.asked:
            text = "\n".join((request.system, *(turn.text for turn in request.messages)))
            data = text.encode("utf-8", "surrogatepass")
            purpose = request.purpose
            self.asked[request.request_id] = Question(
                step=f"{purpose.protocol}/{purpose.step}",
                prompt_tokens=request.prompt_bytes / BYTES_PER_TOKEN,
                output_tokens=request.typical_output_tokens,
                cached_in_report=_tokens(self._of_report, data),
                cached_in_article=_tokens(self._of_article, data),
            )
        return Outcome(Status.SKIPPED, reason="only counted")


def _tokens(cache: PrefixCache, data: bytes) -> float:
    """Of what the cache holds already; it counts four bytes a token."""
    return cache.cached_tokens(data) * 4 / BYTES_PER_TOKEN


def steps_of(reports: Sequence[Iterable[Question]]) -> list[Step]:
    """Means over reports, a step a row, by name."""
    every = [question for asked in reports for question in asked]
    found = []
    for name in sorted({question.step for question in every}):
        of_step = [question for question in every if question.step == name]
        found.append(
            Step(
                name,
                calls=len(of_step) / len(reports),
                prompt_tokens=sum(q.prompt_tokens for q in of_step) / len(reports),
                cached_in_report=sum(q.cached_in_report for q in of_step) / len(reports),
                cached_in_article=sum(q.cached_in_article for q in of_step) / len(reports),
                output_tokens=sum(q.output_tokens for q in of_step) / len(reports),
            )
        )
    return found


def money(step: Step, n_reports: int, price: ModelPrice, *, by_article: bool = False) -> Money:
    """What a step costs for so many reports, repairs and retries left out."""
    cached = step.cached_in_article if by_article else step.cached_in_report
    calls = max(1.0, step.calls)

    def dollars(cached_tokens: float, *, batch: bool) -> float:
        # A call at a time: the price depends on how long a prompt is.
        usage = TokenUsage(
            prompt=round(step.prompt_tokens / calls),
            cached=round(cached_tokens / calls),
            output=round(step.output_tokens / calls),
        )
        return (price.of(usage, batch=batch) or 0.0) * calls * n_reports

    return Money(
        live=dollars(0, batch=False),
        cached=dollars(cached, batch=False),
        batch=dollars(0, batch=True),
        batch_cached=dollars(cached, batch=True),
    )


def hours(calls: float, tokens: float, per_minute: float, tokens_per_minute: float | None) -> float:
    """At most so many calls a minute, and tokens where that is bounded, too."""
    minutes = calls / per_minute
    if tokens_per_minute:
        minutes = max(minutes, tokens / tokens_per_minute)
    return minutes / 60


def hours_of_spending(usd: float, per_ten_minutes: float) -> float:
    """Where the provider lets an account spend no more."""
    return usd / per_ten_minutes / 6


def questions(
    where: str,
    edition: str,
    judge_name: str,
    protocols: Sequence[str],
    n_reports: int,
    cached_from: int,
) -> list[list[Question]]:
    """By report what it asks, of so many of the edition's (all agents of an article together); all
    if 0."""
    with open_warehouse(Path(where)) as store:
        chosen = choose_protocols(store, edition, protocols)
        plans = [
            plan
            for name in chosen
            for plan in plan_cells(store, edition, get_protocol(name), load_judge(judge_name))
            if plan.state not in ("empty", "not_assessed")
        ]
        articles = sorted({plan.assignment for plan in plans})
        Random(1).shuffle(articles)
        each = len({(plan.agent, plan.assignment) for plan in plans}) / max(1, len(articles))
        wanted = set(articles[: max(1, round(n_reports / each))] if n_reports else articles)
        plans = sorted(
            (plan for plan in plans if plan.assignment in wanted),
            key=lambda plan: (plan.assignment, plan.protocol, plan.agent),
        )
        caches = {name: PrefixCache(cached_from) for name in wanted}
        found: dict[tuple[str, str], list[Question]] = {}
        for start in range(0, len(plans), BATCH):
            batch = plans[start : start + BATCH]
            cases = load_cases(store, batch)
            for plan in batch:
                asker = NotingAsker(PrefixCache(cached_from), caches[plan.assignment])
                asyncio.run(_ask(plan, cases[plan.cell_id], asker))
                asked = asker.asked.values()
                found.setdefault((plan.agent, plan.assignment), []).extend(asked)
    return list(found.values())


async def _ask(plan: CellPlan, case: Case, asker: NotingAsker) -> None:
    await judge_case(plan.protocol, load_judge(plan.judge, asker), case)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--warehouse", default="data/warehouse.duckdb")
    parser.add_argument("--edition", required=True)
    parser.add_argument("--judge", required=True)
    parser.add_argument("--protocol", action="append", default=[])
    parser.add_argument("--reports", type=int, default=0, help="looked at; 0: all there are")
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--requests-per-minute", default="500,2000,10000")
    parser.add_argument("--tokens-per-minute", type=float)
    parser.add_argument("--usd-per-ten-minutes", default="10,50,200")
    today = utc_now().date()
    parser.add_argument("--day", type=date.fromisoformat, default=today, help="of the price")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    name, entry = load_model_entry(asked.judge, "be planned with")
    price = load_prices().of(entry.provider, entry.model, asked.day)
    if price is None:
        raise SystemExit(f"configs/prices.yaml has no price for {entry.model} on {asked.day}.")
    least = CACHED_FROM_TOKENS.get(entry.provider, CACHED_FROM_TOKENS_ELSE)
    reports = questions(asked.warehouse, asked.edition, name, asked.protocol, asked.reports, least)
    n = asked.articles * asked.agents
    steps = steps_of(reports)
    print(f"{asked.articles:,} articles by {asked.agents} agents: {n:,} reports, as "
          f"{len(reports):,} of {asked.edition} are; {name}, prices of {price.since}")  # fmt: skip
    print(f"\n{'of a report':34}{'calls':>8}{'tokens in':>12}{'cached':>10}{'by article':>12}"
          f"{'tokens out':>12}")  # fmt: skip
    for step in steps:
        print(f"{step.name:34}{step.calls:8.1f}{step.prompt_tokens:12,.0f}"
              f"{step.cached_in_report:10,.0f}{step.cached_in_article:12,.0f}"
              f"{step.output_tokens:12,.0f}")  # fmt: skip
    print(f"\n{'of all, in USD':34}{'live':>12}{'cached':>12}{'by article':>12}{'batch':>12}"
          f"{'batch+cached':>14}")  # fmt: skip
    for step in steps:
        cost, close = (money(step, n, price, by_article=by) for by in (False, True))
        print(f"{step.name:34}{cost.live:12,.0f}{cost.cached:12,.0f}{close.cached:12,.0f}"
              f"{cost.batch:12,.0f}{cost.batch_cached:14,.0f}")  # fmt: skip
    calls = n * sum(step.calls for step in steps)
    tokens = n * sum(step.prompt_tokens + step.output_tokens for step in steps)
    print(f"\n{calls:,.0f} calls, {tokens / 1e9:,.1f} thousand million tokens; about "
          f"{(calls * CALL_BYTES + n * REPORT_BYTES) / 1e9:,.0f} GB of warehouse")  # fmt: skip
    for rate in map(float, asked.requests_per_minute.split(",")):
        took = hours(calls, tokens, rate, asked.tokens_per_minute)
        print(f"  {rate:8,.0f} calls a minute: {_long(took)}, "
              f"{tokens / calls * rate / 1e6:,.1f} million tokens a minute")  # fmt: skip
    spent = sum(money(step, n, price).live for step in steps)
    for cap in map(float, asked.usd_per_ten_minutes.split(",")):
        print(f"  ${cap:,.0f} in ten minutes, live: {_long(hours_of_spending(spent, cap))}")
    own = CALLS_PER_SECOND[entry.kind]
    print(f"  one process of ours, {own:,.0f} calls a second: {_long(calls / own / 3600)}")


def _long(took: float) -> str:
    return f"{took:,.0f} hours ({took / 24:,.1f} days)"


if __name__ == "__main__":
    main()

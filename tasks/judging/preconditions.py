"""Check judges and look up their prices before any call."""

from collections.abc import Sequence
from datetime import date

from tasks.configuration.endings import find_judge_ending
from tasks.configuration.models import LlmJudgeEntry
from tasks.judges.registry import load_judge_entry
from tasks.models.errors import Misconfigured, StopStage, UnknownPrice
from tasks.models.prices import ModelPrice, load_prices
from tasks.warehouse.rows import utc_now


def find_current_price(entry: LlmJudgeEntry) -> ModelPrice | None:
    """Return the price of the judge's model today; None if the price list has none."""
    return load_prices().current(entry.provider, entry.model)


def check_judge(
    name: str, entry: LlmJudgeEntry, budget_usd: float | None, today: date, *, batch: bool = False
) -> None:
    """Check that a judge's model can be called.

    Raises:
        Misconfigured: the model is retired, has no key, or cannot be called in batches as wanted.
        UnknownPrice: there is a budget but no price.
    """
    if (ending := find_judge_ending(entry)) and ending.ends <= today:
        named = f"{ending.successor}, its successor, or another" if ending.successor else "another"
        raise Misconfigured(
            f"configs/judges.yaml: the model of {name} ({entry.model}) was retired on "
            f"{ending.ends}: what answers in its place is another judge. Choose {named}; the "
            "verdicts it has given stay."
        )
    if batch and entry.kind == "anthropic":
        raise Misconfigured(
            f"The judge {name} is of kind `anthropic`, which is not asked in batches here. Run "
            "without --batch."
        )
    if batch and entry.kind != "gemini" and not entry.batch_api:
        raise Misconfigured(
            f"The judge {name} cannot be asked in batches. Run without --batch, or set "
            "`batch_api: true` in configs/judges.yaml if its endpoint has OpenAI's Batch API."
        )
    if unset := entry.unset_variable:
        raise Misconfigured(f"The judge {name} has no key: set the variable {unset}.")
    if budget_usd is not None and find_current_price(entry) is None:
        raise UnknownPrice(
            f"configs/prices.yaml has no price for {entry.model} of {entry.provider} on {today}, "
            "so a budget cannot be kept. Add its price, or run without --budget."
        )


def check_judges(
    names: Sequence[str],
    budget_usd: float | None,
    *,
    batch: bool = False,
    with_fallbacks: bool = True,
) -> None:
    """Check today's state of each judge that calls a model, and of its fallback, as in
    `check_judge`."""
    entries = [load_judge_entry(name) for name in names]
    models = [(name, entry) for name, entry in entries if isinstance(entry, LlmJudgeEntry)]
    if batch and not models:
        raise Misconfigured(
            f"{' and '.join(names)} calls no model: there is nothing to ask in batches. Name a "
            "judge that calls one, or run without --batch."
        )
    for name, entry in models:
        check_judge(name, entry, budget_usd, utc_now().date(), batch=batch)
        if entry.fallback and with_fallbacks:
            _check_fallback(name, entry.fallback, budget_usd)


def _check_fallback(name: str, fallback: str, budget_usd: float | None) -> None:
    try:
        check_judges([fallback], budget_usd)
    except StopStage as error:
        raise type(error)(
            f"{error} It is the `fallback` of {name} in configs/judges.yaml: without that line, "
            "what that judge refuses stays blocked."
        ) from None

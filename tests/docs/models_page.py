"""docs/reference/models.md, made from the configuration.

`python -m tests.docs.models_page > docs/reference/models.md` writes it anew.
"""

from collections.abc import Iterable, Iterator

from tasks.agents.endings import find_agent_ending
from tasks.agents.registry import AgentEntry, load_agents
from tasks.configuration.endings import find_judge_ending, load_endings
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.models.prices import ModelPrice, TokenPrices, load_prices

WRITE = "python -m tests.docs.models_page > docs/reference/models.md"
INTRODUCTION = """# Models: every judge and agent that comes along, with prices, context and end

This page is made from [judges.yaml](../../configs/judges.yaml),
[prices.yaml](../../configs/prices.yaml), [agents.yaml](../../configs/agents.yaml) and
[endings.yaml](../../configs/endings.yaml) by
`{write}`;
a test compares the two. `evergreen judges` and `evergreen agents` print what applies today, with
your own entries.

Prices are USD per million tokens; *in* and *out* are live, a second line is for batches. Where a
prompt longer than a number of tokens costs more, all of it does. Nothing here was bought to check
it: look at your maker's page before you rely on a price.
"""
JUDGES = (
    "Judge | Model | Prompt of | From | In (cached) | Out | Context | Ends | Source | Checked"
)  # fmt: skip
AGENTS = (
    "Agent | Model | Report, typically (at most) | In | Out | 1,000 searches | Ends | Source | "
    "Checked"
)


def render_page() -> str:
    """The page, as Markdown."""
    judges = load_judges().judges.items()
    models = [(name, entry) for name, entry in judges if isinstance(entry, LlmJudgeEntry)]
    agents = [(name, entry) for name, entry in load_agents().agents.items() if entry.ask]
    endings = load_endings()
    known = [*endings.models.items(), *((f"kind `{k}`", end) for k, end in endings.kinds.items())]
    ended = ((name, str(end.ends), end.successor or "") for name, end in known)
    parts = (
        INTRODUCTION.format(write=WRITE),
        "## Judges\n",
        _table(JUDGES, (row for name, entry in models for row in _describe_judge(name, entry))),
        "## Agents that are asked\n",
        _table(AGENTS, (_describe_agent(name, entry) for name, entry in agents)),
        "## Other models and interfaces that end\n",
        _table("Model | Ends | Successor", ended),
    )
    return "\n".join(parts)


def _table(heads: str, rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, " | ".join(["---"] * (heads.count("|") + 1))]
    lines += [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "".join(f"| {line} |\n" for line in lines)


def _describe_judge(name: str, entry: LlmJudgeEntry) -> Iterator[tuple[str, ...]]:
    """A row for each price and tier."""
    prices = [
        price for price in load_prices().prices
        if (price.provider, price.model) == (entry.provider, entry.model)
    ]  # fmt: skip
    ending = find_judge_ending(entry)
    ends = f"{ending.ends} → {ending.successor or '?'}" if ending else ""
    context = f"{entry.context_tokens:,}"
    for price in prices:
        for tier, live, batch in _list_tiers(price):
            yield (
                f"`{name}`", f"{entry.provider}/{entry.model}", tier, str(price.since),
                "<br>".join(map(_format_input, filter(None, (live, batch)))),
                "<br>".join(f"{one.output:g}" for one in (live, batch) if one),
                context, ends, price.source, str(price.checked),
            )  # fmt: skip


def _list_tiers(price: ModelPrice) -> Iterator[tuple[str, TokenPrices, TokenPrices | None]]:
    above = price.above_prompt_tokens
    yield (f"up to {above:,}" if above else "any length"), price.live, price.batch
    if above and price.live_above:
        yield f"above {above:,}", price.live_above, price.batch_above


def _format_input(rates: TokenPrices) -> str:
    cached = "" if rates.cached_input is None else f" ({rates.cached_input:g})"
    return f"{rates.input:g}{cached}"


def _describe_agent(name: str, entry: AgentEntry) -> tuple[str, ...]:
    price, ending = getattr(entry.ask, "price", None), find_agent_ending(entry)
    tokens = price.tokens if price else None
    model = getattr(entry.ask, "model", None) or ", ".join(
        f"{key}: {value}" for key, value in getattr(entry.ask, "parameters", {}).items()
    )
    free = getattr(entry.ask, "repeatable", False)
    report = f"{price.typical_usd:g} ({price.most_usd:g})" if price else "0" if free else "unknown"
    return (
        f"`{name}`", model, report, f"{tokens.input:g}" if tokens else "",
        f"{tokens.output:g}" if tokens else "",
        f"{price.usd_per_thousand_searches:g}" if price and tokens else "",
        f"{ending.ends} → {ending.successor or '?'}" if ending else "",
        (price.source if price else entry.source) or "", str(price.checked if price else "") or "",
    )  # fmt: skip


if __name__ == "__main__":
    print(render_page(), end="")

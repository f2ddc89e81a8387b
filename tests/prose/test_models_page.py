"""The page of models shows every entry that comes along, as the configuration has it."""

from pathlib import Path

import pytest

from tasks.agents.registry import load_agents
from tasks.configuration.models import LlmJudgeEntry, load_judges
from tasks.models.prices import ModelPrice, load_prices
from tests.docs.models_page import WRITE, render_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "models.md"


def test_the_page_is_made_from_the_configuration() -> None:
    assert PAGE.read_text("utf-8") == render_page(), f"run `{WRITE}`"


def test_every_judge_and_every_agent_that_is_asked_has_a_row() -> None:
    judges = {name for name, e in load_judges().judges.items() if isinstance(e, LlmJudgeEntry)}
    agents = {name for name, entry in load_agents().agents.items() if entry.ask}
    rows = {line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")}
    assert rows == judges | agents


OF_JUDGES = {
    (entry.provider, entry.model)
    for entry in load_judges().judges.values()
    if isinstance(entry, LlmJudgeEntry)
}
LISTED = [p for p in load_prices().prices if (p.provider, p.model) in OF_JUDGES]


@pytest.mark.parametrize("price", LISTED, ids=lambda p: f"{p.model} {p.since}")
def test_a_price_is_shown_with_its_tiers_and_its_source(price: ModelPrice) -> None:
    rows = [
        line
        for line in PAGE.read_text().splitlines()
        if f"| {price.provider}/{price.model} |" in line and f"| {price.since} |" in line
    ]
    above = [f"above {price.above_prompt_tokens:,}"] if price.above_prompt_tokens else []
    for tier, rates in zip(["", *above], (price.live, price.live_above), strict=False):
        shown = [row for row in rows if tier in row and (tier or "above" not in row)]
        assert shown
        for row in shown:
            assert rates
            assert f" {rates.input:g}" in row
            assert f" {rates.output:g}" in row
            assert price.source in row
            assert str(price.checked) in row

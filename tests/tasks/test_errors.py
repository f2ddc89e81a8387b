"""Suggestions for wrong names."""

import pytest

from tasks.agents.registry import get_agent_entry
from tasks.configuration.errors import ConfigurationError
from tasks.errors import MOST_LISTED, suggest_names
from tasks.judges.registry import load_judge_entry
from tasks.protocols.registry import get_protocol

JUDGES = ["gemini-2.5-flash", "gemini-3.1-pro", "gemini-3.8-flash", "gpt-5", "offline"]


@pytest.mark.parametrize(
    ("wrong", "known", "said"),
    [
        ("gemini-3.8-flahs", JUDGES, "Did you mean gemini-3.8-flash?"),
        ("GPT-5", JUDGES, "Did you mean gpt-5?"),
        ("openai_gpt_5.5", ["openai_gpt_5_5", "openai"], "Did you mean openai_gpt_5_5?"),
        ("flash", JUDGES, "Did you mean gemini-2.5-flash or gemini-3.8-flash?"),
        (
            "gemini",
            JUDGES,
            "Did you mean gemini-2.5-flash, gemini-3.1-pro or gemini-3.8-flash?",
        ),
        ("claude", JUDGES, f"Known: {', '.join(JUDGES)}."),
        ("", ["b", "a"], "Known: a, b."),
        ("sample", [], "There are none yet."),
    ],
)
def test_a_wrong_name_gets_the_nearest_ones_or_all(wrong: str, known: list[str], said: str) -> None:
    assert suggest_names(wrong, known) == said


def test_a_long_list_is_cut() -> None:
    said = suggest_names("x", [f"{n:03}" for n in range(MOST_LISTED + 2)])
    assert said.endswith(f", {MOST_LISTED - 1:03} and 2 more.")


def test_judges_agents_and_protocols_are_suggested() -> None:
    with pytest.raises(ConfigurationError, match=r"no judge .*judges\.yaml\. Did you mean offline"):
        load_judge_entry("ofline")
    with pytest.raises(ConfigurationError, match=r"agents\.yaml\. Did you mean sample_sketch\?"):
        get_agent_entry("sample_sktech")
    with pytest.raises(ConfigurationError, match=r"'wikifact'\. Did you mean wiki_fact\?"):
        get_protocol("wikifact")

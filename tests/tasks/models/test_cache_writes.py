"""What was written to a prompt cache is counted, however a maker or a gateway says it."""

from typing import Any

import pytest

from tasks.agents.kinds import anthropic
from tasks.agents.kinds.chat import parse_chat_usage
from tasks.agents.wire.responses_output import parse_usage
from tasks.models.answer_metadata import count_cache_writes
from tasks.models.exchange import TokenUsage
from tasks.models.openai_chat import parse_completion
from tests.tasks.models.scripted import question

LIFETIMES = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10}
BOTH = {"cache_write_tokens": 40, "cache_write_hour_tokens": 10}


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"cache_creation_input_tokens": 40}, {"cache_write_tokens": 40}),
        ({"cache_creation_input_tokens": 40, "cache_creation": LIFETIMES}, BOTH),
        ({"cache_creation": LIFETIMES}, BOTH),
        ({"prompt_tokens_details": {"cache_write_tokens": 40}}, {"cache_write_tokens": 40}),
        ({"input_tokens_details": {"cache_write_tokens": 0}}, {"cache_write_tokens": 0}),
        ({"prompt_tokens_details": {"cached_creation_tokens": 40}}, {"cache_write_tokens": 40}),
        ({"cacheWriteInputTokens": 40}, {"cache_write_tokens": 40}),
        (
            {  # a gateway says the same under all names
                "cache_creation_input_tokens": 40,
                "prompt_tokens_details": {
                    "cache_write_tokens": 40, "cache_creation_tokens": 40,
                    "cache_creation_token_details": LIFETIMES,
                },
                "cache_creation": LIFETIMES,
            },
            BOTH,
        ),
        ({"cache_read_input_tokens": 9, "prompt_tokens_details": {"cached_tokens": 9}}, {}),
        ({"cache_creation_input_tokens": "forty", "cost": {"cache_creation_cost": 3}}, {}),
        ({"cache_creation_input_tokens": "40"}, {"cache_write_tokens": 40}),
        ({"cache_creation_input_tokens": -1, "cache_creation": None}, {}),
        ({"cache_creation_input_tokens": True}, {}),
        ([{"cache_creation_input_tokens": 40}], {}),
        (None, {}),
    ],
)  # fmt: skip
def test_cache_writes_are_found_under_any_name(usage: Any, counted: dict[str, int]) -> None:
    assert count_cache_writes(usage) == counted


def test_an_absurd_count_can_be_stored() -> None:
    absurd = dict.fromkeys(LIFETIMES, 2**63 - 1)
    assert count_cache_writes({"cache_creation": absurd})["cache_write_tokens"] == 2**63 - 1


def completed(details: dict[str, Any]) -> TokenUsage:
    answer = {
        "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, **details},
    }
    return parse_completion(answer, question(), "live").usage


def test_a_judges_usage_has_the_tokens_written() -> None:
    usage = completed({"prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 40}})
    assert (usage.prompt, usage.cached, usage.cache_write_tokens) == (100, 20, 40)
    assert completed({}).cache_write_tokens is None


def test_agents_usages_have_the_tokens_written() -> None:
    said = {"cache_write_tokens": 40, "cached_tokens": 20}
    chat = parse_chat_usage({"prompt_tokens": 100, "prompt_tokens_details": said})
    responses = parse_usage({"input_tokens": 100, "input_tokens_details": said}, 0)
    for usage in (chat, responses):
        assert (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens) == (100, 20, 40)
    parts = [
        {"input_tokens": 5, "cache_creation_input_tokens": 40, "cache_creation": LIFETIMES},
        {"input_tokens": 5, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 2},
    ]
    paused = anthropic._parse_usage(parts)
    assert (paused.input_tokens, paused.cached_tokens) == (92, 40)
    assert (paused.cache_write_tokens, paused.cache_write_hour_tokens) == (42, 10)

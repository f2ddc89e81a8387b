"""Tokens read from a prompt cache are counted, however a maker or a gateway says it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.models.answer_metadata import MAX_COUNT, count_cached, count_tokens


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 40}}, 40),
        ({"input_tokens_details": {"cached_tokens": "40"}}, 40),
        ({"prompt_cache_hit_tokens": 40, "prompt_cache_miss_tokens": 60}, 40),
        ({"cached_tokens": 40}, 40),
        ({"cache_read_input_tokens": 40, "cache_creation_input_tokens": 60}, 40),
        ({"input_tokens_details": {"cache_read_input_tokens": 40}}, 40),
        ({"cacheReadInputTokens": 40}, 40),
        ({"cachedContentTokenCount": 40}, 40),
        ({"cached_prompt_text_tokens": 40}, 40),
        # a gateway that says the maker's count beside its own
        ({"prompt_cache_hit_tokens": 40, "prompt_tokens_details": {"cached_tokens": 0}}, 40),
        ({"prompt_tokens_details": {"cached_tokens": 0}}, 0),
        ({"completion_tokens_details": {"cached_tokens": 9}, "output_cached_tokens": 9}, None),
        ({"cached_tokens_cost": 3, "cost_details": {"cached_tokens": 3}}, None),
        ({"cached_tokens": -1, "non_cached_input_tokens": 9, "cache_write_tokens": 9}, None),
        ({"cached_tokens": True}, None),
        ([{"cached_tokens": 9}], None),
        (None, None),
    ],
)
def test_cached_tokens_are_found_under_any_name(usage: Any, counted: int | None) -> None:
    assert count_cached(usage) == counted


@pytest.mark.parametrize("value", ["", "-1", "1.5", "1e3", " 1", "١٢", "9" * 19, "9" * 5000, 1.0])
def test_what_is_no_count_is_missing(value: Any) -> None:
    assert count_tokens(value) is None


@given(st.integers(0, MAX_COUNT))
def test_a_count_may_be_text(number: int) -> None:
    assert count_tokens(str(number)) == count_tokens(number) == number


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["cached_tokens", "details", "cost", "prompt_cache_hit_tokens"]), inner
    ),
)  # fmt: skip


@given(JSON)
def test_any_usage_can_be_read(usage: Any) -> None:
    found = count_cached(usage)
    assert found is None or 0 <= found <= MAX_COUNT

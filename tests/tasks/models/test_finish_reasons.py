"""Every known finish reason has one meaning, however it is written; an unknown one has none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.models.answer_metadata import ENDINGS, REASONS, Ending, classify_finish, describe_cut


@pytest.mark.parametrize(
    ("ending", "reasons"),
    [
        ("whole", ["stop", "STOP", "end_turn", "eos", "stop_sequence", "COMPLETE", "", None]),
        ("whole", ["FINISH_REASON_STOP", "REASON_STOP", "endTurn", " stop "]),
        ("cut", ["length", "max_tokens", "MAX_TOKENS", "max-tokens", "maxTokens", "model_length"]),
        ("cut", ["model_context_window_exceeded", "max_output_tokens", "REASON_MAX_LEN"]),
        ("filtered", ["content_filter", "content-filter", "SAFETY", "RECITATION", "SPII"]),
        ("filtered", ["BLOCKLIST", "guardrail_intervened", "refusal", "sensitive", "ERROR_TOXIC"]),
        ("broke_off", ["error", "ERROR", "insufficient_system_resource", "abort", "cancelled"]),
        ("broke_off", ["MALFORMED_FUNCTION_CALL", "network_error", "OTHER", "pause_turn"]),
        ("tool", ["tool_calls", "tool-calls", "function_call", "tool_use", "TOOL_CALL"]),
        (
            None,
            ["because", "stopped early", "stop!", "FINISH_REASON_UNSPECIFIED", "null", "停", "_"],
        ),
    ],
)
def test_a_reason_means_what_its_maker_says(
    ending: Ending | None, reasons: list[str | None]
) -> None:
    assert {reason: classify_finish(reason) for reason in reasons} == dict.fromkeys(reasons, ending)


def test_no_reason_has_two_meanings() -> None:
    assert len(ENDINGS) == sum(len(reasons.split()) for reasons in REASONS.values())


@pytest.mark.parametrize(
    ("reason", "described"),
    [
        ("length", "cut at its token limit"),
        ("MAX_TOKENS", "cut at its token limit (MAX_TOKENS)"),
        ("SAFETY", "stopped by the provider's content filter (SAFETY)"),
        ("error", "broken off by the provider (error)"),
        ("stop", None),
        (None, None),
        ("because", None),
    ],
)
def test_a_cut_answer_is_described_with_its_reason(reason: str, described: str | None) -> None:
    assert describe_cut(reason) == described


@given(st.text())
def test_any_text_can_be_a_reason(reason: str) -> None:
    is_cut = classify_finish(reason) not in (None, "whole")
    assert (describe_cut(reason) is not None) == is_cut

"""What any API says beside an answer: its counts of tokens, and why the model stopped.

Most finish reasons are named by the makers' own SDKs and documentation, some only by the code of
gateways and servers (LiteLLM, OpenRouter, vLLM, SGLang, llama.cpp, TGI). They are compared without
case and what separates words: `MAX_TOKENS`, `max-tokens` and `maxTokens` are one.
"""

import re
from typing import Any, Literal

MAX_COUNT = 2**63 - 1
CACHED = re.compile(
    r"(prompt|input|num|total)?cache(d|hit|read)(input|prompt|prompttext|content)?token(s|count)|cachen"
)
"""How makers and gateways call the tokens read from a prompt cache, without case and `_`; the last
is llama.cpp's name, among its `timings`."""
WRITTEN = re.compile(r"cached?_?(creation|write).*tokens?(_?count)?$", re.I)
"""The path of a count. Makers and gateways call it `cache_creation_input_tokens`,
`cache_write_tokens` and more, at the top or in details, also once for each lifetime."""
OTHER_TOKENS = ("completion", "output", "cost")
"""Fields whose counts are not of the prompt begin with these."""


def count_tokens(value: Any) -> int | None:
    """Return a count from 0 to MAX_COUNT: an integer, also as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MAX_COUNT else None


def count_cached(usage: Any) -> int | None:
    """Return the tokens read from a prompt cache: what is said more than once, is one count."""
    found: list[int] = []
    nested = [usage]
    while nested:
        value = nested.pop()
        for name, inner in value.items() if isinstance(value, dict) else ():
            number = count_tokens(inner)
            if number is not None and CACHED.fullmatch(str(name).lower().replace("_", "")):
                found.append(number)
            elif not str(name).startswith(OTHER_TOKENS):
                nested.append(inner)
    return max(found, default=None)


def count_cache_writes(usage: Any) -> dict[str, int]:
    """Return the fields of a usage for tokens written to a cache, as far as they are reported."""
    found: dict[str, int] = {}
    nested = [("", usage)]
    while nested:
        path, value = nested.pop()
        if isinstance(value, dict):
            nested += [(f"{path}.{name}", inner) for name, inner in value.items()]
        elif WRITTEN.search(path) and (number := count_tokens(value)) is not None:
            name = path.rpartition(".")[2]
            found[name] = max(number, found.get(name, 0))  # said twice, it is still one count
    if not found:
        return {}
    by_lifetime = sum(n for name, n in found.items() if name.startswith("ephemeral"))
    counts = {"cache_write_tokens": min(max(by_lifetime, *found.values()), MAX_COUNT)}
    for_hour = [n for name, n in found.items() if "1h" in name]
    return counts | ({"cache_write_hour_tokens": max(for_hour)} if for_hour else {})


Ending = Literal["whole", "cut", "filtered", "broke_off", "tool"]

REASONS: dict[Ending, str] = {
    "whole": """
        stop end_turn stop_sequence eos eos_token eos_found eot end complete completed done
        finish finished end_of_text end_of_turn stop_token stop_string_found stop_criteria_met
        normal success word answered
    """,
    "cut": """
        length max_tokens max_output_tokens max_completion_tokens max_new_tokens max_length max_len
        max_context limit token_limit output_limit model_length context_length
        context_length_exceeded model_context_window_exceeded context_window_exceeded continuation
        context_length_reached max_tokens_reached max_predicted_tokens_reached output_token_limit
        token_limit_reached repetition_truncation compaction truncated
    """,
    "filtered": """
        content_filter content_filtered content_filter_triggered safety recitation language
        blocklist blacklist prohibited_content spii guardrail_intervened refusal refused sensitive
        moderation blocked error_toxic escalation model_armor pup_limited_disabled image_safety
        image_recitation image_prohibited_content
    """,
    "broke_off": """
        error error_limit insufficient_system_resource rate_limit_exceeded abort aborted cancel
        cancelled canceled user_cancel interrupted timeout time_limit network_error failed
        incomplete not_finished pause_turn other repetition load unload malformed_function_call
        malformed_response malformed_tool_use malformed_model_output too_many_tool_calls
        user_stopped model_unloaded rate_limit server_error internal_error service_unavailable
        overloaded connection_error disconnected exception quota_exceeded insufficient_quota
        unexpected_tool_call missing_thought_signature image_other no_image
    """,
    "tool": "tool_calls tool_call tool_use function_call function_calls",
}
"""The reasons for each way to end; `answered` is our own word where none was given."""
ENDINGS: dict[str, Ending] = {
    reason.replace("_", ""): ending
    for ending, reasons in REASONS.items()
    for reason in reasons.split()
}
_IGNORED = re.compile(r"^(finish_)?reason_|[\s_.-]+")
"""The first is what Google's and xAI's enumerations write before each reason."""
SHOWN_CHARS = 80
"""The most characters of a foreign reason that are shown."""
WORDS: dict[Ending, str] = {
    "whole": "ended of itself",
    "cut": "cut at its token limit",
    "filtered": "stopped by the provider's content filter",
    "broke_off": "broken off by the provider",
    "tool": "stopped to call a tool, and nobody answers tool calls here",
}
PLAIN_REASONS = frozenset({"length", "content_filter"})
"""Reasons that say no more than the words for their ending."""


def classify_finish(reason: str | None) -> Ending | None:
    """Return what a finish reason means; "whole" if none is given, None if it is not known."""
    return ENDINGS.get(_IGNORED.sub("", (reason or "stop").lower()))


def describe_cut(reason: str | None) -> str | None:
    """Say why an answer is not whole; None if it is, or if the reason is not known."""
    ending = classify_finish(reason)
    if ending in (None, "whole"):
        return None
    shown = (reason or "")[:SHOWN_CHARS].strip()
    return WORDS[ending] if shown in PLAIN_REASONS else f"{WORDS[ending]} ({shown})"


def describe_doubt(reason: str | None) -> str | None:
    """Say why a report that was kept may not be whole; None if its reason says that it is."""
    if classify_finish(reason) == "whole":
        return None
    if cut := describe_cut(reason):
        return f"the report may not be whole: it was {cut}"
    shown = repr((reason or "")[:SHOWN_CHARS])
    return f"the report may not be whole: it ended with {shown}, an unknown finish reason"

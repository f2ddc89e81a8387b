"""Faults by script: which prompts go wrong, how, and how often.

The choice hangs on the prompt alone (a hash of its first user turn), so it is the same in every
run, whatever the order, and still holds when a killed run is started again.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tests.servers.http import Break

BROKEN: dict[str, Break] = {
    "reset_before": "reset",
    "reset_mid_body": "reset_mid_body",
    "half_body": "half_body",
    "stall_mid_body": "stall_mid_body",
    "bad_gzip": "bad_gzip",
    "cut_gzip": "cut_gzip",
    "unknown_encoding": "unknown_encoding",
}
"""The answer is lost on its way."""
RATE_LIMITS = (
    "rate_limit",  # without a hint
    "rate_limit_retry_after",
    "rate_limit_retry_info",  # Gemini: RetryInfo; OpenAI: retry-after-ms
    "quota_per_day",
    "spend_cap",
)
STATUSES = {
    **dict.fromkeys(RATE_LIMITS, 429),
    "server_500": 500,
    "key_echoed": 500,
    "html_502": 502,
    "unavailable_503": 503,
    "timeout_408": 408,
}
"""Refusals, by their status."""
EMPTY_200, HTML_200 = "empty_200", "html_200"
ENDINGS = ("max_tokens", "thoughts_only", "safety", "recitation", "unknown_finish", "no_candidate")
"""A 200 whose answer ended otherwise than well, in the provider's own words."""
ENVELOPES: dict[str, dict[str, Any]] = {
    "bad_charset": {"content_type": "application/json; charset=hex"},
    "bad_reason": {"reason": "Très bien"},
    "bad_cookie": {"headers": (("Set-Cookie", "München=ü; Path=/"),)},
}
"""What is odd around a whole answer: a charset that is none of text, a reason in Latin-1, a
cookie that no client can send back."""
PASSING = ("slow", "missing_usage", "other_version", *ENVELOPES)
"""A whole answer, with something odd about it."""


def _results(answer: Any) -> list[Any]:
    lists = [value for value in answer.values() if isinstance(value, list)]
    return lists[0] if lists else []


def _edited(edit: Callable[[list[Any]], None]) -> Callable[[str], str]:
    """A change to the list of results inside an answer's JSON."""

    def changed(text: str) -> str:
        answer = json.loads(text)
        results = _results(answer)
        if results:
            edit(results)
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))

    return changed


def _wrong_enum(results: list[Any]) -> None:
    first = results[0]
    for name in ("verdict", "winner", "score", "score_1"):
        if name in first:
            first[name] = "perhaps"
            return
    first["statement"] = None  # an extraction has no choice of words: a wrong type instead


def _extra(results: list[Any]) -> None:
    strange: dict[str, Any] = {"item": 999, "statement": 999, "criterion": "made_up"}
    extra = dict(results[0])
    extra |= {name: value for name, value in strange.items() if name in extra}
    results.append(extra)


TEXT_FAULTS: dict[str, Callable[[str], str]] = {
    "truncated_json": lambda text: text[: len(text) * 2 // 3],
    "prose": lambda text: "I would rather describe my verdict in words.",
    "wrong_enum": _edited(_wrong_enum),
    "missing_item": _edited(lambda results: results.pop()),
    "duplicate_item": _edited(lambda results: results.append(dict(results[0]))),
    "extra_item": _edited(_extra),
}
"""Whole answers, ended well as far as the wire says, that cannot be used."""
COMMON = (*BROKEN, *STATUSES, EMPTY_200, HTML_200, *ENDINGS, *PASSING, *TEXT_FAULTS)
GEMINI_FAULTS = frozenset((*COMMON, "prompt_block", "continuation"))
OPENAI_FAULTS = frozenset((*COMMON, "refusal"))
ANTHROPIC_FAULTS = OPENAI_FAULTS - {"safety", "recitation"}
"""Anthropic withholds nothing: its models refuse."""
HTML_PAGE = b"<!DOCTYPE html><html><head><title>502</title></head><body>Bad gateway</body></html>"


@dataclass
class FaultPlan:
    """Faults for a share of the prompts, in equal parts, each for a prompt's first requests."""

    faults: tuple[str, ...] = ()
    share: float = 1.0
    """Of all prompts, 0–1."""
    prompts: frozenset[str] | None = None
    """Ids of prompts (`asked.prompt_id`): these and no others, whatever the share."""
    times: int | None = 1
    """Requests of a prompt that go wrong before one goes well; None: all of them."""
    hint_seconds: float = 1.0
    """What a 429 asks to wait."""
    slow_seconds: float = 1.0
    """What `slow` adds to the delay."""
    salt: str = ""
    """Another salt hits other prompts."""
    in_turn: bool = False
    """Each new prompt has the next fault, whatever its words: all strike, of however few."""
    _seen: Counter[str] = field(default_factory=Counter, repr=False)
    _dealt: dict[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        unknown = set(self.faults) - GEMINI_FAULTS - OPENAI_FAULTS
        if unknown:
            raise ValueError(f"no such fault: {', '.join(sorted(unknown))}; see GEMINI_FAULTS")

    def fault_of(self, prompt_id: str) -> str | None:
        """What is in store for a prompt, whether or not it has struck."""
        if self.in_turn:
            return self._dealt.setdefault(
                prompt_id, self.faults[len(self._dealt) % len(self.faults)]
            )
        drawn = sha256(f"{self.salt}\n{prompt_id}".encode()).digest()
        if self.prompts is None:
            struck = int.from_bytes(drawn[:8], "big") < self.share * 2**64
        else:
            struck = prompt_id in self.prompts
        if not self.faults or not struck:
            return None
        return self.faults[int.from_bytes(drawn[8:12], "big") % len(self.faults)]

    def next(self, prompt_id: str) -> str | None:
        """The fault that strikes this request; it counts as one."""
        fault = self.fault_of(prompt_id)
        if fault is None:
            return None
        self._seen[prompt_id] += 1
        return fault if self.times is None or self._seen[prompt_id] <= self.times else None

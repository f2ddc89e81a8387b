"""Tolerant parser of an agent's answer to a question: bare JSON, fenced JSON, or JSON in prose.

Nothing is guessed: only JSON is read (trailing commas allowed). An answer without claims in a known
form raises AnswerParseError with the reason: that is the agent's failure, not ours. Answers are
untrusted, so size, depth and number of values are bounded.

Forms: `{"claims": [{"value", "name", "sub_claims", "sources"}]}`, also as a bare list;
`{"key", "preds": [...]}` and `[{"key", "preds"}]` as LiveDRBench publishes predictions; a list
of strings or of flat dicts; one flat dict. If an answer holds several, fenced ones are tried before
bare ones and later ones before earlier ones; the first that has one of these forms counts.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tasks.base import Frozen
from tasks.models.embedded_json import (
    JSON_START,
    MAX_STARTS,
    OPENING,
    UnclosedReasoning,
    decode_at,
    drop_reasoning,
    reject_constant,
)
from tasks.warehouse.rows import replace_surrogates

MAX_ANSWER_CHARS = 1_000_000
MAX_VALUES = 5_000
"""Texts, numbers, lists and objects at all levels."""
MAX_DEPTH = 16
"""Brackets inside brackets."""
MAX_VALUE_CHARS = 10_000

_FENCE = re.compile(r"[ \t]*```[\w-]*[ \t]*\r?\n?")
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|,(?=\s*+[}\]])', re.S)
_AT_LINE_START = re.compile(r"^[{\[]", re.M)
_CLAIM_KEYS = frozenset({"name", "value", "sub_claims", "sources"})

AnswerGroup = dict[str, Any] | list[Any]
"""One item of a published answer: a dict, or a list of dicts or strings."""


class AnswerParseError(Exception):
    """The answer holds no claims in a known form; the message says why."""


class AnsweredClaim(Frozen):
    """One claim of an answer, with its sub-claims and sources."""

    value: str
    name: str = ""
    sub_claims: tuple["AnsweredClaim", ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class AgentAnswer:
    """A parsed answer, as nested claims or in the published form."""

    claims: tuple[AnsweredClaim, ...] | None = None
    """The nested claims; None for an answer in the published form."""
    groups: tuple[AnswerGroup, ...] = ()
    """The items of the published form, one per ground truth."""

    @property
    def n_claims(self) -> int:
        """Number of top-level claims, or of values of the published form."""
        if self.claims is not None:
            return len(self.claims)
        return sum(_count_values(group) for group in self.groups)


def parse_answer(text: str) -> AgentAnswer:
    """Parse the claims of an answer.

    Raises:
        AnswerParseError: it has none in a known form, or exceeds a bound.
    """
    if not text.strip():
        raise AnswerParseError("the answer is empty")
    if len(text) > MAX_ANSWER_CHARS:
        raise AnswerParseError(f"the answer is longer than {MAX_ANSWER_CHARS:,} characters")
    problem = "no JSON could be read in it"
    try:
        text = drop_reasoning(text)
    except UnclosedReasoning as error:
        raise AnswerParseError(str(error)) from None
    for value in _find_candidates(text):
        try:
            return _build_answer(value)
        except AnswerParseError as error:
            problem = str(error)
    raise AnswerParseError(problem)


def format_value(value: object) -> str:
    """Format a value of untrusted JSON as text: strings as they are, lists with semicolons."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return "; ".join(format_value(item) for item in value)
    return replace_surrogates(json.dumps(value, ensure_ascii=False, sort_keys=True))


def _find_candidates(text: str) -> Iterator[Any]:
    """Yield every JSON value of the text, the most likely answer first."""
    for inside in (*reversed(_find_fenced(text)), text):
        value = _parse_json(inside)
        if value is not None:
            yield value
    yield from reversed(list(_find_in_prose(text)))


def _find_fenced(text: str) -> list[str]:
    """Return the contents of fenced code blocks; an unclosed fence ends with the text."""
    blocks: list[list[str]] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _FENCE.fullmatch(line):
            inside = not inside
            if inside:
                blocks.append([])
        elif inside:
            blocks[-1].append(line)
    return ["".join(block) for block in blocks]


def _parse_json(text: str) -> Any:
    """Parse JSON, allowing trailing commas; None if it is invalid."""
    for candidate in (text, _TRAILING_COMMA.sub(lambda found: found[1] or "", text)):
        try:
            return json.loads(candidate, parse_constant=reject_constant)
        except (ValueError, RecursionError):
            continue
    return None


def _find_in_prose(text: str) -> Iterator[Any]:
    """Yield objects and lists in prose; `[3]` is a citation, not an answer.

    Parts of invalid JSON, e.g. of a truncated object, are no answers: the search continues at the
    next line that begins with a bracket.
    """
    at, pattern = 0, OPENING
    for _ in range(MAX_STARTS):
        opening = pattern.search(text, at)
        if not opening:
            return
        value, at = decode_at(text, opening.start())
        broken = value is None and JSON_START.match(text, opening.start())
        pattern = _AT_LINE_START if broken else OPENING
        if isinstance(value, dict) or any(isinstance(v, dict | list | str) for v in value or ()):
            yield value


def _build_answer(value: Any) -> AgentAnswer:
    _check_bounds(value)
    if isinstance(value, list) and len(value) == 1 and _has_predictions(value[0]):
        value = value[0]
    if _has_predictions(value) and value["preds"] and all(map(_has_claims, value["preds"])):
        return AgentAnswer(
            claims=tuple(
                _parse_claim(c) for prediction in value["preds"] for c in prediction["claims"]
            )
        )
    if _has_predictions(value):
        return AgentAnswer(groups=tuple(_parse_group(item) for item in value["preds"]))
    if isinstance(value, dict) and isinstance(value.get("claims"), list):
        value = value["claims"]
        if not value:
            return AgentAnswer(claims=())
    elif isinstance(value, dict):
        return AgentAnswer(groups=(_parse_group(value),))
    if not isinstance(value, list):
        raise AnswerParseError("its JSON is neither a list nor an object")
    if any(isinstance(item, dict) for item in value) and all(_is_claim(item) for item in value):
        return AgentAnswer(claims=tuple(_parse_claim(item) for item in value))
    if value and all(isinstance(item, list) for item in value):
        return AgentAnswer(groups=tuple(_parse_group(item) for item in value))
    return AgentAnswer(groups=(_parse_group(value),))


def _has_predictions(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("preds"), list)


def _has_claims(item: Any) -> bool:
    """Whether a prediction is in this project's own form."""
    return (
        isinstance(item, dict)
        and item.keys() == {"claims"}
        and isinstance(item["claims"], list)
        and all(_is_claim(claim) for claim in item["claims"])
    )


def _is_claim(item: Any) -> bool:
    return isinstance(item, str) or (
        isinstance(item, dict) and "value" in item and item.keys() <= _CLAIM_KEYS
    )


def _parse_claim(item: Any) -> AnsweredClaim:
    """Parse a claim; its sub-claims may also be an object of names and values."""
    if not isinstance(item, dict):
        return AnsweredClaim(value=format_value(item))
    below = item.get("sub_claims") or []
    if isinstance(below, dict):
        below = [{"name": name, "value": value} for name, value in below.items()]
    if not isinstance(below, list):
        raise AnswerParseError("a claim's sub_claims are neither a list nor an object")
    sources = item.get("sources") or []
    return AnsweredClaim(
        value=format_value(item.get("value")),
        name=format_value(item.get("name")),
        sub_claims=tuple(_parse_claim(claim) for claim in below),
        sources=tuple(
            format_value(s) for s in (sources if isinstance(sources, list) else [sources])
        ),
    )


def _parse_group(item: Any) -> AnswerGroup:
    if isinstance(item, dict):
        return item
    if isinstance(item, list) and all(isinstance(row, dict | str | int | float) for row in item):
        return [row if isinstance(row, dict) else format_value(row) for row in item]
    if isinstance(item, str | int | float):
        return [format_value(item)]
    raise AnswerParseError("an item of the answer is neither an object nor a list of such or texts")


def _count_values(group: AnswerGroup) -> int:
    if isinstance(group, dict):
        return len(group)
    return sum(len(row) if isinstance(row, dict) else 1 for row in group)


def _check_bounds(value: Any) -> None:
    """Raise if the value is too deep, too large or too long; without recursion."""
    waiting: list[tuple[Any, int]] = [(value, 1)]
    n_values = 0
    while waiting:
        item, depth = waiting.pop()
        n_values += 1
        if n_values > MAX_VALUES:
            raise AnswerParseError(f"it holds more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH:
            raise AnswerParseError(f"its JSON is nested deeper than {MAX_DEPTH} brackets")
        if isinstance(item, dict | list):
            below = list(item.values()) if isinstance(item, dict) else item
            waiting += [(part, depth + 1) for part in below]
            if isinstance(item, dict) and any(len(key) > MAX_VALUE_CHARS for key in item):
                raise AnswerParseError(f"a name is longer than {MAX_VALUE_CHARS:,} characters")
        elif isinstance(item, str) and len(item) > MAX_VALUE_CHARS:
            raise AnswerParseError(f"a value is longer than {MAX_VALUE_CHARS:,} characters")

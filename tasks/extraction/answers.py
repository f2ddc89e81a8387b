"""An agent's answer to a question, read tolerantly: JSON alone, fenced, or amid prose.

Nothing is invented. What is not JSON (but for commas before a closing bracket, which say
nothing) is not read, and an answer that holds no claims in a known form is an UnreadableAnswer
with its reason: the agent's failure, not ours. Agents' answers are untrusted: size, depth and
number of claims are bounded, and an answer above a bound is unreadable.

Forms: `{"claims": [{"value", "name", "sub_claims", "sources"}]}`, also as a bare list;
`{"key", "preds": [...]}` and `[{"key", "preds"}]` as LiveDRBench publishes predictions; a list
of strings or of flat dicts; one flat dict. Where several stand in an answer, fenced ones go
before bare ones, and the last one counts that parses and has one of these forms.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tasks.base import Frozen
from tasks.warehouse.rows import storable

MAX_ANSWER_CHARS = 1_000_000
MAX_VALUES = 5_000
"""Texts, numbers, lists and objects at all levels."""
MAX_DEPTH = 16
"""Brackets inside brackets."""
MAX_VALUE_CHARS = 10_000
MAX_STARTS = 5_000
"""Places in prose at which JSON is tried to be read."""

_FENCE = re.compile(r"[ \t]*```[\w-]*[ \t]*\r?\n?")
_TRAILING = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|,(?=\s*+[}\]])', re.S)
_OPENING = re.compile(r"[{\[]")
_OF_JSON = re.compile(r'\{\s*+["}]|\[\s*+["{\[]')
_AT_LINE_START = re.compile(r"^[{\[]", re.M)
_CLAIM_KEYS = frozenset({"name", "value", "sub_claims", "sources"})

Group = dict[str, Any] | list[Any]
"""One item of a published answer: a dict, or a list of dicts or strings."""


class UnreadableAnswer(Exception):
    """The answer holds no claims in a known form; the message says why."""


class AnsweredClaim(Frozen):
    """One claim of an answer, with what it says of it."""

    value: str
    name: str = ""
    sub_claims: tuple["AnsweredClaim", ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class AgentAnswer:
    """What an answer says, in the form in which it says it."""

    claims: tuple[AnsweredClaim, ...] | None = None
    """Where it is given as nested claims."""
    groups: tuple[Group, ...] = ()
    """Where it is given in the published form: an item per ground truth."""

    @property
    def n_claims(self) -> int:
        """Claims at the top, or values of the published form."""
        if self.claims is not None:
            return len(self.claims)
        return sum(_size(group) for group in self.groups)


def read_answer(text: str) -> AgentAnswer:
    """The claims of an answer.

    Raises:
        UnreadableAnswer: there are none in a known form, or more than is read.
    """
    if not text.strip():
        raise UnreadableAnswer("the answer is empty")
    if len(text) > MAX_ANSWER_CHARS:
        raise UnreadableAnswer(f"the answer is longer than {MAX_ANSWER_CHARS:,} characters")
    problem = "no JSON could be read in it"
    for value in _candidates(text):
        try:
            return _answer(value)
        except UnreadableAnswer as error:
            problem = str(error)
    raise UnreadableAnswer(problem)


def shown(value: object) -> str:
    """A value of foreign JSON as one text: strings as they are, lists with semicolons."""
    if isinstance(value, str):
        return storable(value)
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return "; ".join(shown(item) for item in value)
    return storable(json.dumps(value, ensure_ascii=False, sort_keys=True))


def _candidates(text: str) -> Iterator[Any]:
    """Every JSON value of the text, the likeliest to be meant first."""
    for inside in (*reversed(_fenced(text)), text):
        value = _parsed(inside)
        if value is not None:
            yield value
    yield from reversed(list(_amid_prose(text)))


def _fenced(text: str) -> list[str]:
    """What stands between lines of three backticks; a fence that is not closed ends with it."""
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


def _parsed(text: str) -> Any:
    """The JSON value, also if commas stand before closing brackets; None if it is none."""
    for candidate in (text, _TRAILING.sub(lambda found: found[1] or "", text)):
        try:
            return json.loads(candidate, parse_constant=_no_number)
        except (ValueError, RecursionError):
            continue
    return None


def _amid_prose(text: str) -> Iterator[Any]:
    """Objects and lists that stand in prose; `[3]` is a citation there, no answer.

    Where JSON begins but cannot be read, as when it was cut short, its parts are no answers
    either: reading goes on at the next line that begins with a bracket.
    """
    decoder = json.JSONDecoder(parse_constant=_no_number)
    at, looked_for = 0, _OPENING
    for _ in range(MAX_STARTS):
        opening = looked_for.search(text, at)
        if not opening:
            return
        try:
            value, at = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            broken = _OF_JSON.match(text, opening.start())
            at, looked_for = opening.end(), _AT_LINE_START if broken else _OPENING
        else:
            looked_for = _OPENING
            if isinstance(value, dict) or any(isinstance(v, dict | list | str) for v in value):
                yield value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _answer(value: Any) -> AgentAnswer:
    _check_bounds(value)
    if isinstance(value, list) and len(value) == 1 and _has_predictions(value[0]):
        value = value[0]
    if _has_predictions(value) and value["preds"] and all(map(_holds_claims, value["preds"])):
        return AgentAnswer(
            claims=tuple(_claim(c) for prediction in value["preds"] for c in prediction["claims"])
        )
    if _has_predictions(value):
        return AgentAnswer(groups=tuple(_group(item) for item in value["preds"]))
    if isinstance(value, dict) and isinstance(value.get("claims"), list):
        value = value["claims"]
        if not value:
            return AgentAnswer(claims=())
    elif isinstance(value, dict):
        return AgentAnswer(groups=(_group(value),))
    if not isinstance(value, list):
        raise UnreadableAnswer("its JSON is neither a list nor an object")
    if any(isinstance(item, dict) for item in value) and all(_is_claim(item) for item in value):
        return AgentAnswer(claims=tuple(_claim(item) for item in value))
    if value and all(isinstance(item, list) for item in value):
        return AgentAnswer(groups=tuple(_group(item) for item in value))
    return AgentAnswer(groups=(_group(value),))


def _has_predictions(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("preds"), list)


def _holds_claims(item: Any) -> bool:
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


def _claim(item: Any) -> AnsweredClaim:
    """A claim as it stands; sub-claims may also be an object of names and values."""
    if not isinstance(item, dict):
        return AnsweredClaim(value=shown(item))
    below = item.get("sub_claims") or []
    if isinstance(below, dict):
        below = [{"name": name, "value": value} for name, value in below.items()]
    if not isinstance(below, list):
        raise UnreadableAnswer("a claim's sub_claims are neither a list nor an object")
    sources = item.get("sources") or []
    return AnsweredClaim(
        value=shown(item.get("value")),
        name=shown(item.get("name")),
        sub_claims=tuple(_claim(claim) for claim in below),
        sources=tuple(shown(s) for s in (sources if isinstance(sources, list) else [sources])),
    )


def _group(item: Any) -> Group:
    if isinstance(item, dict):
        return item
    if isinstance(item, list) and all(isinstance(row, dict | str | int | float) for row in item):
        return [row if isinstance(row, dict) else shown(row) for row in item]
    if isinstance(item, str | int | float):
        return [shown(item)]
    raise UnreadableAnswer("an item of the answer is neither an object nor a list of such or texts")


def _size(group: Group) -> int:
    if isinstance(group, dict):
        return len(group)
    return sum(len(row) if isinstance(row, dict) else 1 for row in group)


def _check_bounds(value: Any) -> None:
    """Refuse what is too deep, too many or too long, without recursion."""
    waiting: list[tuple[Any, int]] = [(value, 1)]
    n_values = 0
    while waiting:
        item, depth = waiting.pop()
        n_values += 1
        if n_values > MAX_VALUES:
            raise UnreadableAnswer(f"it holds more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH:
            raise UnreadableAnswer(f"its JSON is nested deeper than {MAX_DEPTH} brackets")
        if isinstance(item, dict | list):
            below = list(item.values()) if isinstance(item, dict) else item
            waiting += [(part, depth + 1) for part in below]
            if isinstance(item, dict) and any(len(key) > MAX_VALUE_CHARS for key in item):
                raise UnreadableAnswer(f"a name is longer than {MAX_VALUE_CHARS:,} characters")
        elif isinstance(item, str) and len(item) > MAX_VALUE_CHARS:
            raise UnreadableAnswer(f"a value is longer than {MAX_VALUE_CHARS:,} characters")

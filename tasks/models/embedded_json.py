"""JSON inside a model's answer: what stands around it is peeled off.

Around it stand words, fences, byte-order marks, and reasoning in the tags and channel marks of many
models (DeepSeek, Qwen, Seed, Mistral, Kimi, Cohere, gpt-oss, Gemma). Strings within JSON are never
searched for marks: an answer may quote them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_STARTS = 5_000
"""Brackets at which to try parsing JSON."""
_TAG = r"(?:\w+:)?(?:ant)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)"
_PARTED = "\0"
"""Between the parts around reasoning: no JSON goes on behind it."""
_OPENS = (
    rf"<{_TAG}(?:\s[^<>]*)?>|\[think\]|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>"
    r"|<\|channel\|?>\s*(?:analysis|commentary|thought)\b"
)
_CLOSES = (
    rf"</{_TAG}\s*>|\[/think\]|◁/think▷|<\|(?:end_of_thought|end_thinking)\|>"
    r"|<\|channel\|>\s*final\b|<channel\|>|assistantfinal(?=\W|json\b)"
)
_REASONING = re.compile(f"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})", re.I)
_MARK = re.compile(rf"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|[{{\[]", re.I)
_END = re.compile(_CLOSES, re.I)
_LEADING = re.compile(rf"\s*(?:{_OPENS})(.*?)(?:(?:{_CLOSES})\s*|\Z)", re.I | re.S)
_ENDS_LINE = re.compile(rf"(?<!`)(?:{_CLOSES})[ \t]*\n\s*", re.I)
OPENING = re.compile(r"[{\[]")
JSON_START = re.compile(r'\{\s*+["}]|\[\s*+["{\[]')
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*+"|[{}\[\]]', re.S)


class UnclosedReasoning(ValueError):
    """An answer's reasoning has no end: nobody can tell what is its result."""


def split_reasoning(text: str) -> tuple[str, str]:
    """Split the reasoning off the beginning of a text; return (reasoning, rest).

    It ends with the text if it is not closed. A closing tag at the end of a line ends reasoning
    that no tag opened.
    """
    if match := _LEADING.match(text):
        return match[1].strip(), text[match.end() :]
    end = _ENDS_LINE.search(text)
    if end is None or _REASONING.search(text, 0, end.start()):
        return "", text
    return text[: end.start()].strip(), text[end.end() :]


def drop_reasoning(text: str) -> str:
    """Return an answer without its reasoning. A closing tag that none opened ends reasoning too.

    Raises:
        UnclosedReasoning: it has no end.
    """
    if not _REASONING.search(text):
        return text
    kept: list[str] = []
    begun, at, inside, n_starts = 0, 0, False, 0
    while mark := (_END if inside else _MARK).search(text, at):
        at = mark.end()
        if inside or mark["closes"]:
            kept = kept if inside else []
            begun, inside = at, False
        elif mark["opens"]:
            kept.append(text[begun : mark.start()])
            inside = True
        elif (n_starts := n_starts + 1) <= MAX_STARTS:
            at = decode_at(text, mark.start())[1]
    if inside:
        raise UnclosedReasoning("its reasoning is not closed")
    kept.append(text[begun:])
    return _PARTED.join(part for part in kept if part.strip())


def find_only_object(text: str) -> str:
    """Return the source of the only JSON object in an answer; without one what may be meant as it,
    for a parser to say what is wrong.

    A part of broken JSON is no object. Lists without objects, such as `[3]`, are words.

    Raises:
        ValueError: there are several values, or the reasoning is not closed.
    """
    text = drop_reasoning(text)
    found = list(_iterate_values(text))
    if len(found) > 1:
        raise ValueError(f"expected one JSON object, found {len(found)} JSON values")
    return found[0] if found else text


def decode_at(text: str, start: int) -> tuple[Any, int]:
    """Decode the JSON value at `start`; return it and its end, or (None, the next character)."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1


def _iterate_values(text: str) -> Iterator[str]:
    """Yield the source of each object, and of each list that holds one."""
    at = 0
    for _ in range(MAX_STARTS):
        if not (opening := OPENING.search(text, at)):
            return
        start = opening.start()
        value, at = decode_at(text, start)
        inner = value if isinstance(value, list) else []
        if isinstance(value, dict) or any(isinstance(item, dict | list) for item in inner):
            yield text[start:at]
        elif value is None and JSON_START.match(text, start):
            at = _find_closing(text, start)


def _find_closing(text: str, start: int) -> int:
    """Return where the bracket at `start` is closed; the end of the text if it never is."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if not depth:
            return token.end()
    return len(text)


def reject_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=reject_constant)

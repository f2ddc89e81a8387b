"""Parts that the answers of several providers share, and typed values from their JSON.

A value of an unexpected type counts as missing, so that one odd field costs neither the report
nor the run.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from tasks.agents.agent import MAX_INTEGER, Annotation, ReportSource, UnreadableJobAnswer
from tasks.warehouse.traces import SearchStep

MAX_SOURCES = 10_000
"""The highest number of a source: with larger ones the list would be nearly empty."""
UNKNOWN_SOURCE = ReportSource(url="")
"""A placeholder for an unreadable entry, so that the numbers after it stay right."""

SearchAction = tuple[list[str], list[str], list[str]]
"""What an agent did at once: queries made, addresses that they found, addresses opened."""


def join_content(content: Any) -> str:
    """Return the text of a message: a string, or a list of parts, without those of reasoning."""
    if isinstance(content, list):
        parts = (part for part in objects(content) if part.get("type") != "reasoning")
        return "".join(string(part.get("text")) or "" for part in parts)
    return string(content) or ""


def parse_annotation(
    given: dict[str, Any], url: str, span: tuple[int, int] | None, offset: int
) -> Annotation:
    """Return a citation of a part of the text.

    span: where in the part, None if that is unknown or invalid. offset: where the part begins.
    """
    start, end = (span[0] + offset, span[1] + offset) if span else (None, None)
    return Annotation(start=start, end=end, url=url, title=string(given.get("title")))


def list_numbered(by_number: Mapping[int, ReportSource]) -> tuple[ReportSource, ...]:
    """Return the list whose n-th source is what `[n]` refers to."""
    last = max(by_number, default=0)
    return tuple(by_number.get(number, UNKNOWN_SOURCE) for number in range(1, last + 1))


def parse_sources(results: Any, citations: Any) -> tuple[ReportSource, ...]:
    """Return the list that `[n]` refers to, with a placeholder for each unreadable entry.

    results, citations: two lists of the same pages, as addresses or as objects; the longer counts.
    """
    results = results if isinstance(results, list) else []
    citations = citations if isinstance(citations, list) else []
    titles = {
        url: string(entry.get("title"))
        for entry in objects(results + citations)
        if (url := string(entry.get("url")))
    }
    listed = results if len(results) >= len(citations) else citations
    urls = [string(entry) or string(child(entry, "url")) for entry in listed]
    return tuple(
        ReportSource(url=url, title=titles.get(url)) if url else UNKNOWN_SOURCE for url in urls
    )


def list_urls(entries: Any) -> list[str]:
    """Return the addresses of a list of objects, such as search results."""
    return [url for entry in objects(entries) if (url := string(entry.get("url")))]


def build_trace(actions: Iterable[SearchAction]) -> tuple[SearchStep, ...]:
    """Return the trace of these actions. A page follows from the first search that found it, or
    from nothing if none is known to have; what several queries found together follows from the
    last of them."""
    steps: list[SearchStep] = []
    found_by: dict[str, int] = {}
    for queries, found, opened in actions:
        steps += [SearchStep(query=query) for query in queries]
        for url in found if queries else ():
            found_by.setdefault(url, len(steps) - 1)
        steps += [SearchStep(opened=(url,), parent=found_by.get(url)) for url in opened]
    return tuple(steps)


def parse_cost(cost: Any) -> float | None:
    """Return the reported cost, a number or an object; None if it is in another currency."""
    if child(cost, "currency") not in (None, "USD"):
        return None
    return amount(child(cost, "total_cost") if isinstance(cost, dict) else cost)


def subtract_reasoning(tokens: int | None, reasoning: int | None) -> int | None:
    """Return the tokens of the answer alone, where the provider counts its reasoning among them."""
    return None if tokens is None else max(0, tokens - (reasoning or 0))


def parse_object(raw: str, expected: str) -> dict[str, Any]:
    """Parse the JSON object that an ended job returned.

    expected: for the message, such as "a response of OpenAI's Responses API".

    Raises:
        UnreadableJobAnswer: it is not a JSON object.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableJobAnswer(f"expected {expected} as JSON, got {_quote_start(raw)}") from None
    if not isinstance(body, dict):
        raise UnreadableJobAnswer(f"expected {expected}: a JSON object, got {_quote_start(raw)}")
    return body


def unexpected_object(body: dict[str, Any], expected: str) -> UnreadableJobAnswer:
    """Return the error for an object without what `expected` says."""
    names = sorted(map(str, body))[:10]
    return UnreadableJobAnswer(f"expected {expected}, got an object with {names}")


def child(value: Any, *names: str) -> Any:
    """Return the value at the path `names` of nested objects; None where any is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """Return a non-empty string; None for anything else."""
    return value if isinstance(value, str) and value else None


def strings(value: Any) -> list[str]:
    """Return the non-empty strings in a list."""
    return [item for item in value if string(item)] if isinstance(value, list) else []


def count(value: Any) -> int | None:
    """Return an integer from 0 to MAX_INTEGER; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INTEGER:
        return None
    return value


def amount(value: Any) -> float | None:
    """Return a finite number from 0, such as an amount of money; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _quote_start(raw: str) -> str:
    return repr(raw[:80]) if raw else "nothing"

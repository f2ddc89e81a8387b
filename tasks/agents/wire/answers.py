"""Parts that the answers of several providers share."""

from collections.abc import Iterable, Mapping
from typing import Any

from tasks.agents.agent import Annotation, ReportSource
from tasks.agents.wire.json_values import amount, child, objects, string
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

"""The `output` list of a Responses API, as OpenAI made it and xAI and Perplexity took it over.

Places of citations are characters of one part of the text; here they become characters of the
whole. OpenAI marks its links with `utm_source=openai`: that is taken out of addresses, for it is
no part of the page cited; the text stays as it was written.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tasks.agents.agent import Annotation
from tasks.agents.json_values import child, count, objects, string, strings
from tasks.warehouse.traces import SearchStep

BETWEEN_MESSAGES = "\n\n"
_TRACKED = re.compile(r"([?&])utm_source=openai(&|(?=#|\Z))")


@dataclass(frozen=True)
class ResponsesOutput:
    """What an `output` list says."""

    text: str
    """Of all messages, as written; of those marked `final_answer` where any is."""
    annotations: tuple[Annotation, ...]
    trace: tuple[SearchStep, ...]
    n_reasoning_steps: int | None
    """Reasoning items; None where there is no list at all."""
    n_searches: int | None
    """Search actions that were completed, or of which nobody says otherwise; None as above."""
    refusal: str | None
    """The model's own words, where it refused."""


def read_output(output: Any) -> ResponsesOutput:
    """An `output` list; whatever is not of a known form in it is passed over."""
    items = objects(output)
    text, annotations, refusals = _messages(items)
    said = isinstance(output, list)
    return ResponsesOutput(
        text=text,
        annotations=annotations,
        trace=_trace(items),
        n_reasoning_steps=_how_many(items, _is_reasoning) if said else None,
        n_searches=_how_many(items, _is_done_search) if said else None,
        refusal="\n".join(refusals) or None,
    )


def problem_of(body: dict[str, Any], output: ResponsesOutput) -> str | None:
    """Why a response that has ended is no report, in words; None where it is one."""
    status = string(body.get("status")) or "no status"
    if status != "completed":
        error = body.get("error")
        words = [
            string(child(error, "code")) or string(child(error, "type")),
            string(child(error, "message")) or string(error),
            string(child(body, "incomplete_details", "reason")),
        ]
        return ": ".join([status, *filter(None, words)])
    if output.refusal:
        return f"refused: {output.refusal}"
    return None if output.text.strip() else "completed, but without a text"


def clean_url(url: str) -> str:
    """The address without OpenAI's mark."""
    return _TRACKED.sub(lambda found: found[1] if found[2] else "", url)


def place(start: Any, end: Any, length: int) -> tuple[int, int] | None:
    """A citation's span in a text of so many characters; None where it is none of it."""
    first, last = count(start), count(end)
    if first is None or last is None or not first <= last <= length:
        return None
    return first, last


def _messages(items: list[dict[str, Any]]) -> tuple[str, tuple[Annotation, ...], list[str]]:
    messages = [item for item in items if item.get("type") == "message"]
    final = [message for message in messages if message.get("phase") == "final_answer"]
    text, refusals = "", list[str]()
    annotations: list[Annotation] = []
    for message in final or messages:
        begun = bool(text)
        for part in objects(message.get("content")):
            if part.get("type") == "refusal":
                refusals.append(string(part.get("refusal")) or "refused without a word")
            elif written := string(part.get("text")):
                if begun:
                    text, begun = text + BETWEEN_MESSAGES, False
                annotations += _annotations(part, written, len(text))
                text += written
    return text, tuple(annotations), refusals


def _annotations(part: dict[str, Any], written: str, offset: int) -> list[Annotation]:
    """Those of one part that name an address; `offset`: characters of text before the part."""
    found = []
    for said in objects(part.get("annotations")):
        url = string(said.get("url"))
        if url is None:
            continue
        span = place(said.get("start_index"), said.get("end_index"), len(written))
        found.append(
            Annotation(
                start=span[0] + offset if span else None,
                end=span[1] + offset if span else None,
                url=clean_url(url),
                title=string(said.get("title")),
            )
        )
    return found


def _trace(items: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """Searches and opened pages in their order; a page follows from the search that found it,
    where the interface lists what each search found."""
    steps: list[SearchStep] = []
    found_by: dict[str, int] = {}
    opened: set[str] = set()
    for item in items:
        if item.get("type") != "web_search_call":
            continue
        action = item.get("action")
        if _is_search(item):
            queries = strings(child(action, "queries")) or strings([child(action, "query")])
            steps += [SearchStep(query=query) for query in queries]
            for source in objects(child(action, "sources")) if queries else ():
                if url := string(source.get("url")):
                    found_by.setdefault(clean_url(url), len(steps) - 1)
        elif url := string(child(action, "url")):
            address = clean_url(url)
            # Words are looked for in a page that was opened before: that opens nothing.
            if child(action, "type") == "open_page" or address not in opened:
                steps.append(SearchStep(opened=(address,), parent=found_by.get(address)))
                opened.add(address)
    return tuple(steps)


def _how_many(items: list[dict[str, Any]], which: Callable[[dict[str, Any]], bool]) -> int:
    return sum(which(item) for item in items)


def _is_reasoning(item: dict[str, Any]) -> bool:
    return item.get("type") == "reasoning"


def _is_search(item: dict[str, Any]) -> bool:
    """Whether it is a search rather than a page being opened or looked through."""
    return item.get("type") == "web_search_call" and child(item, "action", "type") == "search"


def _is_done_search(item: dict[str, Any]) -> bool:
    return _is_search(item) and item.get("status", "completed") == "completed"

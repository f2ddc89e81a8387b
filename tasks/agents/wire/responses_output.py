"""The `output` list of a Responses API, designed by OpenAI and adopted by xAI and Perplexity.

Citation offsets within one part are converted to offsets in the whole text. OpenAI adds
`utm_source=openai` to links; it is removed from addresses, but not from the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tasks.agents.agent import AgentUsage, Annotation, JobAnswer
from tasks.agents.wire.answers import (
    SearchAction,
    build_trace,
    child,
    count,
    list_urls,
    objects,
    parse_annotation,
    parse_object,
    string,
    strings,
    subtract_reasoning,
    unexpected_object,
)
from tasks.models.answer_metadata import count_cache_writes
from tasks.warehouse.traces import SearchStep

MESSAGE_SEPARATOR = "\n\n"
_TRACKING_PARAMETER = re.compile(r"([?&])utm_source=openai(&|(?=#|\Z))")


@dataclass(frozen=True)
class ResponsesOutput:
    """The contents of an `output` list."""

    text: str
    """The text of the messages marked `final_answer`, or of all if none is."""
    annotations: tuple[Annotation, ...]
    trace: tuple[SearchStep, ...]
    n_reasoning_steps: int | None
    """Reasoning items; None if there is no list."""
    n_searches: int | None
    """Search actions that are completed or have no status; None if there is no list."""
    refusal: str | None
    """The model's refusal, in its own words."""
    is_cut: bool = False
    """Whether a message with the text is marked `incomplete`."""


def parse_response(raw: str, name: str) -> tuple[dict[str, Any], ResponsesOutput]:
    """Parse a response that has ended.

    name: for messages, such as "a response of the Responses API".

    Raises:
        UnreadableJobAnswer: `raw` is not a response.
    """
    body = parse_object(raw, name)
    if "status" not in body and "output" not in body:
        raise unexpected_object(body, f"{name} with `status` and `output`")
    return body, parse_output(body.get("output"))


def parse_output(output: Any) -> ResponsesOutput:
    """Parse an `output` list, skipping items of an unknown form."""
    items = objects(output)
    messages = [item for item in items if item.get("type") == "message"]
    messages = [one for one in messages if one.get("phase") == "final_answer"] or messages
    text, annotations, refusals = _parse_messages(messages)
    has_list = isinstance(output, list)
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    searches = [i for i in items if _is_search(i) and i.get("status", "completed") == "completed"]
    return ResponsesOutput(
        text=text,
        annotations=annotations,
        trace=build_trace(_list_actions(items)),
        n_reasoning_steps=len(thoughts) if has_list else None,
        n_searches=len(searches) if has_list else None,
        refusal="\n".join(refusals) or None,
        is_cut=any(message.get("status") == "incomplete" for message in messages),
    )


def describe_problem(body: dict[str, Any], output: ResponsesOutput) -> str | None:
    """Describe why an ended response holds no report; None if it holds one."""
    status = string(body.get("status")) or "no status"
    reason = string(child(body, "incomplete_details", "reason"))
    if status != "completed":
        error = body.get("error")
        words = [
            string(child(error, "code")) or string(child(error, "type")),
            string(child(error, "message")) or string(error),
            reason,
        ]
        return ": ".join([status, *filter(None, words)])
    if reason or output.is_cut:
        return f"completed, but its text is incomplete{f': {reason}' if reason else ''}"
    if output.refusal:
        return f"refused: {output.refusal}"
    return None if output.text.strip() else "completed, but without text"


def build_answer(body: dict[str, Any], output: ResponsesOutput, **more: Any) -> JobAnswer:
    """Return the answer that an ended response is. more: what the interface says differently, or
    besides."""
    problem = describe_problem(body, output)
    has_ended = body.get("status") == "completed" and not output.is_cut
    answer: dict[str, Any] = {
        "outcome": "failed" if problem else "report",
        "silent": has_ended and (output.refusal is not None or not output.text.strip()),
        "text": output.text,
        "annotations": output.annotations,
        "trace": output.trace,
        "n_reasoning_steps": output.n_reasoning_steps,
        "model_version": string(body.get("model")),
        "error": problem,
    }
    return JobAnswer(**answer | more)


def parse_usage(usage: Any, searches: int | None) -> AgentUsage:
    """Return the usage that OpenAI and xAI report. searches: counted by the caller."""
    tokens = count(child(usage, "output_tokens"))
    reasoning = count(child(usage, "output_tokens_details", "reasoning_tokens"))
    return AgentUsage(
        input_tokens=count(child(usage, "input_tokens")),
        cached_tokens=count(child(usage, "input_tokens_details", "cached_tokens")),
        output_tokens=subtract_reasoning(tokens, reasoning),
        reasoning_tokens=reasoning,
        searches=searches,
        **count_cache_writes(usage),
    )


def clean_url(url: str) -> str:
    """Remove OpenAI's tracking parameter from an address."""
    return _TRACKING_PARAMETER.sub(lambda match: match[1] if match[2] else "", url)


def parse_span(start: Any, end: Any, length: int) -> tuple[int, int] | None:
    """Return a citation's span in a text of `length` characters; None if it is invalid."""
    first, last = count(start), count(end)
    if first is None or last is None or not first <= last <= length:
        return None
    return first, last


def _parse_messages(
    messages: list[dict[str, Any]],
) -> tuple[str, tuple[Annotation, ...], list[str]]:
    text, refusals = "", list[str]()
    annotations: list[Annotation] = []
    for message in messages:
        begun = bool(text)
        for part in objects(message.get("content")):
            if part.get("type") == "refusal":
                refusals.append(string(part.get("refusal")) or "refused without a reason")
            elif written := string(part.get("text")):
                if begun:
                    text, begun = text + MESSAGE_SEPARATOR, False
                annotations += _parse_annotations(part, written, len(text))
                text += written
    return text, tuple(annotations), refusals


def _parse_annotations(part: dict[str, Any], written: str, offset: int) -> list[Annotation]:
    """Return the citations of one part. offset: the length of the text before it."""
    return [
        parse_annotation(
            annotation,
            clean_url(url),
            parse_span(annotation.get("start_index"), annotation.get("end_index"), len(written)),
            offset,
        )
        for annotation in objects(part.get("annotations"))
        if (url := string(annotation.get("url")))
    ]


def _list_actions(items: list[dict[str, Any]]) -> Iterator[SearchAction]:
    """Yield the searches, with what each found if the interface says so, and the pages opened."""
    opened: set[str] = set()
    for item in items:
        if item.get("type") != "web_search_call":
            continue
        action = item.get("action")
        if _is_search(item):
            queries = strings(child(action, "queries")) or strings([child(action, "query")])
            yield queries, list(map(clean_url, list_urls(child(action, "sources")))), []
        elif url := string(child(action, "url")):
            address = clean_url(url)
            # Searching within a page that is already open does not open it again.
            if child(action, "type") == "open_page" or address not in opened:
                yield [], [], [address]
                opened.add(address)


def _is_search(item: dict[str, Any]) -> bool:
    """Whether an item is a search, rather than the opening of a page or a search within one."""
    return item.get("type") == "web_search_call" and child(item, "action", "type") == "search"

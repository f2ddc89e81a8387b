"""What an interaction of Gemini Deep Research brought.

Its report is what stands at its end: the last outputs in a row, with nothing but thoughts between
them. Citations count in bytes of UTF-8 within one part of the text; here they become characters
of the whole. Their addresses are Google's redirects, and the text may hold `[cite: 1, 2]` and a
list of sources of its own: left as they are.
"""

from collections.abc import Collection
from typing import Any, Literal

from tasks.agents.agent import AgentUsage, Annotation, Answer, UnreadableAnswer
from tasks.agents.json_values import child, count, objects, parsed_object, string, strings
from tasks.warehouse.traces import SearchStep

INSIDE = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))
"""Bytes that go on with a character begun before."""
Outcome = Literal["report", "question", "failed"]


def read(raw: str) -> Answer:
    """An interaction that has ended.

    Raises:
        UnreadableAnswer: it is none.
    """
    return read_interaction(parsed_object(raw, "an interaction of Gemini's Interactions API"))


def read_interaction(body: dict[str, Any]) -> Answer:
    """An interaction that has ended.

    Raises:
        UnreadableAnswer: it is none.
    """
    if "status" not in body and "steps" not in body:
        raise UnreadableAnswer(
            "expected an interaction of Gemini's Interactions API with `status` and `steps`, got "
            f"an object with {sorted(map(str, body))[:10]}"
        )
    steps = objects(body.get("steps"))
    text, annotations = _report(steps)
    outcome, problem = _outcome(body, text)
    return Answer(
        outcome=outcome,
        text=text,
        annotations=annotations,
        trace=_trace(steps),
        n_reasoning_steps=_thoughts(body.get("steps")),
        model_version=string(body.get("model")) or string(body.get("agent")),
        usage=_usage(body.get("usage")),
        error=problem,
    )


def characters(text: str, offsets: Collection[int]) -> dict[int, int]:
    """Offsets in bytes of UTF-8 as offsets in characters; without those that are no place between
    two characters of the text."""
    data = text.encode("utf-8", "surrogatepass")
    found: dict[int, int] = {}
    at = n_before = 0
    for offset in sorted(offsets):
        if not 0 <= offset <= len(data) or data[offset : offset + 1] in INSIDE:
            continue
        n_before += len(data[at:offset].decode("utf-8", "surrogatepass"))
        at = offset
        found[offset] = n_before
    return found


def _report(steps: list[dict[str, Any]]) -> tuple[str, tuple[Annotation, ...]]:
    text, annotations = "", list[Annotation]()
    for part in _last_parts(steps):
        written = string(part.get("text")) or ""
        annotations += _annotations(part, written, len(text))
        text += written
    return text, tuple(annotations)


def _last_parts(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The texts of the last outputs in a row, in their order."""
    found: list[list[dict[str, Any]]] = []
    for step in reversed(steps):
        kind = step.get("type")
        if kind == "model_output":
            found.append([p for p in objects(step.get("content")) if p.get("type") == "text"])
        elif kind == "user_input" or (kind != "thought" and any(found)):
            break
    return [part for parts in reversed(found) for part in parts]


def _annotations(part: dict[str, Any], written: str, offset: int) -> list[Annotation]:
    """Those of one part that name an address; `offset`: characters of text before the part."""
    said = [a for a in objects(part.get("annotations")) if string(a.get("url"))]
    indexes = [(count(a.get("start_index")), count(a.get("end_index"))) for a in said]
    places = characters(written, {i for both in indexes for i in both if i is not None})
    found = []
    for annotation, (first, last) in zip(said, indexes, strict=True):
        start = None if first is None else places.get(first)
        end = None if last is None else places.get(last)
        known = start is not None and end is not None and start <= end
        found.append(
            Annotation(
                start=start + offset if known and start is not None else None,
                end=end + offset if known and end is not None else None,
                url=annotation["url"],
                title=string(annotation.get("title")),
            )
        )
    return found


def _outcome(body: dict[str, Any], text: str) -> tuple[Outcome, str | None]:
    """What became of it, and why there is no report."""
    status = string(body.get("status")) or "no status"
    if status == "requires_action" and text.strip():
        return "question", None
    if status != "completed":
        words = [
            ": ".join(filter(None, [string(error.get("code")), string(error.get("message"))]))
            for error in [*objects(body.get("errors")), *objects([body.get("error")])]
        ]
        return "failed", ": ".join([status, *filter(None, ["; ".join(filter(None, words))])])
    return ("report", None) if text.strip() else ("failed", "completed, but without a text")


def _trace(steps: list[dict[str, Any]]) -> tuple[SearchStep, ...]:
    """Queries and opened pages in their order. Nobody says which page a search had found."""
    answered = {
        str(step.get("call_id")) for step in steps if step.get("type") == "url_context_result"
    }
    trace: list[SearchStep] = []
    for step in steps:
        kind = step.get("type")
        if kind == "google_search_call":
            trace += [SearchStep(query=q) for q in strings(child(step, "arguments", "queries"))]
        elif kind == "url_context_call" and str(step.get("id")) not in answered:
            trace += _opened(strings(child(step, "arguments", "urls")))
        elif kind == "url_context_result":
            results = objects(step.get("result"))
            trace += _opened(
                strings([r.get("url") for r in results if r.get("status", "success") == "success"])
            )
    return tuple(trace)


def _opened(urls: list[str]) -> list[SearchStep]:
    return [SearchStep(opened=tuple(urls))] if urls else []


def _thoughts(steps: Any) -> int | None:
    if not isinstance(steps, list):
        return None
    return len([step for step in objects(steps) if step.get("type") == "thought"])


def _usage(said: Any) -> AgentUsage:
    """Tokens that tools put into the prompt are input as well: they are billed as it."""
    asked = [count(child(said, "total_input_tokens")), count(child(said, "total_tool_use_tokens"))]
    searches = [
        count(of.get("count"))
        for of in objects(child(said, "grounding_tool_count"))
        if of.get("type") == "google_search"
    ]
    return AgentUsage(
        input_tokens=_sum(asked),
        cached_tokens=count(child(said, "total_cached_tokens")),
        output_tokens=count(child(said, "total_output_tokens")),
        reasoning_tokens=count(child(said, "total_thought_tokens")),
        searches=_sum(searches),
    )


def _sum(numbers: list[int | None]) -> int | None:
    """Of those that are known; None where none is."""
    known = [number for number in numbers if number is not None]
    return count(sum(known)) if known else None

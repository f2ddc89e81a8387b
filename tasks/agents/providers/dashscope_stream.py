"""The event stream of qwen-deep-research: collecting it and reading it.

Format (from the provider's documentation and recorded streams, 2025-2026): each event is
`{"output": {"message": {"phase", "status", "content", "extra"}}, "usage", "request_id"}`. Phases:
`answer` (the clarifying question, or the report), `ResearchPlanning`, `WebResearch`, `KeepAlive`.
`content` is a piece of text. `extra.deep_research` holds, also in pieces, one search
(`research: {id, query, researchGoal, webSites, learningMap}`) or the report's list of sources
(`references: [{index_number, title, url, description}]`).
"""

import json
from dataclasses import dataclass, field
from typing import Any

from httpx_sse import ServerSentEvent

from tasks.agents.agent import ReportSource
from tasks.agents.json_values import child, count, objects, string
from tasks.agents.providers.answers import MAX_SOURCES, list_numbered
from tasks.warehouse.traces import SearchStep

ANSWER = "answer"
IDLE_PHASES = frozenset({"KeepAlive", ""})
"""Phases without work; every other phase but `answer` is research."""


@dataclass
class StreamCollector:
    """A collector of events, up to 30,000, that merges those of the same phase and status."""

    pieces: list[dict[str, Any]] = field(default_factory=list)
    """`{"phase", "status", "content", "extra"}`, in order; `extra` is None if empty."""
    usage: Any = None
    request_id: Any = None
    error: Any = None
    """The content of an `error` event, which is the last event."""
    n_unreadable: int = 0

    def add(self, event: ServerSentEvent) -> bool:
        """Add an event; return whether it completes the answer."""
        try:
            content = json.loads(event.data)
        except (ValueError, RecursionError):
            self.n_unreadable += 1
            content = {"message": event.data[:1_000]} if event.event == "error" else None
        if event.event == "error" or (
            isinstance(content, dict) and content.get("code") and not content.get("output")
        ):
            self.error = content
            return True
        if not isinstance(content, dict):
            return False
        self.usage = content.get("usage") or self.usage
        self.request_id = content.get("request_id") or self.request_id
        return self._add_piece(child(content, "output", "message"))

    def to_json(self) -> dict[str, Any]:
        """Return everything collected, for the warehouse."""
        return {
            "stream": self.pieces,
            "usage": self.usage,
            "request_id": self.request_id,
            "error": self.error,
            "n_unreadable_events": self.n_unreadable,
        }

    def _add_piece(self, message: Any) -> bool:
        phase = string(child(message, "phase")) or ""
        status = string(child(message, "status")) or ""
        content = string(child(message, "content")) or ""
        extra = child(message, "extra", "deep_research") or None
        last = self.pieces[-1] if self.pieces else None
        if last and (last["phase"], last["status"]) == (phase, status) and not extra:
            last["content"] += content
        elif content or extra or not last or (last["phase"], last["status"]) != (phase, status):
            self.pieces.append(
                {"phase": phase, "status": status, "content": content, "extra": extra}
            )
        return phase == ANSWER and status == "finished"


@dataclass(frozen=True)
class StreamContent:
    """The content of a stream."""

    text: str
    researched: bool
    """Whether anything was planned or searched; if not, the text is a question."""
    trace: tuple[SearchStep, ...]
    sources: tuple[ReportSource, ...]


def read_stream(pieces: Any) -> StreamContent:
    """Read the pieces of a stream, skipping those of an unknown form."""
    answer: list[str] = []
    searches: dict[str, str] = {}
    references: dict[int, ReportSource] = {}
    researched = False
    for piece in objects(pieces):
        phase = string(piece.get("phase")) or ""
        if phase == ANSWER:
            answer.append(string(piece.get("content")) or "")
        elif phase not in IDLE_PHASES:
            researched = True
            answer.clear()  # text before the research does not belong to the report
        for research in _as_list(child(piece, "extra", "research")):
            name = str(count(research.get("id")) or 0)
            searches[name] = searches.get(name, "") + (string(research.get("query")) or "")
        _add_references(references, child(piece, "extra", "references"))
    return StreamContent(
        text="".join(answer),
        researched=researched,
        trace=tuple(SearchStep(query=query) for query in searches.values() if query.strip()),
        sources=list_numbered(references),
    )


def _as_list(value: Any) -> list[dict[str, Any]]:
    return [value] if isinstance(value, dict) else objects(value)


def _add_references(references: dict[int, ReportSource], entries: Any) -> None:
    """Add sources under their numbers; one without a number gets the next."""
    for reference in objects(entries):
        url = string(reference.get("url"))
        number = count(reference.get("index_number")) or max(references, default=0) + 1
        if url and number <= MAX_SOURCES:
            references[number] = ReportSource(url=url, title=string(reference.get("title")))

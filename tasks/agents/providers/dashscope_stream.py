"""The events of qwen-deep-research, gathered while they come, and read.

Forms (the provider's documentation, and streams others recorded, 2025-2026): each event is
`{"output": {"message": {"phase", "status", "content", "extra"}}, "usage", "request_id"}`. Phases:
`answer` (the clarifying question, or the report), `ResearchPlanning`, `WebResearch`, `KeepAlive`.
`content` is a piece of text. `extra.deep_research` holds, in pieces too, one search
(`research: {id, query, researchGoal, webSites, learningMap}`) or the report's list of sources
(`references: [{index_number, title, url, description}]`).
"""

import json
from dataclasses import dataclass, field
from typing import Any

from httpx_sse import ServerSentEvent

from tasks.agents.agent import Source
from tasks.agents.json_values import child, count, objects, string
from tasks.warehouse.traces import SearchStep

ANSWER = "answer"
IDLE = frozenset({"KeepAlive", ""})
"""Phases in which nothing is done; every other one but `answer` is research."""
MAX_SOURCES = 10_000
NO_SOURCE = Source(url="")
"""Holds the place of a number of which nothing is known."""


@dataclass
class Gathered:
    """What came: pieces of the same phase and status made one, so that 30,000 events are few."""

    pieces: list[dict[str, Any]] = field(default_factory=list)
    """`{"phase", "status", "content", "extra"}`, in order; `extra` where it says something."""
    usage: Any = None
    request_id: Any = None
    error: Any = None
    """What an event of the kind `error` said; it is the last."""
    n_unreadable: int = 0

    def take(self, event: ServerSentEvent) -> bool:
        """Keep an event; whether the answer is whole with it."""
        try:
            said = json.loads(event.data)
        except (ValueError, RecursionError):
            self.n_unreadable += 1
            said = {"message": event.data[:1_000]} if event.event == "error" else None
        if event.event == "error" or (
            isinstance(said, dict) and said.get("code") and not said.get("output")
        ):
            self.error = said
            return True
        if not isinstance(said, dict):
            return False
        self.usage = said.get("usage") or self.usage
        self.request_id = said.get("request_id") or self.request_id
        return self._piece(child(said, "output", "message"))

    def kept(self) -> dict[str, Any]:
        """All of it, for the warehouse."""
        return {
            "stream": self.pieces,
            "usage": self.usage,
            "request_id": self.request_id,
            "error": self.error,
            "n_unreadable_events": self.n_unreadable,
        }

    def _piece(self, message: Any) -> bool:
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
class Read:
    """What a stream says."""

    text: str
    researched: bool
    """Whether anything was planned or searched: without it the text is a question back."""
    trace: tuple[SearchStep, ...]
    sources: tuple[Source, ...]


def read_stream(pieces: Any) -> Read:
    """The pieces of a stream; whatever is not of a known form is passed over."""
    answer: list[str] = []
    searches: dict[str, str] = {}
    references: dict[int, Source] = {}
    researched = False
    for piece in objects(pieces):
        phase = string(piece.get("phase")) or ""
        if phase == ANSWER:
            answer.append(string(piece.get("content")) or "")
        elif phase not in IDLE:
            researched = True
            answer.clear()  # what was said before the research is no part of the report
        for research in _each(child(piece, "extra", "research")):
            name = str(count(research.get("id")) or 0)
            searches[name] = searches.get(name, "") + (string(research.get("query")) or "")
        _add(references, child(piece, "extra", "references"))
    return Read(
        text="".join(answer),
        researched=researched,
        trace=tuple(SearchStep(query=query) for query in searches.values() if query.strip()),
        sources=_in_order(references),
    )


def _each(said: Any) -> list[dict[str, Any]]:
    return [said] if isinstance(said, dict) else objects(said)


def _add(references: dict[int, Source], said: Any) -> None:
    """Sources by their numbers; one without a number takes the next."""
    for reference in objects(said):
        url = string(reference.get("url"))
        number = count(reference.get("index_number")) or max(references, default=0) + 1
        if url and number <= MAX_SOURCES:
            references[number] = Source(url=url, title=string(reference.get("title")))


def _in_order(references: dict[int, Source]) -> tuple[Source, ...]:
    """The n-th is what `[n]` refers to."""
    return tuple(references.get(n, NO_SOURCE) for n in range(1, max(references, default=0) + 1))

"""Rows of search traces: how agents searched."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from tasks.warehouse.rows import ForeignText, Row, content_sha


class SearchStep(BaseModel):
    """One step of a search."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    query: ForeignText = ""
    """The search query; empty if a page was only opened."""
    opened: tuple[ForeignText, ...] = ()
    """URLs of the opened pages."""
    refused: tuple[ForeignText, ...] = ()
    """URLs of pages that our sandbox did not give."""
    reason: ForeignText | None = None
    """Why not: `banned`, `later`, `not_archived`, …"""
    parent: int | None = None
    """Index of the earlier step that led to this one; null for a new start, or if unknown."""


TRACE = TypeAdapter(tuple[SearchStep, ...])
"""The type of `SearchTrace.trace`."""


TraceSource = Literal["imported", "agent", "sandbox"]


class SearchTrace(Row):
    """The searches behind one report."""

    table = "search_traces"
    key = ("edition", "agent", "assignment")

    edition: str
    agent: str
    assignment: str
    trace: str
    """JSON list of steps: `query`, `opened` (URLs), `refused` (URLs) with a `reason`, and `parent`
    (index of an earlier step)."""
    trace_sha: str
    """Sha-256 of the trace."""
    source: TraceSource
    """Where it is from: an imported file, the agent's own word, or our sandbox, which saw it."""


def make_search_trace(
    edition: str, agent: str, assignment: str, steps: Iterable[SearchStep], source: TraceSource
) -> SearchTrace:
    """Make the row of the searches behind a report."""
    trace = TRACE.dump_json(tuple(steps)).decode()
    return SearchTrace(
        edition=edition,
        agent=agent,
        assignment=assignment,
        trace=trace,
        trace_sha=content_sha(trace),
        source=source,
    )

"""How an agent searched, where it says so."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from tasks.warehouse.rows import ForeignText, Row


class SearchStep(BaseModel):
    """One step of a search."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    query: ForeignText = ""
    """What was typed into the search; empty where a page was only opened."""
    opened: tuple[ForeignText, ...] = ()
    """URLs of the pages opened."""
    parent: int | None = None
    """Index of the earlier step that it follows from; null where it begins anew, or nobody says."""


TRACE = TypeAdapter(tuple[SearchStep, ...])
"""How `SearchTrace.trace` is read and written."""


class SearchTrace(Row):
    """The search behind one report."""

    table: ClassVar[str] = "search_traces"
    key: ClassVar[tuple[str, ...]] = ("edition", "agent", "assignment")

    edition: str
    agent: str
    assignment: str
    trace: str
    """JSON of TRACE."""
    trace_sha: str
    """Sha-256 of the trace."""
    source: Literal["imported", "agent"]
    """Who says so: a file somebody gave, or the agent's own interface."""

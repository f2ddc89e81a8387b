"""Published research queries with their rubrics, as all their readers return them."""

from tasks.base import Frozen
from tasks.warehouse.rubrics import BundleSettings


class PublishedItem(Frozen):
    """One item of a published rubric."""

    item: str
    """The item's id, unique in its query and stable across imports."""
    dimension: str
    text: str
    allowed: tuple[str, ...]
    """The values that a judge may give, as text."""
    points: float
    """The maximum of points."""
    weight: float = 1.0
    explanation: str | None = None


class PublishedQuery(Frozen):
    """A query, independent of its published format."""

    key: str
    """The assignment's id, safe as a file name."""
    query: str
    agent_query: str | None = None
    """The query for agents, if the publisher adds rules to it."""
    items: tuple[PublishedItem, ...] = ()
    settings: BundleSettings = BundleSettings()
    points: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """Key points as (text, numbers of the points it was merged from). None: not published; empty:
    published as having none."""
    reference: str | None = None
    """The reference report, in Markdown."""

"""What the readers of published research queries have in common: a query, and its measure."""

from tasks.base import Frozen
from tasks.warehouse.rubrics import BundleSettings


class PublishedItem(Frozen):
    """One item of a published rubric."""

    item: str
    """Its id: unique in its query, the same at every reading."""
    dimension: str
    text: str
    allowed: tuple[str, ...]
    """The values it may be given, as a judge writes them."""
    points: float
    """The most it can be worth."""
    weight: float = 1.0
    explanation: str | None = None


class PublishedQuery(Frozen):
    """One query in the form of the warehouse, whatever it was published as."""

    key: str
    """The assignment's id: safe as a file's name."""
    query: str
    asked: str | None = None
    """What agents are told in its place, where the publisher adds rules to the query."""
    items: tuple[PublishedItem, ...] = ()
    settings: BundleSettings = BundleSettings()
    points: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """Key points as (text, numbers of those it was merged from). None: nobody has published any;
    empty: there are published to be none."""
    reference: str | None = None
    """A report that others are measured against, in Markdown."""

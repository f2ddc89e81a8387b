"""Published queries and questions with what reports on them are judged by, as all readers return
them."""

from tasks.base import Frozen
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.truths import QuestionCategory, TruthSettings


class PublishedSet(Frozen):
    """A published set of queries."""

    layout: str
    """The edition's source."""
    title: str
    protocol: str = ""
    """The protocol of its rubrics; empty if there are none."""


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


PublishedPoints = tuple[tuple[str, tuple[int, ...]], ...]
"""Key points as (text, numbers of the points it was merged from)."""


class PublishedTruth(Frozen):
    """The ground truth of a published question."""

    category: QuestionCategory
    settings: TruthSettings


class PublishedDocument(Frozen):
    """A page that people clicked when they searched for a query."""

    url: str
    """As published."""
    clicks: int | None = None


class PublishedQuery(Frozen):
    """A query, independent of its published format."""

    key: str
    """The assignment's id, safe as a file name."""
    query: str
    agent_query: str | None = None
    """The query for agents, if the publisher adds rules to it."""
    items: tuple[PublishedItem, ...] = ()
    settings: BundleSettings = BundleSettings()
    points: PublishedPoints | None = None
    """None: not published; empty: published as having none."""
    documents: tuple[PublishedDocument, ...] = ()
    """The pages that key points are made of if none are published."""
    reference: str | None = None
    """The reference report, in Markdown."""
    truth: PublishedTruth | None = None
    """The ground truth if it asks for claims; None if it asks for a report."""

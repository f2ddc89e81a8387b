"""Rows of annotation: the items of blinded sheets, and people's labels."""

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now


class AnnotationItem(Row):
    """One blinded item of a sheet that people label, with what it hides."""

    table = "annotation_items"
    key = ("sheet", "item_id")

    sheet: str
    """The sheet's name."""
    item_id: str
    """An opaque id, which reveals nothing about the item."""
    number: int
    """The place in the sheet, 1-based."""
    edition: str
    kind: str
    """One of `tasks.annotation.kinds.KINDS`."""
    protocol: str
    step: str
    agent: str
    """The agent whose report is judged; empty if two agents' reports are compared."""
    assignment: str
    item: str
    """The item of the verdict to compare with; for two reports, both agents' ids."""
    left_side: str
    """What is shown first: `reference`, `report`, or an agent; empty if there are no sides."""
    right_side: str
    """What is shown second; empty if there are no sides."""
    asked: str
    """The question on the sheet."""
    content_sha: str
    """Sha-256 of the texts it is about; a label counts for a verdict only while they are equal."""
    seed: int
    made_at: UtcDatetime = Field(default_factory=utc_now)


class HumanLabel(Row):
    """One person's label of one item, unblinded."""

    table = "human_labels"
    key = ("sheet", "item_id", "annotator")

    sheet: str
    """The sheet's name."""
    item_id: str
    """The item's id on the sheet."""
    annotator: str
    """The person, as named on the sheet."""
    label: str
    """The label, as judges' verdicts have it; for kind `reports` the preferred agent."""
    reason: str | None = None
    imported_at: UtcDatetime = Field(default_factory=utc_now)

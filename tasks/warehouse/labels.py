"""The rows of what people labelled: blinded sheets, and the labels that came back."""

from typing import ClassVar

from pydantic import Field

from tasks.warehouse.rows import Row, UtcDatetime, utc_now


class AnnotationItem(Row):
    """One blinded question of a sheet that people label, and what it hides."""

    table: ClassVar[str] = "annotation_items"
    key: ClassVar[tuple[str, ...]] = ("sheet", "item_id")

    sheet: str
    """The sheet's name."""
    item_id: str
    """Opaque: says nothing about what stands behind it."""
    number: int
    """Its place in the sheet, 1-based."""
    edition: str
    kind: str
    """One of `tasks.annotation.kinds.KINDS`."""
    protocol: str
    step: str
    agent: str
    """Whose verdict it is compared with; empty where two agents' reports are."""
    assignment: str
    item: str
    """The verdict's item it is compared with; of two reports, both agents' ids."""
    left_side: str
    """What is shown first: `reference`, `report`, or an agent; empty where there are no sides."""
    right_side: str
    """What is shown second; empty where there are no sides."""
    asked: str
    """The question as it stands on the sheet."""
    content_sha: str
    """Of the texts the question is about, as the warehouse held them: a label speaks for a
    verdict only while they are the same."""
    seed: int
    made_at: UtcDatetime = Field(default_factory=utc_now)


class HumanLabel(Row):
    """What one person said about one item of a sheet, un-blinded."""

    table: ClassVar[str] = "human_labels"
    key: ClassVar[tuple[str, ...]] = ("sheet", "item_id", "annotator")

    sheet: str
    """The sheet's name."""
    item_id: str
    """The item's name on the sheet."""
    annotator: str
    """Who, as the sheet says."""
    label: str
    """In the words of the judges' verdicts; for kind `reports` the agent preferred."""
    reason: str | None = None
    imported_at: UtcDatetime = Field(default_factory=utc_now)

"""What people said, wherever it comes from, in the words and keys of the judges' verdicts."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.filled import check_none
from tasks.annotation.kinds import verdict_labels
from tasks.annotation.sheets import MAJORITY, outdated
from tasks.annotation.table import Record, read_table, restored
from tasks.warehouse.labels import AnnotationItem
from tasks.warehouse.store import Readable

Item = tuple[str, str, str, str, str]
"""protocol, step, agent, assignment, item: what verdicts of several judges share."""
Labels = dict[Item, str]
FILE_COLUMNS = ("assignment", "agent", "protocol", "step", "item", "label")
NO_NAME = "people"
"""Who labelled, where a file does not say."""

STORED = """
SELECT i.*, l.annotator, l.label
FROM human_labels AS l JOIN annotation_items AS i USING (sheet, item_id)
WHERE i.edition = $1
ORDER BY l.imported_at, i.sheet, i.number, l.annotator
"""


@dataclass(frozen=True)
class Preference:
    """One person's choice between two agents' reports."""

    place: tuple[str, str]
    """Sheet and item id."""
    annotator: str
    assignment: str
    first: str
    second: str
    preferred: str


@dataclass(frozen=True)
class People:
    """Who said what: about verdicts' items, and between reports."""

    labels: dict[str, Labels]
    """By annotator."""
    preferences: tuple[Preference, ...] = ()
    n_outdated: int = 0
    """Labels left out because the texts they are about have changed."""


def stored_labels(source: Readable, edition: str) -> People:
    """What was imported for an edition; of one person's two answers to a question, the later."""
    rows = [
        (row.pop("annotator"), row.pop("label"), AnnotationItem.model_validate(row))
        for row in source.frame(STORED, [edition]).iter_rows(named=True)
    ]
    gone = outdated(source, [item for _, _, item in rows])
    labels: dict[str, Labels] = defaultdict(dict)
    preferences = []
    n_outdated = 0
    for annotator, label, item in rows:
        place = (item.sheet, item.item_id)
        if place in gone:
            n_outdated += 1
        elif item.agent:
            key = (item.protocol, item.step, item.agent, item.assignment, item.item)
            labels[annotator][key] = label
        else:
            sides = (item.left_side, item.right_side)
            preferences.append(Preference(place, annotator, item.assignment, *sides, label))
    return People(dict(labels), tuple(preferences), n_outdated)


def labels_of_file(path: Path) -> People:
    """Other people's labels: a CSV with FILE_COLUMNS and, where there are several, `annotator`.

    Rows without a label are passed over.

    Raises:
        AnnotationError: naming file, row, column and what was expected.
    """
    labels: dict[str, Labels] = defaultdict(dict)
    problems: list[str] = []
    for record in read_table(path, FILE_COLUMNS):
        cells = {name: restored(cell).strip() for name, cell in record.cells.items()}
        if not cells["label"]:
            continue
        key: Item = (
            cells["protocol"],
            cells["step"],
            cells["agent"],
            cells["assignment"],
            cells["item"],
        )
        given = labels[cells.get("annotator") or NO_NAME]
        problems += _problems(record, cells, given.get(key))
        given[key] = cells["label"]
    check_none(path, problems)
    return People(dict(labels))


def _problems(record: Record, cells: dict[str, str], before: str | None) -> Iterator[str]:
    allowed = verdict_labels(cells["protocol"], cells["step"])
    if allowed and cells["label"] not in allowed:
        yield (
            f"row {record.row}, column label: expected {', '.join(allowed)}, found "
            f"“{cells['label']}”"
        )
    if before is not None and before != cells["label"]:
        yield (
            f"row {record.row}, column label: a row above says “{before}” of the same item; "
            "expected one label for each item and annotator"
        )
    if cells.get("annotator", "").casefold() == MAJORITY:
        yield f"row {record.row}, column annotator: “{MAJORITY}” is what the tables call them all"

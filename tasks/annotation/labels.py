"""People's labels from the warehouse or a file, with the labels and keys of judges' verdicts."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.kinds import find_verdict_labels
from tasks.annotation.sheets import MAJORITY, find_outdated
from tasks.annotation.table import SheetRow, raise_problems, read_table
from tasks.spreadsheets import unescape_formula
from tasks.warehouse.labels import AnnotationItem
from tasks.warehouse.store import Readable

Item = tuple[str, str, str, str, str]
"""protocol, step, agent, assignment, item: the key of a verdict without its judge."""
Labels = dict[Item, str]
FILE_COLUMNS = ("assignment", "agent", "protocol", "step", "item", "label")
DEFAULT_ANNOTATOR = "people"
"""The annotator of a file that names none."""

STORED = """
SELECT i.*, l.annotator, l.label
FROM human_labels AS l JOIN annotation_items AS i USING (sheet, item_id)
WHERE i.edition = $1
ORDER BY l.imported_at, i.sheet, i.number, l.annotator
"""


@dataclass(frozen=True)
class Preference:
    """A person's choice between two agents' reports."""

    question: tuple[str, str]
    """Sheet and item id."""
    annotator: str
    assignment: str
    first: str
    second: str
    preferred: str


@dataclass(frozen=True)
class PeopleLabels:
    """People's labels on verdicts' items, and their preferences between reports."""

    labels: dict[str, Labels]
    """Annotator → labels."""
    preferences: tuple[Preference, ...] = ()
    n_outdated: int = 0
    """Labels left out because their texts have changed."""


def load_labels(source: Readable, edition: str) -> PeopleLabels:
    """Load an edition's imported labels; of several answers by one person, the latest."""
    rows = [
        (row.pop("annotator"), row.pop("label"), AnnotationItem.model_validate(row))
        for row in source.frame(STORED, [edition]).iter_rows(named=True)
    ]
    gone = find_outdated(source, [item for _, _, item in rows])
    labels: dict[str, Labels] = defaultdict(dict)
    preferences = []
    n_outdated = 0
    for annotator, label, item in rows:
        question = (item.sheet, item.item_id)
        if question in gone:
            n_outdated += 1
        elif item.agent:
            key = (item.protocol, item.step, item.agent, item.assignment, item.item)
            labels[annotator][key] = label
        else:
            sides = (item.left_side, item.right_side)
            preferences.append(Preference(question, annotator, item.assignment, *sides, label))
    return PeopleLabels(dict(labels), tuple(preferences), n_outdated)


def read_label_file(path: Path) -> PeopleLabels:
    """Read labels made elsewhere: a CSV with FILE_COLUMNS and an optional `annotator` column.

    Rows without a label are skipped.

    Raises:
        AnnotationError: the file has problems; the message names row, column and what was expected.
    """
    labels: dict[str, Labels] = defaultdict(dict)
    problems: list[str] = []
    for record in read_table(path, FILE_COLUMNS):
        cells = {name: unescape_formula(cell).strip() for name, cell in record.cells.items()}
        if not cells["label"]:
            continue
        key: Item = (
            cells["protocol"],
            cells["step"],
            cells["agent"],
            cells["assignment"],
            cells["item"],
        )
        given = labels[cells.get("annotator") or DEFAULT_ANNOTATOR]
        problems += _find_problems(record, cells, given.get(key))
        given[key] = cells["label"]
    raise_problems(path, problems)
    return PeopleLabels(dict(labels))


def _find_problems(record: SheetRow, cells: dict[str, str], before: str | None) -> Iterator[str]:
    allowed = find_verdict_labels(cells["protocol"], cells["step"])
    if allowed and cells["label"] not in allowed:
        yield (
            f"row {record.row}, column label: expected {', '.join(allowed)}, found "
            f"“{cells['label']}”"
        )
    if before is not None and before != cells["label"]:
        yield (
            f"row {record.row}, column label: a row above has “{before}” for the same item; "
            "expected one label per item and annotator"
        )
    if cells.get("annotator", "").casefold() == MAJORITY:
        yield f"row {record.row}, column annotator: “{MAJORITY}” is reserved"

"""A sheet that came back: checked row by row, un-blinded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.errors import AnnotationError
from tasks.annotation.sheet import FIRST, SECOND
from tasks.annotation.table import Record, restored
from tasks.warehouse.labels import AnnotationItem

SHOWN_PROBLEMS = 10
SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class Answered:
    """What a person said about one item, un-blinded."""

    item: AnnotationItem
    label: str
    """In the words of the verdicts; of two reports, the agent preferred."""
    reason: str | None


def answers(
    path: Path,
    records: Sequence[Record],
    items: Mapping[str, AnnotationItem],
    allowed: Sequence[str],
) -> list[Answered]:
    """The labels of a filled sheet, un-blinded; rows without a label are passed over.

    Args:
        items: those of the sheet the file belongs to, by id.
        allowed: the sheet's labels.

    Raises:
        AnnotationError: listing every problem by row and column; then nothing counts.
    """
    given: dict[str, Answered] = {}
    rows: dict[str, int] = {}
    problems: list[str] = []
    for record in records:
        item = items.get(record.cells["item_id"].strip())
        found = list(_problems(record, item, items, allowed))
        problems += found
        label = _label(record)
        if found or item is None or not label:
            continue
        said = Answered(item, unblinded(item, label), restored(record.cells["reason"]) or None)
        before = given.setdefault(item.item_id, said)
        first_row = rows.setdefault(item.item_id, record.row)
        if before.label != said.label:
            problems.append(
                f"row {record.row}, column label: {item.item_id} is answered in row {first_row} "
                "already, and differently; keep one of the two"
            )
    check_none(path, problems)
    return list(given.values())


def unblinded(item: AnnotationItem, label: str) -> str:
    """What stands behind `first` and `second`; other labels are what they are."""
    return {FIRST: item.left_side, SECOND: item.right_side}.get(label) or label


def check_none(path: Path, problems: Sequence[str]) -> None:
    """Raise AnnotationError with the first few problems and how many there are, if any."""
    if not problems:
        return
    lines = [f"{path}: {problem}." for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"... and {len(problems) - SHOWN_PROBLEMS} more.")
    raise AnnotationError("\n".join([*lines, "Nothing of this file counts until it is mended."]))


def _label(record: Record) -> str:
    return restored(record.cells["label"]).strip().casefold()


def _problems(
    record: Record,
    item: AnnotationItem | None,
    items: Mapping[str, AnnotationItem],
    allowed: Sequence[str],
) -> Iterator[str]:
    cells = record.cells
    if item is None:
        sheet = next(iter(items.values())).sheet
        yield (
            f"row {record.row}, column item_id: {_short(cells['item_id'])} is no item of the "
            f"sheet {sheet}, to which the other rows belong"
        )
        return
    if cells["number"].strip() != str(item.number):
        yield (
            f"row {record.row}, column number: expected {item.number} beside {item.item_id}, "
            f"found {_short(cells['number'])}; have the rows been mixed up?"
        )
    if restored(cells["asked"]).split() != item.asked.split():
        yield (
            f"row {record.row}, column asked: expected {_short(item.asked)}, found "
            f"{_short(cells['asked'])}; the question has been changed"
        )
    label = _label(record)
    if label and label not in allowed:
        yield (
            f"row {record.row}, column label: expected {', '.join(allowed)} or nothing, found "
            f"{_short(cells['label'])}"
        )


def _short(text: str) -> str:
    cut = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return f"“{cut}”"

"""The answers on a filled-in sheet: checked row by row and unblinded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.errors import AnnotationError
from tasks.annotation.sheet import FIRST, SECOND
from tasks.annotation.table import SheetRow
from tasks.spreadsheets import unescape_formula
from tasks.warehouse.labels import AnnotationItem

SHOWN_PROBLEMS = 10
SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class FilledAnswer:
    """A person's answer on one item, unblinded."""

    item: AnnotationItem
    label: str
    """The verdicts' label; between two reports, the preferred agent."""
    reason: str | None


def parse_answers(
    path: Path,
    records: Sequence[SheetRow],
    items: Mapping[str, AnnotationItem],
    allowed: Sequence[str],
) -> list[FilledAnswer]:
    """Return the unblinded answers of a filled-in sheet; rows without a label are skipped.

    Args:
        items: the items of the file's sheet, by id.
        allowed: the sheet's labels.

    Raises:
        AnnotationError: the file has problems; the message lists them by row and column.
    """
    given: dict[str, FilledAnswer] = {}
    rows: dict[str, int] = {}
    problems: list[str] = []
    for record in records:
        item = items.get(record.cells["item_id"].strip())
        found = list(_find_problems(record, item, items, allowed))
        problems += found
        label = _parse_label(record)
        if found or item is None or not label:
            continue
        answer = FilledAnswer(
            item, unblind(item, label), unescape_formula(record.cells["reason"]) or None
        )
        before = given.setdefault(item.item_id, answer)
        first_row = rows.setdefault(item.item_id, record.row)
        if before.label != answer.label:
            problems.append(
                f"row {record.row}, column label: {item.item_id} has another answer in row "
                f"{first_row}; keep one of the two"
            )
    raise_problems(path, problems)
    return list(given.values())


def unblind(item: AnnotationItem, label: str) -> str:
    """Return the side behind `first` or `second`; other labels are unchanged."""
    return {FIRST: item.left_side, SECOND: item.right_side}.get(label) or label


def raise_problems(path: Path, problems: Sequence[str]) -> None:
    """Raise AnnotationError if there are problems, with the first few and their number."""
    if not problems:
        return
    lines = [f"{path}: {problem}." for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"... and {len(problems) - SHOWN_PROBLEMS} more.")
    raise AnnotationError("\n".join([*lines, "Nothing was imported: correct the file first."]))


def _parse_label(record: SheetRow) -> str:
    return unescape_formula(record.cells["label"]).strip().casefold()


def _find_problems(
    record: SheetRow,
    item: AnnotationItem | None,
    items: Mapping[str, AnnotationItem],
    allowed: Sequence[str],
) -> Iterator[str]:
    cells = record.cells
    if item is None:
        sheet = next(iter(items.values())).sheet
        yield (
            f"row {record.row}, column item_id: {_quote(cells['item_id'])} is not an item of the "
            f"sheet {sheet}, to which the other rows belong"
        )
        return
    if cells["number"].strip() != str(item.number):
        yield (
            f"row {record.row}, column number: expected {item.number} beside {item.item_id}, "
            f"found {_quote(cells['number'])}; were rows mixed up?"
        )
    if unescape_formula(cells["asked"]).split() != item.asked.split():
        yield (
            f"row {record.row}, column asked: expected {_quote(item.asked)}, found "
            f"{_quote(cells['asked'])}; the question was changed"
        )
    label = _parse_label(record)
    if label and label not in allowed:
        yield (
            f"row {record.row}, column label: expected {', '.join(allowed)} or nothing, found "
            f"{_quote(cells['label'])}"
        )


def _quote(text: str) -> str:
    cut = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return f"“{cut}”"

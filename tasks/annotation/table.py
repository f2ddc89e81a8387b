"""The rows that a page downloads as CSV, and reading them: the answers are checked row by row and
unblinded."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.sheet import FIRST, SECOND, Panel, Sheet
from tasks.errors import ExpectedError
from tasks.files.opening import open_file
from tasks.spreadsheets import escape_formula, unescape_formula
from tasks.warehouse.labels import AnnotationItem

COLUMNS = ("number", "item_id", "asked", "shown", "allowed", "label", "reason")
NEEDED = ("number", "item_id", "asked", "label", "reason")
"""The columns that an import needs; the others may be missing."""
MAX_CELL_CHARACTERS = 10_000_000
"""Limit for one cell; Python's default is shorter than a long article."""
SHOWN_PROBLEMS = 10
SHOWN_CHARACTERS = 60


class AnnotationError(ExpectedError):
    """An invalid sheet; the message names file, row, column, what was expected and what to do."""


@dataclass(frozen=True)
class SheetRow:
    """One row of a CSV file."""

    row: int
    """Row number as in a spreadsheet: the header is row 1."""
    cells: dict[str, str]


def make_rows(sheet: Sheet) -> list[list[str]]:
    """Return the sheet's rows without header, escaped, with empty labels and reasons."""
    return [
        [
            str(item.number),
            item.item_id,
            escape_formula(item.asked),
            escape_formula(_join_texts(sheet, panel)),
            " | ".join(sheet.form.labels),
            "",
            "",
        ]
        for panel in sheet.panels
        for item in panel.items
    ]


def read_table(path: Path, needed: Sequence[str]) -> list[SheetRow]:
    """Read the rows of a CSV with at least the `needed` columns, separated by `,`, `;` or tab.

    Raises:
        AnnotationError: unreadable, not UTF-8, not a CSV, or a column is missing.
    """
    try:
        with open_file(path, within=None) as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise AnnotationError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError:
        raise AnnotationError(f"{path}: not UTF-8; save it as “CSV UTF-8”.") from None
    head = text.partition("\n")[0]
    delimiter = next((mark for mark in ",;\t" if mark in head), ",")
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        header, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) or [[]]
    except csv.Error as error:
        raise AnnotationError(f"{path}: not a CSV ({error}).") from None
    names = [name.strip().lower() for name in header]
    missing = [name for name in needed if name not in names]
    if missing:
        raise AnnotationError(
            f"{path}, row 1: column {', '.join(missing)} is missing; expected the columns "
            f"{', '.join(needed)}, found {', '.join(names) or 'nothing'}."
        )
    return [
        SheetRow(number, dict(zip(names, [*cells, *[""] * len(names)], strict=False)))
        for number, cells in enumerate(rows, start=2)
        if any(cell.strip() for cell in cells)
    ]


def _join_texts(sheet: Sheet, panel: Panel) -> str:
    if not sheet.form.texts_in_csv:
        return f"see part {panel.number} on the page {sheet.name}.html"
    parts = (filter(None, (text.heading, text.text, text.note)) for text in panel.texts)
    return "\n\n".join(map("\n".join, parts))


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
        reason = unescape_formula(record.cells["reason"]) or None
        answer = FilledAnswer(item, unblind(item, label), reason)
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

"""Writing and reading sheets as CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.errors import AnnotationError
from tasks.annotation.sheet import Panel, Sheet
from tasks.files.opening import open_file
from tasks.spreadsheets import escape_formula

COLUMNS = ("number", "item_id", "asked", "shown", "allowed", "label", "reason")
NEEDED = ("number", "item_id", "asked", "label", "reason")
"""The columns that an import needs; the others may be missing."""
MAX_CELL_CHARACTERS = 10_000_000
"""Limit for one cell; Python's default is shorter than a long article."""


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


def render_csv(rows: Sequence[Sequence[str]]) -> str:
    """Render header and rows with every cell quoted and CRLF, like the page's download."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return out.getvalue()


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
    return "\n\n".join(
        "\n".join(filter(None, (text.heading, text.text, text.note))) for text in panel.texts
    )

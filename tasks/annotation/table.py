"""The sheet as a CSV, out and in.

A cell that a spreadsheet would run as a formula gets an apostrophe in front and loses it at
the import. Source of the dangerous beginnings: OWASP, CSV Injection.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.errors import AnnotationError
from tasks.annotation.sheet import Panel, Sheet

COLUMNS = ("number", "item_id", "asked", "shown", "allowed", "label", "reason")
NEEDED = ("number", "item_id", "asked", "label", "reason")
"""What an import looks at; the others may be missing."""
MOST_CHARACTERS = 10_000_000
"""In one cell; Python's own limit is below a long article."""
_DANGEROUS = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


@dataclass(frozen=True)
class Record:
    """One row of a CSV that came back."""

    row: int
    """As a spreadsheet counts: the header is row 1."""
    cells: dict[str, str]


def inert(text: str) -> str:
    """The text as a cell no spreadsheet takes for a formula; `restored` undoes it."""
    return f"'{text}" if _DANGEROUS.match(text) else text


def restored(cell: str) -> str:
    """What `inert` was given."""
    return cell[1:] if cell.startswith("'") and _DANGEROUS.match(cell) else cell


def rows_of(sheet: Sheet) -> list[list[str]]:
    """The sheet's cells below the header, inert, with label and reason left empty."""
    return [
        [
            str(item.number),
            item.item_id,
            inert(item.asked),
            inert(_shown(sheet, panel)),
            " | ".join(sheet.form.labels),
            "",
            "",
        ]
        for panel in sheet.panels
        for item in panel.items
    ]


def csv_of(rows: Sequence[Sequence[str]]) -> str:
    """Header and rows: every cell quoted, CRLF, as the page's own download writes it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return out.getvalue()


def read_table(path: Path, needed: Sequence[str]) -> list[Record]:
    """The rows of a CSV with at least the `needed` columns; `,`, `;` and tab separate.

    Raises:
        AnnotationError: unreadable, not UTF-8, not a CSV, or a column is missing.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except OSError as error:
        raise AnnotationError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError:
        raise AnnotationError(f"{path}: not UTF-8; save it as “CSV UTF-8”.") from None
    head = text.partition("\n")[0]
    delimiter = next((mark for mark in ",;\t" if mark in head), ",")
    csv.field_size_limit(MOST_CHARACTERS)
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
        Record(number, dict(zip(names, [*cells, *[""] * len(names)], strict=False)))
        for number, cells in enumerate(rows, start=2)
        if any(cell.strip() for cell in cells)
    ]


def _shown(sheet: Sheet, panel: Panel) -> str:
    if not sheet.form.texts_in_csv:
        return f"the texts of part {panel.number} on the page {sheet.name}.html"
    return "\n\n".join(
        "\n".join(filter(None, (text.heading, text.text, text.note))) for text in panel.texts
    )

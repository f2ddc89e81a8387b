"""Small sheets for the tests, and people who fill them in."""

from collections.abc import Mapping
from pathlib import Path

from tasks.annotation.sheet import (
    Sheet,
    SheetDecision,
    SheetForm,
    SheetSubject,
    SheetText,
    SubjectTexts,
    make_sheet,
)
from tasks.annotation.table import (
    COLUMNS,
    NEEDED,
    FilledAnswer,
    make_rows,
    parse_answers,
    read_table,
)
from tasks.spreadsheets import escape_formula
from tests.tasks.annotated import render_csv

FORM = SheetForm(
    kind="criteria",
    protocol="wiki_writing",
    title="Which is better?",
    instructions="Read both.",
    labels={"first": "the first", "second": "the second", "tie": "neither"},
    texts_in_csv=False,
)


def subject(agent: str, assignment: str, *criteria: str, text: str = "the report") -> SheetSubject:
    """A reference article beside an agent's report."""
    decisions = tuple(SheetDecision("style", f"c{n}", asked) for n, asked in enumerate(criteria))
    return SheetSubject(
        assignment=assignment,
        agent=agent,
        decisions=decisions,
        texts_sha=f"sha of {text}",
        load_texts=lambda: SubjectTexts(
            (SheetText("", "the article"), SheetText("", text)), criteria
        ),
        sides=("reference", "report"),
    )


def sheet_of(*subjects: SheetSubject, size: int = 100, seed: int = 0) -> Sheet:
    return make_sheet(FORM, "e", subjects, size, seed)


def filled(
    sheet: Sheet, path: Path, said: Mapping[str, tuple[str, str]], columns: Mapping[str, str] = {}
) -> Path:
    """The sheet's CSV with label and reason by item id; `columns` overwrites whole columns."""
    rows = []
    for row in make_rows(sheet):
        cells = dict(zip(COLUMNS, row, strict=True))
        label, reason = said.get(cells["item_id"], ("", ""))
        rows.append(
            list(({**cells, "label": label, "reason": escape_formula(reason), **columns}).values())
        )
    path.write_text("\ufeff" + render_csv(rows), "utf-8", newline="")
    return path


def read_back(sheet: Sheet, path: Path) -> list[FilledAnswer]:
    items = {item.item_id: item for item in sheet.items}
    return parse_answers(path, read_table(path, NEEDED), items, list(sheet.form.labels))

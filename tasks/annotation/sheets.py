"""Sheets out of the warehouse, and what people answered back into it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.annotation.errors import AnnotationError
from tasks.annotation.filled import Answered, answers, check_none
from tasks.annotation.kinds import KINDS
from tasks.annotation.page import page_of
from tasks.annotation.sheet import Sheet, Subject, make_sheet
from tasks.annotation.table import NEEDED, Record, csv_of, read_table, rows_of
from tasks.editions.names import UnknownName, known_editions
from tasks.warehouse.labels import AnnotationItem, HumanLabel
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.writer import Change

MAJORITY = "majority"
"""What the tables call the people's common answer: no annotator can have this name."""
BYTE_ORDER_MARK = "\ufeff"
"""Without it spreadsheets read UTF-8 as something else."""


@dataclass(frozen=True)
class ImportedLabels:
    """What an import found, and how much of it was new."""

    sheet: str
    items: int
    """Of the sheet."""
    labelled: int
    new: int
    changed: int

    @property
    def open(self) -> int:
        """Items of the sheet without a label in the file."""
        return self.items - self.labelled


def make_annotation_sheet(
    warehouse: Warehouse, edition: str, kind: str, agents: Sequence[str], size: int, seed: int
) -> Sheet:
    """Draw a sheet and keep what it hides; the same request again gives the same sheet.

    Raises:
        UnknownName: edition or agent.
        AnnotationError: unknown kind, or nothing to ask.
    """
    if kind not in KINDS:
        raise AnnotationError(f"Unknown kind {kind!r}; there are: {', '.join(KINDS)}.")
    check_edition(warehouse, edition)
    found = _of_agents(KINDS[kind].find(warehouse, edition), edition, agents)
    if not found:
        raise AnnotationError(
            f"{edition} holds nothing to ask of kind {kind!r} for these agents. Claims and "
            "citations are there after `evergreen evaluate`; a pair of reports needs two agents."
        )
    sheet = make_sheet(KINDS[kind].form, edition, found, size, seed)
    warehouse.write(Change(AnnotationItem, sheet.items, only_new=True))
    return sheet


def write_sheet(sheet: Sheet, folder: Path) -> tuple[Path, Path]:
    """The sheet as CSV and as page; files that are there already and differ are left alone.

    Raises:
        AnnotationError: such a file is there, or the folder cannot be written.
    """
    files = {
        folder / f"{sheet.name}.csv": BYTE_ORDER_MARK + csv_of(rows_of(sheet)),
        folder / f"{sheet.name}.html": page_of(sheet),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            if path.exists() and path.read_bytes() != text.encode("utf-8"):
                raise AnnotationError(
                    f"{path} is there already and is not as this sheet begins: somebody may have "
                    "filled it in. Choose another folder with --to, or move it away."
                )
        for path, text in files.items():
            path.write_text(text, "utf-8", newline="")
    except OSError as error:
        raise AnnotationError(
            f"{folder}: cannot be written ({error.strerror or error}); choose another with --to."
        ) from None
    table, page = files
    return table, page


def import_labels(warehouse: Warehouse, path: Path, annotator: str) -> ImportedLabels:
    """Read a filled sheet, check it and keep its labels; a second time changes nothing.

    Raises:
        AnnotationError: naming file, row, column and what was expected; then nothing is kept.
    """
    name = annotator.strip()
    if not name or name.casefold() == MAJORITY:
        raise AnnotationError(f"{annotator!r} cannot be an annotator's name; choose another.")
    records = read_table(path, NEEDED)
    items = _sheet_of(warehouse, path, records)
    kind = next(iter(items.values())).kind
    said = answers(path, records, items, list(KINDS[kind].form.labels))
    _check_contents(warehouse, path, said)
    return _keep(warehouse, items, name, said)


def outdated(source: Readable, items: Iterable[AnnotationItem]) -> set[tuple[str, str]]:
    """(sheet, item id) of items whose texts have changed, or gone, since they were asked."""
    asked = list(items)
    now = {
        (edition, kind, *_place(subject, decision.step, decision.item)): subject.content_sha(
            decision
        )
        for edition, kind in {(item.edition, item.kind) for item in asked}
        for subject in KINDS[kind].find(source, edition)
        for decision in subject.decisions
    }
    return {
        (i.sheet, i.item_id)
        for i in asked
        if now.get((i.edition, i.kind, i.assignment, i.agent, i.step, i.item)) != i.content_sha
    }


def check_edition(source: Readable, edition: str) -> None:
    """Raise UnknownName, listing the editions there are."""
    known = known_editions(source)
    if edition not in known:
        raise UnknownName(
            f"There is no edition {edition!r}; there are: {', '.join(known) or 'none yet'}."
        )


def _of_agents(found: list[Subject], edition: str, agents: Sequence[str]) -> list[Subject]:
    known = sorted(frozenset[str]().union(*(subject.agents for subject in found)))
    for agent in agents:
        if agent not in known:
            raise UnknownName(
                f"{edition} has nothing of this kind by {agent!r}, only by: {', '.join(known)}. "
                "Claims and citations are there after `evergreen evaluate`."
            )
    return [subject for subject in found if not agents or subject.agents <= set(agents)]


def _sheet_of(
    warehouse: Warehouse, path: Path, records: Sequence[Record]
) -> dict[str, AnnotationItem]:
    """All items, by id, of the sheet that the file's first known row belongs to."""
    ids = [record.cells["item_id"].strip() for record in records]
    sheets = dict(
        warehouse.frame(
            "SELECT item_id, sheet FROM annotation_items WHERE item_id IN (SELECT unnest($1))",
            [ids],
        ).iter_rows()
    )
    sheet = next((sheets[item_id] for item_id in ids if item_id in sheets), None)
    if sheet is None:
        raise AnnotationError(
            f"{path}, column item_id: none of its {len(ids)} rows is an item of a sheet made from "
            f"{warehouse.location}; import it where the sheet was made."
        )
    return {item.item_id: item for item in warehouse.rows(AnnotationItem, "sheet = $1", [sheet])}


def _check_contents(warehouse: Warehouse, path: Path, said: Sequence[Answered]) -> None:
    gone = outdated(warehouse, [answered.item for answered in said])
    problems = [
        f"item {a.item.item_id} (number {a.item.number}), column asked: the texts it is about "
        "have changed in the warehouse since the sheet was made; clear its label to import the "
        "others, or make a new sheet"
        for a in said
        if (a.item.sheet, a.item.item_id) in gone
    ]
    check_none(path, problems)


def _keep(
    warehouse: Warehouse,
    items: dict[str, AnnotationItem],
    annotator: str,
    said: Sequence[Answered],
) -> ImportedLabels:
    sheet = next(iter(items.values())).sheet
    where = "sheet = $1 AND annotator = $2"
    known = {
        row.item_id: (row.label, row.reason)
        for row in warehouse.rows(HumanLabel, where, [sheet, annotator])
    }
    fresh = [a for a in said if known.get(a.item.item_id) != (a.label, a.reason)]
    rows = [
        HumanLabel(
            sheet=sheet,
            item_id=a.item.item_id,
            annotator=annotator,
            label=a.label,
            reason=a.reason,
        )
        for a in fresh
    ]
    warehouse.write(Change(HumanLabel, rows))
    changed = sum(row.item_id in known for row in rows)
    return ImportedLabels(sheet, len(items), len(said), len(rows) - changed, changed)


def _place(subject: Subject, step: str, item: str) -> tuple[str, str, str, str]:
    return (subject.assignment, subject.agent, step, item)

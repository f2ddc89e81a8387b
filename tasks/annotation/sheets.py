"""Making sheets from the warehouse, and importing people's labels into it.

A sheet is a single page to fill in: no network, nothing to install. It downloads a filled CSV.
Texts and titles are untrusted. The template escapes everything, Markdown is rendered without HTML,
links and images, and the page's Content-Security-Policy allows only the script and the style whose
hashes it names.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from tasks.annotation.kinds import FINDERS, KINDS
from tasks.annotation.sheet import Sheet, SheetSubject, make_sheet
from tasks.annotation.table import (
    COLUMNS,
    NEEDED,
    AnnotationError,
    FilledAnswer,
    SheetRow,
    make_rows,
    parse_answers,
    raise_problems,
    read_table,
)
from tasks.editions.names import UnknownName, check_edition
from tasks.errors import suggest_names
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.labels import AnnotationItem, HumanLabel
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.writer import Change

MAJORITY = "majority"
"""The majority's name in the tables, which no annotator can have."""
_TEMPLATES = files("tasks.annotation") / "templates"
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .disable(["link", "image", "autolink", "html_inline", "html_block", "reference"])
)


@dataclass(frozen=True)
class ImportedLabels:
    """The number of imported labels."""

    sheet: str
    items: int
    """Items of the sheet."""
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
    """Draw a sheet and store its hidden names; the same request gives the same sheet again.

    Raises:
        UnknownName: the edition or an agent is unknown.
        AnnotationError: the kind is unknown, or there are no subjects.
    """
    if kind not in KINDS:
        raise AnnotationError(f"There is no kind {kind!r}. {suggest_names(kind, KINDS)}")
    check_edition(warehouse, edition)
    found = _select_agents(FINDERS[kind](warehouse, edition), edition, agents)
    if not found:
        raise AnnotationError(
            f"{edition} has no subjects of kind {kind!r} for these agents. Claims and citations "
            "exist after `evergreen evaluate`; a pair of reports needs two agents."
        )
    sheet = make_sheet(KINDS[kind], edition, found, size, seed)
    warehouse.write(Change(AnnotationItem, sheet.items, only_new=True))
    return sheet


def write_sheet(sheet: Sheet, folder: Path) -> Path:
    """Write the sheet as a page, without overwriting a file that differs.

    Raises:
        AnnotationError: such a file exists, or the folder cannot be written.
    """
    path = folder / f"{sheet.name}.html"
    text = KeyGuard().mask(render_page(sheet), path.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_bytes() != text.encode("utf-8"):
            raise AnnotationError(
                f"{path} exists and differs from the empty sheet: somebody may have filled it "
                "in. Choose another folder with --to, or move the file."
            )
        path.write_text(text, "utf-8", newline="")
    except OSError as error:
        raise AnnotationError(
            f"{folder}: cannot be written ({error.strerror or error}); choose another with --to."
        ) from None
    return path


def import_labels(warehouse: Warehouse, path: Path, annotator: str) -> ImportedLabels:
    """Read a filled-in sheet, check it and store its labels; a second time changes nothing.

    Raises:
        AnnotationError: the file has problems; nothing is stored.
    """
    name = annotator.strip()
    if not name or name.casefold() == MAJORITY:
        raise AnnotationError(f"{annotator!r} cannot be an annotator's name; choose another.")
    records = read_table(path, NEEDED)
    items = _load_sheet(warehouse, path, records)
    kind = next(iter(items.values())).kind
    answers = parse_answers(path, records, items, list(KINDS[kind].labels))
    _check_contents(warehouse, path, answers)
    return _store_labels(warehouse, items, name, answers)


def find_outdated(source: Readable, items: Iterable[AnnotationItem]) -> set[tuple[str, str]]:
    """Return (sheet, item id) of items whose texts have changed or gone meanwhile."""
    asked = list(items)
    now = {
        (
            edition,
            kind,
            subject.assignment,
            subject.agent,
            decision.step,
            decision.item,
        ): subject.content_sha(decision)
        for edition, kind in {(item.edition, item.kind) for item in asked}
        for subject in FINDERS[kind](source, edition)
        for decision in subject.decisions
    }
    return {
        (i.sheet, i.item_id)
        for i in asked
        if now.get((i.edition, i.kind, i.assignment, i.agent, i.step, i.item)) != i.content_sha
    }


def _select_agents(
    found: list[SheetSubject], edition: str, agents: Sequence[str]
) -> list[SheetSubject]:
    known = sorted(frozenset[str]().union(*(subject.agents for subject in found)))
    for agent in agents:
        if agent not in known:
            raise UnknownName(
                f"{edition} has nothing of this kind by {agent!r}. {suggest_names(agent, known)} "
                "Claims and citations exist after `evergreen evaluate`."
            )
    return [subject for subject in found if not agents or subject.agents <= set(agents)]


def _load_sheet(
    warehouse: Warehouse, path: Path, records: Sequence[SheetRow]
) -> dict[str, AnnotationItem]:
    """Load all items, by id, of the sheet that the file's first known row belongs to."""
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
            f"{warehouse.location}; import the file into the warehouse that made the sheet."
        )
    return {item.item_id: item for item in warehouse.rows(AnnotationItem, "sheet = $1", [sheet])}


def _check_contents(warehouse: Warehouse, path: Path, answers: Sequence[FilledAnswer]) -> None:
    gone = find_outdated(warehouse, [answered.item for answered in answers])
    problems = [
        f"item {a.item.item_id} (number {a.item.number}), column asked: its texts have changed in "
        "the warehouse since the sheet was made; clear its label to import the others, or make a "
        "new sheet"
        for a in answers
        if (a.item.sheet, a.item.item_id) in gone
    ]
    raise_problems(path, problems)


def _store_labels(
    warehouse: Warehouse,
    items: dict[str, AnnotationItem],
    annotator: str,
    answers: Sequence[FilledAnswer],
) -> ImportedLabels:
    sheet = next(iter(items.values())).sheet
    where = "sheet = $1 AND annotator = $2"
    known = {
        row.item_id: (row.label, row.reason)
        for row in warehouse.rows(HumanLabel, where, [sheet, annotator])
    }
    fresh = [a for a in answers if known.get(a.item.item_id) != (a.label, a.reason)]
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
    return ImportedLabels(sheet, len(items), len(answers), len(rows) - changed, changed)


def render_page(sheet: Sheet) -> str:
    """Render the page; its download button writes the sheet's CSV with labels and reasons."""
    style, script = _read_template("sheet.css"), _read_template("sheet.js")
    return (
        _environment()
        .get_template("sheet.html.jinja")
        .render(
            sheet=sheet,
            rows=make_rows(sheet),
            columns=COLUMNS,
            n_items=len(sheet.items),
            style=Markup(style),
            script=Markup(script),
            policy=(
                f"default-src 'none'; style-src '{_csp_hash(style)}'; "
                f"script-src '{_csp_hash(script)}'; base-uri 'none'; form-action 'none'"
            ),
        )
    )


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tasks.annotation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markdown"] = lambda text: Markup(_MARKDOWN.render(text))
    return environment


def _read_template(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _csp_hash(code: str) -> str:
    """Return the Content-Security-Policy source of an inline script or style."""
    return "sha256-" + base64.b64encode(sha256(code.encode("utf-8")).digest()).decode("ascii")

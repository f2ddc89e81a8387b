"""A warehouse with reports, verdicts, scores and costs to compare people with."""

import csv
import io
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from tasks.annotation.sheet import Sheet
from tasks.annotation.table import COLUMNS, make_rows
from tasks.imports.wlc import import_edition
from tasks.warehouse.labels import AnnotationItem
from tasks.warehouse.results import Score, Verdict
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.conftest import PREFECT_HOME
from tests.sample_edition import PART
from tests.tasks.made_rows import a_row

SAMPLE = PART
AGENT, OTHER = "sample_blogger", "sample_scholar"
ARTICLE = "Mercury_(planet)"


def sample_warehouse(folder: Path) -> Path:
    """A warehouse of one's own in `folder`, with the sample edition imported."""
    return Path(shutil.copy(_imported_once(), folder / "warehouse.duckdb"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """With the sample edition imported."""
    with open_warehouse(sample_warehouse(tmp_path)) as opened:
        yield opened


@cache
def _imported_once() -> Path:
    path = Path(tempfile.mkdtemp(prefix="annotated-", dir=PREFECT_HOME)) / "warehouse.duckdb"
    with open_warehouse(path) as warehouse:
        import_edition(warehouse, SAMPLE, "sample")
    return path


def judged(
    warehouse: Warehouse,
    judge: str,
    labels: Mapping[tuple[str, str], str],
    protocol: str = "wiki_writing",
    status: Status = Status.OK,
    call_id: str | None = None,
    assignment: str = ARTICLE,
) -> None:
    """Verdicts of one judge on one report by (step, item), and the scores that name them."""
    cell = f"{judge} {protocol} {AGENT} {assignment}"
    verdicts = [
        a_row(
            Verdict, cell_id=cell, edition="sample", protocol=protocol, step=step, agent=AGENT,
            assignment=assignment, item=item, judge=judge, label=label, status=status,
            call_id=call_id,
        )
        for (step, item), label in labels.items()
    ]  # fmt: skip
    warehouse.write(
        Change(Verdict, verdicts),
        Change(Score, [score(judge, protocol, AGENT, "writing_overall", 0.5, cell, assignment)]),
    )


def score(
    judge: str,
    protocol: str,
    agent: str,
    metric: str,
    value: float | None,
    cell: str | None = None,
    assignment: str = ARTICLE,
) -> Score:
    return Score(
        edition="sample", protocol=protocol, agent=agent, assignment=assignment, judge=judge,
        metric=metric, value=value, state="done", cell_id=cell, scorer_version="1",
    )  # fmt: skip


def fill(sheet: Sheet, path: Path, choose: Mapping[str, str] | str) -> Path:
    """The sheet filled in: one label for all, or labels by what they un-blind to per item id."""
    rows = []
    for row, item in zip(make_rows(sheet), sheet.items, strict=True):
        wanted = choose if isinstance(choose, str) else choose.get(item.item_id, "")
        cells = dict(zip(COLUMNS, row, strict=True)) | {"label": blinded(item, wanted)}
        rows.append(list(cells.values()))
    path.write_text(render_csv(rows), "utf-8", newline="")
    return path


def render_csv(rows: Sequence[Sequence[str]]) -> str:
    """Header and rows as a page downloads them, and as sheets were written before."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([COLUMNS, *rows])
    return out.getvalue()


def blinded(item: AnnotationItem, label: str) -> str:
    """What a person who sees through it would tick to say `label`."""
    sides = {item.left_side: "first", item.right_side: "second"} if item.left_side else {}
    return sides.get(label, label)

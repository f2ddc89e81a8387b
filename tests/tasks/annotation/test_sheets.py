"""Sheets out of the sample edition, and labels back into the warehouse."""

from pathlib import Path

import pytest

from tasks.annotation.kinds import KINDS
from tasks.annotation.labels import load_labels
from tasks.annotation.sheets import import_labels, make_annotation_sheet, write_sheet
from tasks.annotation.table import AnnotationError
from tasks.editions.names import UnknownName
from tasks.warehouse.labels import AnnotationItem, HumanLabel
from tasks.warehouse.rows import Report
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.annotated import AGENT, ARTICLE, OTHER, fill, warehouse

__all__ = ["warehouse"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_made_filled_and_imported(
    warehouse: Warehouse, tmp_path: Path, kind: str
) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", kind, [], 2, 0)
    assert len(sheet.panels) == 2
    label = next(iter(KINDS[kind].labels))
    found = import_labels(warehouse, fill(sheet, tmp_path / "f.csv", label), "ann")
    assert (found.new, found.changed, found.open) == (len(sheet.items), 0, 0)
    kept = {row.item_id: row.label for row in warehouse.rows(HumanLabel, "true")}
    assert kept == {i.item_id: i.left_side or label for i in sheet.items}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sheet_shows_no_citation_markers_and_no_agent(
    warehouse: Warehouse, tmp_path: Path, kind: str
) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", kind, [], 20, 0)
    text = write_sheet(sheet, tmp_path).read_text("utf-8")
    assert "[1]" not in text
    assert "## References" not in text
    assert "sample_" not in text
    for panel in sheet.panels:  # a blank before a full stop would tell where a marker was
        assert not [text for text in panel.texts if " ." in text.text or " ," in text.text]


def test_the_same_request_again_gives_the_same_page_and_rows(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    made = []
    for _ in range(2):
        sheet = make_annotation_sheet(warehouse, "sample", "claims", [OTHER], 5, 9)
        page = write_sheet(sheet, tmp_path)
        made.append((page.read_bytes(), warehouse.rows(AnnotationItem, "true")))
    assert made[0] == made[1]
    assert {item.agent for item in made[0][1]} == {OTHER}


def test_a_file_that_somebody_has_filled_in_is_not_overwritten(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "claims", [], 2, 0)
    page = write_sheet(sheet, tmp_path)
    page.write_text("saved by a browser")
    with pytest.raises(AnnotationError, match="somebody may have filled it in"):
        write_sheet(sheet, tmp_path)
    assert page.read_text() == "saved by a browser"


def test_importing_the_same_file_twice_changes_nothing(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "claims", [], 3, 0)
    path = fill(sheet, tmp_path / "f.csv", "consistent")
    import_labels(warehouse, path, "ann")
    before = warehouse.rows(HumanLabel, "true")
    again = import_labels(warehouse, path, " ann ")
    assert (again.new, again.changed, again.labelled) == (0, 0, 3)
    assert warehouse.rows(HumanLabel, "true") == before


def test_a_corrected_file_changes_what_it_corrects(warehouse: Warehouse, tmp_path: Path) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "claims", [], 3, 0)
    import_labels(warehouse, fill(sheet, tmp_path / "f.csv", "consistent"), "ann")
    one = {sheet.items[0].item_id: "not_support"}
    found = import_labels(warehouse, fill(sheet, tmp_path / "f.csv", one), "ann")
    assert (found.new, found.changed, found.open) == (0, 1, 2)
    assert len(warehouse.rows(HumanLabel, "true")) == 3


def test_labels_about_a_report_that_has_changed_are_refused_and_stop_counting(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "criteria", [AGENT], 3, 0)
    path = fill(sheet, tmp_path / "f.csv", "tie")
    import_labels(warehouse, path, "ann")
    (report,) = warehouse.rows(Report, "agent = $1 AND assignment = $2", [AGENT, ARTICLE])
    changed = report.model_copy(update={"text": "New.", "text_sha": "new"})
    warehouse.write(Change(Report, [changed]))
    with pytest.raises(AnnotationError, match="have changed in the warehouse since"):
        import_labels(warehouse, path, "bob")
    people = load_labels(warehouse, "sample")
    assert people.n_outdated == 39
    assert len(people.labels["ann"]) == 78


def test_a_sheet_of_another_warehouse_is_told(warehouse: Warehouse, tmp_path: Path) -> None:
    sheet = make_annotation_sheet(warehouse, "sample", "claims", [], 3, 0)
    path = fill(sheet, tmp_path / "f.csv", "consistent")
    with (
        open_warehouse(tmp_path / "other.duckdb") as other,
        pytest.raises(AnnotationError, match="none of its 3 rows is an item of a sheet made from"),
    ):
        import_labels(other, path, "ann")


def test_names_nobody_knows_are_told(warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no edition 'x'\. Known: sample"):
        make_annotation_sheet(warehouse, "x", "claims", [], 3, 0)
    with pytest.raises(UnknownName, match=r"nothing of this kind by 'x'\. Known: sample_blogger"):
        make_annotation_sheet(warehouse, "sample", "reports", ["x"], 3, 0)
    with pytest.raises(AnnotationError, match=r"no kind 'x'\. Known: citations, claims"):
        make_annotation_sheet(warehouse, "sample", "x", [], 3, 0)
    with pytest.raises(AnnotationError, match="has no subjects of kind"):
        make_annotation_sheet(warehouse, "sample", "reports", [AGENT], 3, 0)
    with pytest.raises(AnnotationError, match="'Majority' cannot be an annotator's name"):
        import_labels(warehouse, tmp_path / "f.csv", "Majority")
